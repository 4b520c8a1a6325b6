"""Which chunks of dy meet which chunks of dx: arithmetic alone, without Dask and without trying pairs.

A slice takes a product of per-axis sets, and chunks are products of per-axis intervals. So two chunks meet where
they meet along every axis, and it is enough to walk each axis once, from one meeting to the next.

>>> from backslice import Selection
>>> slice_ = Slice(Selection.from_index((10,), "1:9:2"), dx_chunks=((4, 6),), dy_chunks=((3, 1),))
>>> slice_.axes[0]  # dx chunk 0 has elements 1 and 3; chunk 1 has 5 and 7, from two chunks of dy
{0: [Meeting(dy_chunk=0, target=slice(1, 4, 2), source=slice(0, 2, 1))],
 1: [Meeting(dy_chunk=0, target=slice(1, 2, 2), source=slice(2, 3, 1)),
     Meeting(dy_chunk=1, target=slice(3, 4, 2), source=slice(0, 1, 1))]}
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, product
from typing import NamedTuple

from .._core import Selection

Chunks = tuple[tuple[int, ...], ...]
Block = tuple[int, ...]  # the number of a chunk along each axis
Item = int | slice | None
Index = tuple[Item, ...]
Places = tuple[tuple[Index, Index], ...]  # target in the chunk of dx, source in the chunk of dy


class Meeting(NamedTuple):
    """What one chunk of dx takes from one chunk of dy, along one axis."""

    dy_chunk: int
    target: int | slice  # in the chunk of dx; an int where the slice drops the axis
    source: slice  # in the chunk of dy


class View(NamedTuple):
    """A chunk of dx that is a part of a chunk of dy, along one axis."""

    dy_chunk: int
    source: slice
    whole: bool  # all of the chunk of dy


class Piece(NamedTuple):
    """A part of a chunk of dy, and where in a chunk of dx it goes."""

    dy_block: Block
    target: Index
    source: Index


def walk(
    axis: tuple[int, int, int], dx_chunks: tuple[int, ...], dy_chunks: tuple[int, ...]
) -> dict[int, list[Meeting]]:
    """The meetings along an axis that takes (start, step, count), per chunk of dx that has any."""
    start, step, count = axis
    dx_bounds, dy_bounds = [0, *accumulate(dx_chunks)], [0, *accumulate(dy_chunks)]
    met: dict[int, list[Meeting]] = {}
    taken = 0
    while taken < count:
        position = start + taken * step
        i, j = bisect_right(dx_bounds, position) - 1, bisect_right(dy_bounds, taken) - 1
        room = dx_bounds[i + 1] - 1 - position if step > 0 else position - dx_bounds[i]
        end = min(taken + room // abs(step) + 1, dy_bounds[j + 1], count)
        target = _run(position - dx_bounds[i], step, end - taken)
        source = slice(taken - dy_bounds[j], end - dy_bounds[j], 1)
        met.setdefault(i, []).append(Meeting(j, target, source))
        taken = end
    return met


def _run(start: int, step: int, count: int) -> slice:
    """`count` positions from `start` on."""
    last = start + (count - 1) * step
    stop = last + (1 if step > 0 else -1)
    return slice(start, stop if stop >= 0 else None, step)


class Slice:
    """A selection between two chunkings: the pieces of dy that each chunk of dx takes."""

    def __init__(self, selection: Selection, dx_chunks: Chunks, dy_chunks: Chunks) -> None:
        dy_axis_of = {axis: k for k, axis in enumerate(selection.result_axes) if axis >= 0}
        self.axes = []
        for axis, taken in enumerate(selection.axes):
            if axis in dy_axis_of:
                self.axes.append(walk(taken, dx_chunks[axis], dy_chunks[dy_axis_of[axis]]))
            else:
                self.axes.append(_dropped(taken, dx_chunks[axis]))
        self._new = {k: _only(dy_chunks[k]) for k, axis in enumerate(selection.result_axes) if axis < 0}
        self._dy_axes = selection.result_axes
        self._items = _items(selection)
        self._keeps_axes = len(self.axes) > 0 and list(self._dy_axes) == self._items == list(range(len(self.axes)))
        self._dy_chunks = [{i: tuple(m.dy_chunk for m in met) for i, met in axis.items()} for axis in self.axes]
        self._cuts = [*map(_cuts, self.axes)]
        self._places: dict[tuple[int, ...], Places] = {}
        self._views = [*map(_views, self.axes, dx_chunks, dy_chunks)] if self._keeps_axes else []

    def blocks(self) -> Iterator[Block]:
        """The chunks of dx that meet any chunk of dy."""
        return product(*self.axes)

    def meets(self, block: Block) -> bool:
        """Whether a chunk of dx meets any chunk of dy."""
        return all(i in axis for axis, i in zip(self.axes, block, strict=True))

    def pieces(self, block: Block) -> Iterator[Piece]:
        """What a chunk of dx takes, one piece per chunk of dy that it meets."""
        for dy_block, (target, source) in zip(self.dy_blocks(block), self.places(block), strict=True):
            yield Piece(dy_block, target, source)

    def dy_blocks(self, block: Block) -> Iterator[Block]:
        """The chunks of dy that a chunk of dx meets."""
        met = product(*(axis.get(i, ()) for axis, i in zip(self._dy_chunks, block, strict=True)))
        if self._keeps_axes:
            return met
        return (
            tuple(numbers[axis] if axis >= 0 else self._new[k].dy_chunk for k, axis in enumerate(self._dy_axes))
            for numbers in met
        )

    def places(self, block: Block) -> Places:
        """Where the pieces lie in the chunk of dx and in their chunks of dy. Chunks of equal cuts share one tuple."""
        cut = tuple(cuts.get(i, -1) for cuts, i in zip(self._cuts, block, strict=True))
        found = self._places.get(cut)
        if found is None:
            met = product(*(axis.get(i, ()) for axis, i in zip(self.axes, block, strict=True)))
            found = self._places[cut] = tuple(map(self._place, met))
        return found

    def _place(self, meetings: tuple[Meeting, ...]) -> tuple[Index, Index]:
        sides = [meetings[axis] if axis >= 0 else self._new[k] for k, axis in enumerate(self._dy_axes)]
        target = tuple(None if axis is None else meetings[axis].target for axis in self._items)
        return target, tuple(side.source for side in sides)

    def view(self, block: Block) -> tuple[View, ...] | None:
        """The part of one chunk of dy that a chunk of dx is, per axis; None where it is more or other than that."""
        found = [axis[i] for axis, i in zip(self._views, block, strict=False) if i in axis]
        return tuple(found) if found and len(found) == len(block) else None

    @property
    def meeting_pairs(self) -> int:
        """How many pairs of chunks meet."""
        pairs = 1
        for axis in self.axes:
            pairs *= sum(map(len, axis.values()))
        return pairs


def _cuts(axis: dict[int, list[Meeting]]) -> dict[int, int]:
    """A number per chunk of dx, equal where the meetings differ in nothing but the chunks of dy."""
    numbers: dict[str, int] = {}
    return {i: numbers.setdefault(str([(m.target, m.source) for m in met]), len(numbers)) for i, met in axis.items()}


def _views(axis: dict[int, list[Meeting]], dx_chunks: tuple[int, ...], dy_chunks: tuple[int, ...]) -> dict[int, View]:
    """The chunks of dx along an axis that one chunk of dy covers."""
    found = {}
    for i, meetings in axis.items():
        (j, target, source), size = meetings[0], dx_chunks[i]
        if source.stop - source.start == size and isinstance(target, slice):
            backwards = size > 1 and target.step < 0
            whole = size == dy_chunks[j] and not backwards
            found[i] = View(j, _run(source.stop - 1, -1, size) if backwards else source, whole)
    return found


def _dropped(taken: tuple[int, int, int], dx_chunks: tuple[int, ...]) -> dict[int, list[Meeting]]:
    """The one chunk that has the position of an integer index."""
    return {
        i: [meeting._replace(target=meeting.target.start)]
        for i, (meeting,) in walk((taken[0], 1, 1), dx_chunks, (1,)).items()
        if isinstance(meeting.target, slice)
    }


def _only(dy_chunks: tuple[int, ...]) -> Meeting:
    """The chunk of dy that has the one element of a new axis."""
    ((meeting,),) = walk((0, 1, 1), (1,), dy_chunks).values()
    return meeting


def _items(selection: Selection) -> list[int | None]:
    """The axis of dx behind each item of the selection's index; None for a new axis."""
    axes = iter(range(len(selection.shape)))
    return [None if item is None else next(axes) for item in selection.to_index()]
