"""These files run inside PyTorch's environment: ../test_in_torch.py starts them."""

from collections.abc import Iterator

import backslice.torch as bt
import pytest
import torch
from backslice.torch import counting, kernels

torch.set_num_threads(2)


@pytest.fixture(autouse=True)
def small_gradients_too(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that small tensors go the way of large ones."""
    if "as_shipped" not in request.fixturenames:
        monkeypatch.setattr(kernels, "SHIPPED", {key: (0, 0) for key in kernels.KEYS})


@pytest.fixture
def as_shipped() -> None:
    """The sizes from which on the kernels pay stay as they are."""


@pytest.fixture
def installed(small_gradients_too: None) -> Iterator[None]:
    with bt.enabled():
        yield


@pytest.fixture(autouse=True)
def nothing_stays_installed() -> Iterator[None]:
    counting.reset()
    yield
    bt.uninstall()
