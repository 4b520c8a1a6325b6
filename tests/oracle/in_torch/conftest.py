"""These files run inside PyTorch's environment: ../test_in_torch.py starts them."""

import os
from collections.abc import Iterator

import backslice.torch as bt
import pytest
import torch
from backslice.torch import counting, devices, kernels, lazy

torch.set_num_threads(2)
AS_ON_A_DEVICE = bool(os.environ.get("BACKSLICE_TORCH_AS_ON_A_DEVICE"))


@pytest.fixture(autouse=True)
def as_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the environment says so, tensors of the CPU go the way of those of CUDA devices, all but the streams."""
    if AS_ON_A_DEVICE:
        monkeypatch.setattr(devices, "takes", lambda device: device.type == "cpu")
        monkeypatch.setattr(devices, "why_not", lambda device: None)
        for module in (kernels, lazy):
            monkeypatch.setattr(module, "most_bytes", lambda device: lazy.MAX_BYTES)


@pytest.fixture(autouse=True)
def small_gradients_too(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that small tensors go the way of large ones."""
    if "as_shipped" not in request.fixturenames:
        monkeypatch.setattr(kernels, "SMALL", 1)
        monkeypatch.setattr(kernels, "MEDIUM", 1)


@pytest.fixture
def as_shipped() -> None:
    """The sizes from which on the kernels pay stay as they are."""


@pytest.fixture
def few_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy, "MAX_TERMS", 3)


@pytest.fixture
def installed(small_gradients_too: None) -> Iterator[None]:
    with bt.enabled():
        yield


@pytest.fixture(autouse=True)
def nothing_stays_installed() -> Iterator[None]:
    counting.reset()
    yield
    bt.uninstall()
