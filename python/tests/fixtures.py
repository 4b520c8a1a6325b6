"""Settings and fixtures of all tests in Python."""

import signal

import pytest
from hypothesis import settings

# How long a case takes depends on the machine, and on what else runs there.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

# A shell starts what it runs in the background with SIGINT ignored, and so would be the children of these tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
