"""Checks of backslice.torch that need a CUDA device. Run here: python -m pytest -c pytest.ini ."""

import sys
from collections.abc import Iterator
from pathlib import Path

import backslice.torch as bt
import pytest
import torch
from backslice.torch import counting, kernels

sys.path.append(str(Path(__file__).parents[1] / "in_torch"))

if not torch.cuda.is_available():
    pytest.exit("*** NO CUDA DEVICE: NOTHING WAS CHECKED ***", returncode=5)


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
    torch.cuda.synchronize()
