"""What waits to be added up is bounded, however slices are nested."""

import gc
import itertools
from typing import Any

import pytest
import torch
from backslice.torch import counting, lazy, sums
from compare import leaf, same_both_ways


@pytest.fixture
def most_waiting(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The most bytes that any sum held, without memory that becomes its result's, and the most that existed."""
    most = [0, 0]
    joins = itertools.count()
    monkeypatch.setattr(lazy, "MAX_BYTES", 1)
    make = sums.join

    def join(first: Any, second: Any) -> Any:
        found = make(first, second)
        most[0] = max(most[0], found.bytes)
        if next(joins) % 23:  # looking at all objects takes long
            return found
        held = {
            node.dy.untyped_storage()._cdata: node.dy.untyped_storage().nbytes()
            for node in gc.get_objects()
            if type(node) is sums.Leaf and node.dy is not None
        }
        most[1] = max(most[1], sum(held.values()))
        return found

    monkeypatch.setattr(sums, "join", join)
    return most


def windows_of_windows(x: Any) -> Any:
    total = 0
    for start in range(40):
        window = x[start : start + 160]
        total = total + sum((window[:, t] * (t + start)).sum() for t in range(8))
    return total


def unfolded(x: Any) -> Any:
    return sum((x.unfold(0, 50, 1) * (k + 1)).sum() for k in range(6))


def recursion(x: Any, slice_first: bool = True) -> Any:
    total, h = 0, x
    for k in range(60):
        if slice_first:
            inner = h[1:]
            total = total + (h[2:] * (k + 1)).sum()
        else:
            total = total + (h[2:] * (k + 1)).sum()
            inner = h[1:]
        h = inner
    return total


PROGRAMS = {
    "windows of windows": windows_of_windows,
    "overlapping windows": unfolded,
    "recursion, inner slices first": recursion,
    "recursion, inner slices last": lambda x: recursion(x, False),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_waits_is_bounded(program: str, most_waiting: list[int]) -> None:
    def run() -> Any:
        x = leaf(200, 8)
        PROGRAMS[program](x).backward()
        return x.grad

    same_both_ways(run)
    size = 200 * 8 * 8
    assert 0 < most_waiting[0] <= 5 * size  # two sums, each of twice the result at most, and a slice
    assert most_waiting[1] <= 6 * size
    assert counting.events["folds"] > 0


def test_sums_of_slices_count_as_what_waits() -> None:
    made = sums.whole(torch.zeros(10))
    assert (made.bytes, made.made) == (0, 40)
    assert sums.placed(sums.identity(1), made).bytes == 40
    small = sums.leaf(torch.zeros(5))
    assert (sums.join(made, small).bytes, sums.join(made, small).made) == (20, 40)
    assert (sums.join(small, made).bytes, sums.join(small, made).made) == (60, 0)
