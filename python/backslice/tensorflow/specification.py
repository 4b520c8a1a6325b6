"""An index in StridedSlice's form: entries and masks."""

import itertools
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from .._core import Selection, parse_index

INT64_MAX, INT64_MIN = 2**63 - 1, -(2**63)
MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")

# A number of an entry: known now, or a scalar tensor.
Number = Any


@dataclass(frozen=True)
class Specification:
    entries: list[tuple[Number, Number, Number]]  # begin, end, stride
    masks: tuple[int, int, int, int, int]  # begin, end, ellipsis, new axis, shrink

    def result_shape(self, shape: Any) -> Any:
        """Return the known part of the result's shape, from the known part of the input's."""
        if shape.rank is None:
            return tf.TensorShape(None)
        begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask = self.masks
        named = sum(not 1 << i & (ellipsis_mask | new_axis_mask) for i in range(len(self.entries)))
        left: Iterator[int | None] = iter(shape.as_list())
        extents: list[int | None] = []
        for i, (begin, end, stride) in enumerate(self.entries):
            bit = 1 << i
            if bit & ellipsis_mask:
                extents += itertools.islice(left, max(shape.rank - named, 0))
            elif bit & new_axis_mask:
                extents.append(1)
            elif bit & shrink_mask:
                next(left, None)
            else:
                bounds = (None if bit & begin_mask else begin, None if bit & end_mask else end, stride)
                extents.append(_count(next(left, None), bounds))
        return tf.TensorShape([*extents, *left])


def specification(index: Any, shape: Any) -> Specification:
    if isinstance(index, Selection):
        return _of_selection(index, shape)
    items = parse_index(index) if isinstance(index, str) else index if isinstance(index, tuple) else (index,)
    entries, masks = [], [0] * 5
    for position, item in enumerate(items):
        entry, bits = _entry(item, position)
        entries.append(entry)
        masks = [mask | bit << position for mask, bit in zip(masks, bits, strict=True)]
    return Specification(entries, (masks[0], masks[1], masks[2], masks[3], masks[4]))


def _of_selection(selection: Selection, shape: Any) -> Specification:
    if not shape.is_compatible_with(selection.shape):
        raise ValueError(f"the selection is of a tensor of shape {selection.shape}, but x has shape {shape}")
    spec = selection.to_tf()
    rows = zip(spec["begin"], spec["end"], spec["strides"], strict=True)
    masks = tuple(int(spec[name]) for name in MASKS)  # type: ignore[literal-required]
    return Specification([(int(b), int(e), int(s)) for b, e, s in rows], masks)  # type: ignore[arg-type]


def _entry(item: Any, position: int) -> tuple[tuple[Number, Number, Number], tuple[int, int, int, int, int]]:
    """The entry of one item of an index, and its bit in each mask."""
    if item is Ellipsis:
        return (0, 0, 1), (0, 0, 1, 0, 0)
    if item is None:
        return (0, 0, 1), (0, 0, 0, 1, 0)
    if isinstance(item, slice):
        begin, end, stride = (
            None if bound is None else _number(bound, f"index[{position}].{name}")
            for bound, name in ((item.start, "start"), (item.stop, "stop"), (item.step, "step"))
        )
        entry = (0 if begin is None else begin, 0 if end is None else end, 1 if stride is None else stride)
        return entry, (begin is None, end is None, 0, 0, 0)
    number = _number(item, f"index[{position}]")
    return (number, 0, 1), (0, 0, 0, 0, 1)


def _number(value: Any, name: str) -> Number:
    if tf.is_tensor(value):
        if not value.dtype.is_integer or value.shape.rank not in (None, 0):
            raise TypeError(f"{name} is a tensor of {value.dtype.name} and shape {value.shape}, expected one integer")
        return value
    try:
        if isinstance(value, bool):
            raise TypeError
        return max(min(operator.index(value), INT64_MAX), INT64_MIN)  # larger ones mean the same
    except TypeError:
        raise TypeError(
            f"{name} is {value!r}, expected an integer, a slice, ... or None; "
            "tf.gather takes lists and tf.boolean_mask takes masks"
        ) from None


def _count(extent: int | None, bounds: tuple[Number, Number, Number]) -> int | None:
    begin, end, stride = bounds
    if begin is None and end is None and not tf.is_tensor(stride) and abs(stride) == 1:
        return extent
    if extent is None or any(tf.is_tensor(bound) for bound in bounds) or stride == 0:
        return None
    return len(range(*slice(begin, end, stride).indices(extent)))
