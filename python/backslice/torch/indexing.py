"""An index as numbers alone, one entry per axis, in code that `torch.compile` can trace."""

from collections.abc import Iterator, Sequence
from typing import Any

from .. import OutOfRangeError, Selection, UnimplementedError
from .._core import parse_index

# kind, start, step, count
Entry = tuple[Any, Any, Any, Any]
Entries = tuple[Entry, ...]
INTEGER, SLICE, NEW_AXIS = 0, 1, 2


def entries_of(index: Any, shape: Sequence[Any]) -> Entries:
    """Return the entries of an index for that shape: kind, start, step and count."""
    if isinstance(index, Selection):
        if tuple(index.shape) != tuple(shape):
            raise ValueError(f"the selection is of a tensor of shape {index.shape}, but x has shape {tuple(shape)}")
        index = index.to_index()
    items = parse_index(index) if isinstance(index, str) else index if isinstance(index, tuple) else (index,)
    return tuple(_entries(_completed(items, len(shape)), shape))


def _completed(items: Sequence[Any], rank: int) -> list[Any]:
    """Return the index with whole slices in place of an ellipsis, or at the end."""
    named = sum(item is not None and item is not Ellipsis for item in items)
    if named > rank:
        raise OutOfRangeError(f"index has {named} items for axes, but x has {rank} axes")
    found: list[Any] = []
    was_completed = False
    for item in items:
        if item is not Ellipsis:
            found.append(item)
        elif was_completed:
            raise OutOfRangeError("index has more than one ellipsis (...); one is allowed")
        else:
            found += [slice(None)] * (rank - named)
            was_completed = True
    return found if was_completed else found + [slice(None)] * (rank - named)


def _entries(items: Sequence[Any], shape: Sequence[Any]) -> Iterator[Entry]:
    axis = 0
    for item in items:
        if item is None:
            yield NEW_AXIS, 0, 1, 1
            continue
        extent = shape[axis]
        if isinstance(item, slice):
            yield _slice_entry(item, extent)
        else:
            yield INTEGER, _position(item, axis, extent), 1, 1
        axis += 1


def _slice_entry(item: Any, extent: Any) -> Entry:
    """Return the entry of a slice, without `slice.indices`, which not every compiler traces."""
    step = 1 if item.step is None else item.step
    if step == 0:
        raise ValueError("index has a slice with step 0; expected any other integer")
    first, last = (0, extent) if step > 0 else (extent - 1, -1)
    start = first if item.start is None else _within(item.start, extent, step)
    stop = last if item.stop is None else _within(item.stop, extent, step)
    count = (stop - start + (step - 1 if step > 0 else step + 1)) // step
    return SLICE, start, step, max(count, 0)


def _within(bound: Any, extent: Any, step: Any) -> Any:
    lowest, highest = (0, extent) if step > 0 else (-1, extent - 1)
    return min(max(bound + extent if bound < 0 else bound, lowest), highest)


def _position(item: Any, axis: int, extent: Any) -> Any:
    if isinstance(item, bool) or not hasattr(item, "__index__") or getattr(item, "ndim", 0) != 0:
        raise UnimplementedError(
            f"index has a {type(item).__name__} for axis {axis}; expected an integer, a slice, None or ...; "
            "for lists, masks and tensors of indices use x[...]"
        )
    position = item.__index__()
    if not -extent <= position < extent:
        raise OutOfRangeError(
            f"index {position} is out of range for axis {axis} with {extent} elements; "
            f"expected {-extent} to {extent - 1}"
        )
    return position + extent if position < 0 else position


def result_shape(entries: Entries) -> tuple[Any, ...]:
    return tuple(count for kind, _, _, count in entries if kind != INTEGER)


def forward_index(entries: Entries) -> tuple[tuple[Any, ...], list[int]]:
    """An index with positive steps, as PyTorch needs them, and the axes of its result that are to be turned around."""
    index: list[Any] = []
    turned: list[int] = []
    axis = 0
    for kind, start, step, count in entries:
        if kind == SLICE and step < 0 and count > 0:
            start, step = start + (count - 1) * step, -step
            turned += [axis] if count > 1 else []
        if kind == SLICE:
            index.append(slice(start, start + (count - 1) * step + 1, step) if count > 0 else slice(0, 0))
        else:
            index.append(start if kind == INTEGER else None)
        axis += kind != INTEGER
    return tuple(index), turned


def part_of(x: Any, entries: Entries) -> Any:
    """Return the slice of a tensor: a view, or a copy if an axis is reversed."""
    index, turned = forward_index(entries)
    return x[index].flip(turned) if turned else x[index]


def array_index(entries: Entries) -> tuple[Any, ...]:
    """Return the entries as an index for backslice, which accepts negative steps."""
    index: list[Any] = []
    for kind, start, step, count in entries:
        if kind == SLICE:
            stop = start + (count - 1) * step + (1 if step > 0 else -1)
            index.append(slice(start, stop if stop >= 0 else None, step) if count > 0 else slice(0, 0))
        else:
            index.append(start if kind == INTEGER else None)
    return tuple(index)


def with_batch(entries: Entries, size: Any) -> Entries:
    """Return the entries for a tensor with one more leading axis, which is selected whole."""
    return ((SLICE, 0, 1, size), *entries)


def flattened(many: Sequence[Entries]) -> tuple[list[Any], list[int]]:
    """Return all entries as one list of numbers, and the number of entries of each index, as arguments of an op."""
    return [number for entries in many for entry in entries for number in entry], [len(entries) for entries in many]


def unflattened(numbers: Sequence[Any], sizes: Sequence[int]) -> list[Entries]:
    found: list[Entries] = []
    at = 0
    for size in sizes:
        rows = [numbers[4 * i : 4 * i + 4] for i in range(at, at + size)]
        found.append(tuple((row[0], row[1], row[2], row[3]) for row in rows))
        at += size
    return found
