"""The effects of install() in a process in which TensorFlow's own kernels ran before. The tests run in this order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import backslice.tensorflow as bst
import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf

START = tf.constant([2], tf.int64)


def found(start: Any) -> Any:
    """How many entries a slice finds: 2, but in TensorFlow 0, since it adds start and size and lets the sum wrap."""
    indices, size = tf.constant([[0], [2], [3]], tf.int64), tf.constant([2**63 - 1], tf.int64)
    values = tf.cast(start, tf.float32) + tf.constant([1.0, 2.0, 3.0])
    return tf.size(tf.raw_ops.SparseSlice(indices=indices, values=values, shape=[4], start=start, size=size)[1])


def of_a_function(folder: Path) -> Callable[[], Any]:
    function = tf.function(found)
    return lambda: function(START)


def of_functions_in_functions(folder: Path) -> Callable[[], Any]:
    inner = tf.function(found)
    outer = tf.function(lambda start: inner(start) + inner(start) - inner(start))
    return lambda: outer(START)


def of_a_loop(folder: Path) -> Callable[[], Any]:
    @tf.function(autograph=False)
    def loop(start: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 3, lambda i, _: (i + 1, found(start)), [0, 0])[1]

    return lambda: loop(START)


def of_a_concrete_function(folder: Path) -> Callable[[], Any]:
    function = tf.function(found).get_concrete_function(tf.TensorSpec([1], tf.int64))
    return lambda: function(START)


def of_a_loaded_model(folder: Path) -> Callable[[], Any]:
    module = tf.Module()
    module.found = tf.function(found, input_signature=[tf.TensorSpec([1], tf.int64)])
    tf.saved_model.save(module, str(folder))
    loaded = tf.saved_model.load(str(folder))
    return lambda: loaded.found(START)


def of_a_keras_model(folder: Path) -> Callable[[], Any]:
    class Found(tf.keras.layers.Layer):  # type: ignore[misc]
        def call(self, start: Any) -> Any:
            return found(tf.cast(start[0], tf.int64))[None]

    model = tf.keras.Sequential([tf.keras.Input([1]), Found()])
    return lambda: model.predict(np.array([[2.0]]), verbose=0)[0]


MAKERS = [
    of_a_function, of_functions_in_functions, of_a_loop, of_a_concrete_function, of_a_loaded_model, of_a_keras_model,
]  # fmt: skip


def test_nothing_changes_before_install() -> None:
    assert {row.kernel for row in bst.status().rows} == {"TensorFlow"}
    assert set(bst.status().self_tests.values()) == {"not run"}
    with pytest.raises(tf.errors.OpError):
        tf.constant(np.zeros(4, ml_dtypes.int4))[1:3]


def test_the_variable_forbids_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKSLICE_TENSORFLOW", "0")
    bst.install()
    with bst.enabled():
        assert int(found(START)) == 0
    row = bst.status()["SparseSlice"]
    assert row.kernel == "TensorFlow" and row.reason == "BACKSLICE_TENSORFLOW is 0"


def test_what_ran_before_changes_over_with_its_next_call(tmp_path: Path) -> None:
    runs = {make.__name__: make(tmp_path) for make in MAKERS}
    items = iter(tf.data.Dataset.from_tensors(START).repeat().map(found))
    before = {name: int(run()) for name, run in runs.items()}
    assert set(before.values()) == {0} and int(found(START)) == 0 and int(next(items)) == 0
    bst.install()
    assert int(found(START)) == 2
    assert {name: int(run()) for name, run in runs.items()} == dict.fromkeys(runs, 2)
    assert int(next(items)) == 0  # iterators keep their kernels
    assert int(next(iter(tf.data.Dataset.from_tensors(START).map(found)))) == 2
    bst.uninstall()
    assert int(found(START)) == 2  # the plain implementation, too, does not wrap
    assert {name: int(run()) for name, run in runs.items()} == dict.fromkeys(runs, 2)


def test_status_tells_the_self_tests_and_counts_calls() -> None:
    bst.install()
    tests = bst.status().self_tests
    assert {tests[name] for name in ("registration", "fast kernels", "plain kernels")} == {"passed"}
    before = bst.status()["SparseSlice"]
    found(START)
    bst.uninstall()
    found(START)
    found(START)
    after = bst.status()["SparseSlice"]
    assert (after.calls - before.calls, after.plain_calls - before.plain_calls) == (1, 2)
    assert before.reason == "installed" and "plain" in after.reason
