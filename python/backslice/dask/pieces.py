"""The pieces of dy that a chunk of dx needs.

A slice selects a product of per-axis sets, and chunks are products of per-axis intervals. So two chunks meet if they
meet along every axis, and the meetings along each axis determine everything.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

from .._core import Selection
from . import meetings
from .meetings import Bounds, Meeting, View

Chunks = tuple[tuple[int, ...], ...]
Block = tuple[int, ...]  # the number of a chunk along each axis
Index = tuple[int | slice | None, ...]


class Place(NamedTuple):
    """The position of a piece in a chunk of dy, and its destination."""

    target: Index  # in the chunk of dx
    source: Index  # in the chunk of dy
    dy_shape: tuple[int, ...]  # shape of the chunk of dy
    box: tuple[slice, ...]  # part of the chunk of dx, which the boxes of a slice's places divide
    target_in_box: Index


Places = tuple[Place, ...]


def grid(chunks: Chunks) -> list[Bounds]:
    """Return the bounds of chunks along every axis."""
    return [*map(meetings.bounds, chunks)]


class Slice:
    """A selection between two grids of chunks. It finds the pieces of dy for each chunk of dx."""

    def __init__(self, selection: Selection, dx: Sequence[Bounds], dy: Sequence[Bounds]) -> None:
        dy_axis_of = {axis: k for k, axis in enumerate(selection.result_axes) if axis >= 0}
        self.axes = [
            meetings.walk(taken, dx[axis], dy[dy_axis_of[axis]])
            if axis in dy_axis_of
            else meetings.dropped(taken[0], dx[axis])
            for axis, taken in enumerate(selection.axes)
        ]
        self._dy_axes = selection.result_axes
        self._new = {k: meetings.new(dy[k]) for k, axis in enumerate(self._dy_axes) if axis < 0}
        self._items = _items(selection)
        self._keeps_axes = len(self.axes) > 0 and list(self._dy_axes) == self._items == list(range(len(self.axes)))
        self._views = [*map(meetings.views, self.axes, dx)] if self._keeps_axes else []
        self._dy_chunks = [{i: tuple(m.dy_chunk for m in met) for i, met in axis.items()} for axis in self.axes]
        self._places: dict[tuple[int, ...], Places] = {}

    @property
    def meeting_pairs(self) -> int:
        """Return how many pairs of chunks meet."""
        return math.prod(sum(map(len, axis.values())) for axis in self.axes)

    def blocks(self) -> Iterator[Block]:
        """Return the chunks of dx that meet any chunk of dy."""
        return product(*self.axes)

    def meets(self, block: Block) -> bool:
        """Return whether a chunk of dx meets any chunk of dy."""
        return all(i in axis for axis, i in zip(self.axes, block, strict=True))

    def dy_blocks(self, block: Block) -> Iterator[Block]:
        """Return the chunks of dy that a chunk of dx meets. It needs one piece of each."""
        met = product(*(axis.get(i, ()) for axis, i in zip(self._dy_chunks, block, strict=True)))
        if self._keeps_axes:
            return met
        return (
            tuple(numbers[axis] if axis >= 0 else self._new[k].dy_chunk for k, axis in enumerate(self._dy_axes))
            for numbers in met
        )

    def places(self, block: Block) -> Places:
        """Return the places of those pieces, in the same order. Chunks that are divided alike share them."""
        cut = tuple(axis.get(i, -1) for axis, i in zip(self._cuts, block, strict=True))
        found = self._places.get(cut)
        if found is None:
            met = product(*(axis.get(i, ()) for axis, i in zip(self.axes, block, strict=True)))
            found = self._places[cut] = tuple(map(self._place, met))
        return found

    @cached_property
    def _cuts(self) -> list[dict[int, int]]:
        return [*map(meetings.cuts, self.axes)]

    def _place(self, met: tuple[Meeting, ...]) -> Place:
        sides = [met[axis] if axis >= 0 else self._new[k] for k, axis in enumerate(self._dy_axes)]
        return Place(
            target=tuple(None if axis is None else met[axis].target for axis in self._items),
            source=tuple(side.source for side in sides),
            dy_shape=tuple(side.dy_size for side in sides),
            box=tuple(meeting.box for meeting in met),
            target_in_box=tuple(None if axis is None else met[axis].target_in_box for axis in self._items),
        )

    def view(self, block: Block) -> tuple[View, ...] | None:
        """Return the part of one chunk of dy that makes up a chunk of dx, per axis. None if the chunk has other
        elements, too."""
        found = [axis[i] for axis, i in zip(self._views, block, strict=False) if i in axis]
        return tuple(found) if found and len(found) == len(block) else None


def _items(selection: Selection) -> list[int | None]:
    """Return the axis of dx for each item of the selection's index; None for a new axis."""
    axes = iter(range(len(selection.shape)))
    return [None if item is None else next(axes) for item in selection.to_index()]
