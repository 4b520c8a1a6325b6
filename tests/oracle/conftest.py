import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import beside
from backslice.onnxruntime import library_path
from peer import Peer

# Tests named after these folders run them inside the frameworks.
collect_ignore = ["in_jax", "in_jax_cuda", "in_onnxruntime", "in_tensorflow", "in_torch", "in_torch_cuda"]


@pytest.fixture(scope="session")
def tensorflow() -> Iterator[Peer]:
    yield from running("tensorflow", "tensorflow_peer.py")


@pytest.fixture(scope="session")
def tensorflow_with_backslice() -> Iterator[Peer]:
    """TensorFlow after backslice.tensorflow.install()."""
    yield from running("tensorflow", "tensorflow_peer.py", beside.environment(BACKSLICE_INSTALL="1"))


@pytest.fixture(scope="session")
def onnxruntime() -> Iterator[Peer]:
    yield from running("onnxruntime", "onnxruntime_peer.py")


@pytest.fixture(scope="session")
def onnxruntime_training() -> Iterator[Peer]:
    yield from running("onnxruntime-training", "onnxruntime_peer.py")


@pytest.fixture(scope="session", params=["onnxruntime", "onnxruntime-oldest", "onnxruntime-training"])
def onnxruntime_with_backslice(request: pytest.FixtureRequest) -> Iterator[Peer]:
    """The newest ONNX Runtime, the oldest supported one, and the one for training, with backslice's operators."""
    yield from running(request.param, "onnxruntime_peer.py", {"BACKSLICE_OPERATORS": library_path()})


def running(venv: str, script: str, environment: dict[str, str] | None = None) -> Iterator[Peer]:
    peer = Peer(venv, script, environment or {})
    yield peer
    peer.stop()
