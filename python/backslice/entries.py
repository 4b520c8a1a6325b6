"""The axes of a slice as they were written, and what each dialect takes them to mean."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ._core import Selection, parse_index

MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
INT64_MAX, INT64_MIN = 2**63 - 1, -(2**63)


@dataclass(frozen=True)
class Entry:
    """One axis of a slice as it was written; a bound that is left out or masked is None."""

    axis: int
    extent: int
    start: int | None
    stop: int | None
    step: int

    @property
    def text(self) -> str:
        bounds = ":".join("" if bound is None else str(bound) for bound in (self.start, self.stop))
        return bounds if self.step == 1 else f"{bounds}:{self.step}"


def group(dialect: str) -> str:
    return "onnx" if dialect == "onnx" else "tf and numpy"  # which agree about slices


def read(dialect: str, entry: Entry) -> range:
    """The indices that these numbers mean; bounds that are left out mean the far ends."""
    if dialect != "onnx":
        return range(entry.extent)[slice(entry.start, entry.stop, entry.step)]
    forward = entry.step > 0
    start = entry.start if entry.start is not None else (0 if forward else INT64_MAX)
    stop = entry.stop if entry.stop is not None else (INT64_MAX if forward else INT64_MIN)
    ((first, step, count),) = Selection.from_onnx((entry.extent,), [start], [stop], None, [entry.step]).axes
    return range(first, first + count * step, step)


def indices_text(indices: range) -> str:
    shown = [*map(str, indices[:4]), "..."] if len(indices) > 5 else map(str, indices)
    return "[" + ", ".join(shown) + "]"


def onnx_entries(arguments: dict[str, Any], shape: tuple[int, ...]) -> list[Entry]:
    starts, ends = arguments["starts"], arguments["ends"]
    axes = arguments.get("axes") or range(len(starts))
    steps = arguments.get("steps") or [1] * len(starts)
    rank = len(shape)
    return [
        Entry(axis % rank, shape[axis], start, end, step)
        for axis, start, end, step in zip(axes, starts, ends, steps, strict=True)
        if shape[axis]
    ]


def tf_entries(arguments: dict[str, Any], shape: tuple[int, ...]) -> list[Entry]:
    """The positions that slice an axis: no new axes, no integer indices."""
    begin, end, strides = (arguments[name] for name in ("begin", "end", "strides"))
    masks = {name: arguments.get(name, 0) for name in MASKS}
    ones = [1] * len(begin)

    def with_indices(positions: int) -> Selection:
        shrunk = masks | {"shrink_axis_mask": masks["shrink_axis_mask"] | positions}
        return Selection.from_tf((1,) * len(shape), [0] * len(begin), ones, ones, **shrunk)

    def bound(name: str, values: list[int], i: int) -> int | None:
        return None if masks[name] >> i & 1 else values[i]

    return [
        Entry(axis, shape[axis], bound("begin_mask", begin, i), bound("end_mask", end, i), strides[i])
        for i, axis in _sliced_axes(with_indices, len(begin))
        if shape[axis]
    ]


def index_entries(text: str, shape: tuple[int, ...]) -> list[Entry]:
    items = parse_index(text)
    whole = [slice(None) if isinstance(item, slice) else 0 if isinstance(item, int) else item for item in items]

    def with_indices(positions: int) -> Selection:
        chosen = (0 if positions >> i & 1 and isinstance(item, slice) else item for i, item in enumerate(whole))
        return Selection.from_index((1,) * len(shape), tuple(chosen))

    found = ((items[i], axis) for i, axis in _sliced_axes(with_indices, len(items)) if shape[axis])
    return [
        Entry(axis, shape[axis], item.start, item.stop, 1 if item.step is None else item.step)
        for item, axis in found
        if isinstance(item, slice)
    ]


def _sliced_axes(with_indices: Callable[[int], Selection], count: int) -> Iterator[tuple[int, int]]:
    """Which positions of a slice take a range of which axis.

    It is the axis that goes from the result when the position becomes an integer index: `with_indices` gives the
    selection, of extents of 1, in which the positions of a mask are such.
    """
    kept = set(with_indices(0).result_axes)
    for i in range(count):
        for axis in kept - set(with_indices(1 << i).result_axes):
            yield i, axis
