"""Self-tests run once, stop at the first failure, and warn once with its name."""

import threading
import warnings

import pytest
from backslice.self_test import SelfTest


def fail() -> None:
    raise ValueError("3 is not 4")


def test_checks_run_once_and_in_order() -> None:
    ran: list[str] = []
    tests = SelfTest("an.adapter", "it stays off", {name: lambda name=name: ran.append(name) for name in ("a", "b")})
    assert tests.status() == {"a": "not run", "b": "not run"}
    assert tests.passed() and tests.passed()
    assert ran == ["a", "b"] and tests.status() == {"a": "passed", "b": "passed"}


def test_the_first_failure_ends_them_with_one_warning() -> None:
    tests = SelfTest("an.adapter", "it stays off", {"a": lambda: None, "b": fail, "c": fail})
    with pytest.warns(RuntimeWarning) as caught:
        assert not tests.passed()
    message = "an.adapter: the self-test 'b' failed, so it stays off (ValueError: 3 is not 4)"
    assert [str(warning.message) for warning in caught] == [message]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not tests.passed()
    assert tests.status() == {"a": "passed", "b": "failed: ValueError: 3 is not 4", "c": "not run"}


def test_threads_share_one_run() -> None:
    ran, results = [], []
    tests = SelfTest("an.adapter", "it stays off", {"a": lambda: ran.append(1)})
    threads = [threading.Thread(target=lambda: results.append(tests.passed())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ran) == 1 and results == [True] * 8
