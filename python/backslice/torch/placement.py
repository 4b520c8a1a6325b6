"""Where a slice lies in the tensor it was taken from, for any chain of select, slice, unfold and diagonal.

A `Placement` says it as numbers alone, so that slices of slices become one placement. What it means for
`backslice.multi_slice_grad` is in `boxes`: a list of plain slices, or none where it walks along a diagonal.
"""

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .indexing import INTEGER, SLICE, Entries

# Per axis of a slice: the axes of the tensor that it walks along, each with its step.
Column = tuple[tuple[int, int], ...]
IndexItem = int | slice

MAX_BOXES = 1024  # per placement; what takes more is left to PyTorch


@dataclass(slots=True)
class Placement:
    """On axis a, element `i` lies at ``starts[a]`` plus ``step * i[d]`` for every step along a in ``columns[d]``."""

    starts: tuple[int, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """A part of a slice that is a plain slice of the tensor."""

    part: tuple[IndexItem, ...]  # of dy: an integer where it takes one of an axis
    order: tuple[int, ...]  # of the axes of that part, so that they follow those of the tensor
    index: tuple[IndexItem, ...]  # into the tensor

    def entries(self) -> Entries:
        return tuple(
            (INTEGER, item, 1, 1)
            if isinstance(item, int)
            else (SLICE, item.start, item.step, len(range(item.start, item.stop, item.step)))
            for item in self.index
        )


@functools.cache
def identity(rank: int) -> Placement:
    return Placement((0,) * rank, tuple(((a, 1),) for a in range(rank)))


def of_select(rank: int, dim: int, index: int) -> Placement:
    return Placement(_at(rank, dim, index), _all_but(rank, dim))


@functools.cache
def _all_but(rank: int, dim: int) -> tuple[Column, ...]:
    whole = identity(rank)
    return whole.columns[:dim] + whole.columns[dim + 1 :]


def of_slice(rank: int, dim: int, start: int, step: int) -> Placement:
    columns = identity(rank).columns
    return Placement(_at(rank, dim, start), (*columns[:dim], ((dim, step),), *columns[dim + 1 :]))


def _at(rank: int, dim: int, start: int) -> tuple[int, ...]:
    return (0,) * dim + (start,) + (0,) * (rank - dim - 1)


def of_diagonal(rank: int, offset: int, dim1: int, dim2: int) -> Placement:
    down, right = max(-offset, 0), max(offset, 0)
    starts = tuple(down if a == dim1 else right if a == dim2 else 0 for a in range(rank))
    others: list[Column] = [((a, 1),) for a in range(rank) if a not in (dim1, dim2)]
    return Placement(starts, (*others, ((dim1, 1), (dim2, 1))))


def of_unfold(rank: int, dim: int, step: int) -> Placement:
    windows: list[Column] = [((a, step if a == dim else 1),) for a in range(rank)]
    return Placement((0,) * rank, (*windows, ((dim, 1),)))


def compose(outer: Placement, inner: Placement) -> Placement:
    """Where a slice of a slice lies in the tensor."""
    starts = list(outer.starts)
    for start, column in zip(inner.starts, outer.columns, strict=True):
        for axis, step in column:
            starts[axis] += start * step
    return Placement(tuple(starts), tuple(_through(outer, column) for column in inner.columns))


def _through(outer: Placement, column: Column) -> Column:
    if len(column) == 1:
        ((axis, step),) = column
        return tuple((a, s * step) for a, s in outer.columns[axis])
    steps: dict[int, int] = {}
    for axis, step in column:
        for a, s in outer.columns[axis]:
            steps[a] = steps.get(a, 0) + s * step
    return tuple(steps.items())


def walks_along_axes(placement: Placement) -> bool:
    """Whether every axis of the slice follows one axis of the tensor, as all but diagonals do."""
    return all(len(column) == 1 for column in placement.columns)


def is_supported(placement: Placement, counts: Sequence[int]) -> bool:
    """Whether its gradient can be written as boxes, or as one strided view in which no two elements coincide."""
    shared = _shared_axes(placement)
    if walks_along_axes(placement):
        return _count_of_boxes(placement, counts, shared) <= MAX_BOXES
    return not shared


def strided_view(placement: Placement, strides: Sequence[int]) -> tuple[int, list[int]]:
    """Offset and strides of the slice in a tensor with those strides."""
    offset = sum(start * stride for start, stride in zip(placement.starts, strides, strict=True))
    return offset, [sum(step * strides[axis] for axis, step in column) for column in placement.columns]


def index_of(placement: Placement, counts: Sequence[int]) -> tuple[IndexItem, ...] | None:
    """The slice as one index, where its axes follow those of the tensor in their order, as most do."""
    index: list[IndexItem] = list(placement.starts)
    last = -1
    for column, count in zip(placement.columns, counts, strict=True):
        axis, step = column[0]
        if axis <= last:
            return None
        start = placement.starts[axis]
        index[axis] = slice(start, start + (count - 1) * step + 1, step)
        last = axis
    return tuple(index)


def entries_of(placement: Placement, counts: Sequence[int]) -> Entries | None:
    """The same, as what every axis of the tensor takes."""
    entries = [(INTEGER, start, 1, 1) for start in placement.starts]
    last = -1
    for column, count in zip(placement.columns, counts, strict=True):
        axis, step = column[0]
        if axis <= last:
            return None
        entries[axis] = (SLICE, placement.starts[axis], step, count)
        last = axis
    return tuple(entries)


def boxes(placement: Placement, counts: Sequence[int]) -> Iterator[Box]:
    """The slice as plain slices of the tensor, in the order in which PyTorch adds what windows share."""
    listed = _listed_dims(placement, counts, _shared_axes(placement))
    for chosen in itertools.product(*(_order(placement, dim, counts[dim]) for dim in listed)):
        yield _box(placement, counts, dict(zip(listed, chosen, strict=True)))


def _shared_axes(placement: Placement) -> set[int]:
    """The axes of the tensor that several axes of the slice walk along, as windows do."""
    seen: set[int] = set()
    shared: set[int] = set()
    for column in placement.columns:
        for axis, _ in column:
            (shared if axis in seen else seen).add(axis)
    return shared


def _listed_dims(placement: Placement, counts: Sequence[int], shared: set[int]) -> list[int]:
    """The axes of the slice that are taken apart: all but the longest of those that share an axis of the tensor."""
    listed = []
    for axis in sorted(shared):
        dims = [d for d, column in enumerate(placement.columns) if column[0][0] == axis]
        dims.remove(max(dims, key=lambda d: counts[d]))
        listed += dims
    return listed


def _count_of_boxes(placement: Placement, counts: Sequence[int], shared: set[int]) -> int:
    count = 1
    for dim in _listed_dims(placement, counts, shared):
        count *= counts[dim]
    return count


def _order(placement: Placement, dim: int, count: int) -> range:
    """An element that several windows take gets the first window's share first: that window has it furthest inside."""
    ((axis, step),) = placement.columns[dim]
    steps = [column[0][1] for column in placement.columns if column[0][0] == axis]
    is_inside = step < max(steps) or placement.columns.index(((axis, step),)) < dim
    return range(count - 1, -1, -1) if is_inside else range(count)


def _box(placement: Placement, counts: Sequence[int], chosen: dict[int, int]) -> Box:
    starts = list(placement.starts)
    kept: dict[int, tuple[int, int]] = {}  # axis of the tensor: axis of the part, step
    part: list[IndexItem] = []
    for dim, ((axis, step),) in enumerate(placement.columns):
        if dim in chosen:
            starts[axis] += step * chosen[dim]
            part.append(chosen[dim])
        else:
            kept[axis] = (dim, step)
            part.append(slice(None))
    positions = {dim: i for i, dim in enumerate(d for d in range(len(part)) if d not in chosen)}
    order = tuple(positions[kept[axis][0]] for axis in sorted(kept))
    index: list[IndexItem] = list(starts)
    for axis, (dim, step) in kept.items():
        index[axis] = slice(starts[axis], starts[axis] + (counts[dim] - 1) * step + 1, step)
    return Box(tuple(part), order, tuple(index))
