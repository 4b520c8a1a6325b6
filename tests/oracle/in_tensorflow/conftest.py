"""These files run inside TensorFlow's environment: ../test_in_tensorflow.py starts them."""

from collections.abc import Iterator

import backslice.tensorflow as bst
import pytest


@pytest.fixture(params=["fast", "plain"])
def installed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Both implementations of the kernels must pass."""
    with bst.enabled():
        if request.param == "plain":
            bst.uninstall()
        yield


@pytest.fixture(autouse=True)
def nothing_stays_enabled() -> Iterator[None]:
    yield
    bst.uninstall()
