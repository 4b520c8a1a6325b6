import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from peer import Peer


@pytest.fixture(scope="session")
def tensorflow() -> Iterator[Peer]:
    yield from running("tensorflow", "tensorflow_peer.py")


@pytest.fixture(scope="session")
def onnxruntime() -> Iterator[Peer]:
    yield from running("onnxruntime", "onnxruntime_peer.py")


@pytest.fixture(scope="session")
def onnxruntime_training() -> Iterator[Peer]:
    yield from running("onnxruntime-training", "onnxruntime_peer.py")


def running(venv: str, script: str) -> Iterator[Peer]:
    peer = Peer(venv, script)
    yield peer
    peer.stop()
