import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tensorflow_packages
from peer import Peer

collect_ignore = ["in_tensorflow", "in_torch"]  # test_in_*.py run them where the frameworks are


@pytest.fixture(scope="session")
def tensorflow() -> Iterator[Peer]:
    yield from running("tensorflow", "tensorflow_peer.py")


@pytest.fixture(scope="session")
def tensorflow_with_backslice() -> Iterator[Peer]:
    """TensorFlow after backslice.tensorflow.install()."""
    yield from running("tensorflow", "tensorflow_peer.py", tensorflow_packages.environment(BACKSLICE_INSTALL="1"))


@pytest.fixture(scope="session")
def onnxruntime() -> Iterator[Peer]:
    yield from running("onnxruntime", "onnxruntime_peer.py")


@pytest.fixture(scope="session")
def onnxruntime_training() -> Iterator[Peer]:
    yield from running("onnxruntime-training", "onnxruntime_peer.py")


def running(venv: str, script: str, environment: dict[str, str] | None = None) -> Iterator[Peer]:
    peer = Peer(venv, script, environment or {})
    yield peer
    peer.stop()
