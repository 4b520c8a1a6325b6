"""What adds a slice's gradient to the memory of a sum, given arguments that never come from PyTorch."""

import threading
import weakref
from types import SimpleNamespace
from typing import Any

import backslice as bs
import pytest
import torch
from backslice.torch import devices, growing, kernels

SHAPE = [4, 7, 3]


class Sum:
    """One that has memory, as the engine's may, of zeros."""

    def __init__(self) -> None:
        self.total, self._term = torch.zeros(SHAPE), torch.zeros(())
        self.lazy = SimpleNamespace(_sum=self._term, _is_open=True, _computing=threading.Lock())
        self.waiting = SimpleNamespace(
            made=weakref.ref(self._term), moment=None, ordinal=-1, to=devices.memory(self.total)
        )

    def refuses(self, kind: int, dy: Any, arguments: tuple[Any, ...]) -> bool:
        """It is not touched then, and its lock is free again."""
        adder = growing.adder("slice_backward", "CPU", kind, kernels._slice, kernels.Sizes(1, 1, 2**24))
        with pytest.raises((bs.Error, IndexError, OverflowError, TypeError)):
            adder.add_at_once(self.waiting, self.lazy, dy, SHAPE, arguments)
        return not (self.total.any() or self.lazy._computing.locked() or adder.added_at_once)


EXTREME = (-(2**63), 2**63 - 1, 2**64, 0, -1, True)
NO_SLICES = [(), (1,), ("a", 1), (9, 1, 2, 1), (-4, 1, 2, 1), (1, 0, 7, 0), (1, 0, 7, -1), *((n,) * 4 for n in EXTREME)]


@pytest.mark.parametrize("arguments", NO_SLICES, ids=str)
@pytest.mark.parametrize("kind", [growing.OF_SELECT, growing.OF_SLICE])
def test_arguments_that_are_no_slice_are_refused(kind: int, arguments: tuple[Any, ...]) -> None:
    assert Sum().refuses(kind, torch.ones(4, 2, 2), arguments)


class Closing:
    """An integer that takes the memory of a tensor away when it is read."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __index__(self) -> int:
        self.tensor.untyped_storage().resize_(0)
        return 1


def test_arguments_are_read_before_memory_is_looked_at() -> None:
    dy = torch.ones(4, 3)
    assert Sum().refuses(growing.OF_SELECT, dy, (1, Closing(dy)))
