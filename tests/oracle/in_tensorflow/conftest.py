"""These files run inside TensorFlow's environment: ../test_in_tensorflow.py starts them."""

from collections.abc import Iterator

import backslice.tensorflow as bst
import pytest


@pytest.fixture
def installed() -> Iterator[None]:
    with bst.enabled():
        yield


@pytest.fixture(autouse=True)
def nothing_stays_installed() -> Iterator[None]:
    yield
    bst.uninstall()
