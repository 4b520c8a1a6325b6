"""Settings and fixtures for all tests in Python."""

import signal

import pytest
from hypothesis import settings

# The time of a case depends on the machine and its load.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

# A shell starts background jobs with SIGINT ignored, and the children of these tests would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
