"""Sums and chains of slices that lie side by side: a concatenation, which compilers write in place and fuse.

This holds where the slices differ along one axis alone, on which each is an interval that meets no other. Gaps between
them are zeros, or what was there before the writes.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ...placement import Placement
from ..indexing import INTEGER, SLICE, Entries
from .facts import aten, entries_of_placement, key, keys, value_of
from .symbols import Table

MOST_GAPS = 4  # slices per gap, at least


@dataclass(frozen=True)
class Lying:
    """How a result lies in memory: its axes from the outermost to the innermost, and its shape in that order."""

    order: list[int]
    shape: list[Any]

    def back(self) -> list[int]:
        return [self.order.index(axis) for axis in range(len(self.order))]


def concatenation(
    graph: Any, root: Any, base: Any, leaves: Sequence[tuple[Any, Any]], lying: Lying, table: Table
) -> Any:
    """Put a concatenation before `root` and return its node; None if the slices are not one."""
    placed = [place for place, (placement, _) in enumerate(leaves) if placement is not None]
    if len(placed) < 2 or placed[-1] - placed[0] + 1 != len(placed):
        return None  # an array of the whole shape between slices is added between them
    before, after = [node for _, node in leaves[: placed[0]]], [node for _, node in leaves[placed[-1] + 1 :]]
    if not _has_strides_of(root, before, after):
        return None
    many = [_entries(placement, node, lying) for placement, node in leaves[placed[0] : placed[-1] + 1]]
    axis = _axis_of_difference(many, len(lying.shape))
    if axis is None:
        return None
    intervals = sorted(range(len(many)), key=lambda i: many[i][0][axis][1])
    gaps = _gaps([many[i][0][axis] for i in intervals], lying.shape[axis])
    box = [count for _, _, _, count in many[0][0][: len(lying.shape)]]
    is_whole = all(other == axis or _is_whole(many[0][0][other], lying.shape[other]) for other in range(len(box)))
    if gaps is None or len(gaps) > 2 + len(many) // MOST_GAPS or not (is_whole or base is None):
        return None
    if not (is_whole and not gaps) and any(type(number) is not int for number in (*lying.shape, *box)):
        return None
    maker = _Maker(graph, root, table)
    with graph.inserting_before(root):
        pieces = [maker.full_rank(leaves[placed[0] + i][1], *many[i]) for i in intervals]
        under = None if base is None else maker.permuted(base, lying.order)
        for place, start, stop in reversed(gaps):
            pieces.insert(place, maker.gap(under, axis, start, stop, box))
        box[axis] = lying.shape[axis]
        joined = maker.call(aten.cat.default, (pieces, axis), lambda dx: dx.new_empty(box))
        if not is_whole:
            joined = maker.among_zeros(joined, many[0][0], axis, box, lying.shape)
        joined = maker.permuted(joined, lying.back())
        return functools.reduce(maker.sum, [*before, joined, *after])


def _has_strides_of(root: Any, before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Return whether all terms have the strides of the sum that they replace, so that the new sum has them too."""
    own = keys(value_of(root).stride())
    return all(keys(value_of(node).stride()) == own for node in (*before, *after))


def _entries(placement: Placement, node: Any, lying: Lying) -> tuple[Entries, list[int]]:
    moved = Placement.permuted(lying.order).of(placement)
    entries, order = entries_of_placement(moved, lying.shape, value_of(node).shape)
    return entries, order


def _axis_of_difference(many: Sequence[tuple[Entries, Any]], rank: int) -> int | None:
    """Return the axis along which alone slices differ, on which they are intervals."""
    first = many[0][0]
    differing = [
        axis for axis in range(rank) if any(keys(entries[axis][1:]) != keys(first[axis][1:]) for entries, _ in many)
    ]
    if len(differing) != 1:
        return None
    (axis,) = differing
    numbers = [number for entries, _ in many for number in entries[axis]]
    is_known = all(type(number) is int for number in numbers)
    is_forward = all(entries[other][2] > 0 for entries, _ in many for other in range(rank))
    is_dense = is_known and all(entries[axis][2] == 1 or entries[axis][3] == 1 for entries, _ in many)
    return axis if is_dense and is_forward else None


def _gaps(intervals: Sequence[Any], extent: Any) -> list[tuple[int, Any, Any]] | None:
    """Return the gaps between intervals, and the interval after each; None if two intervals overlap."""
    gaps: list[tuple[int, Any, Any]] = []
    end = 0
    for place, (_, start, _, count) in enumerate(intervals):
        if start < end:
            return None
        if start > end:
            gaps.append((place, end, start))
        end = start + count
    if key(extent) != end:
        gaps.append((len(intervals), end, extent))
    return gaps


def _is_whole(entry: Any, extent: Any) -> bool:
    _, start, step, count = entry
    return bool(key(start) == 0 and (step == 1 or key(count) == 1) and key(count) == key(extent))


class _Maker:
    """Makes nodes, each with a tensor as tracing would leave on it."""

    def __init__(self, graph: Any, root: Any, table: Table) -> None:
        self._graph, self._root, self._dx, self._table = graph, root, value_of(root), table
        self._known = {name: known for name, known in root.meta.items() if name != "tensor_meta"}

    def call(self, target: Any, arguments: Any, value: Any, **keywords: Any) -> Any:
        node = self._graph.call_function(target, arguments, keywords)
        node.meta = self._known | {"val": value(self._dx)}
        return node

    def permuted(self, node: Any, order: list[int]) -> Any:
        if order == sorted(order):
            return node
        return self.call(aten.permute.default, (node, order), lambda _: value_of(node).permute(order))

    def full_rank(self, node: Any, entries: Entries, order: list[int]) -> Any:
        """Return a view with an axis of extent 1 for each integer of an index, and without its new axes."""
        node = self.permuted(node, order)
        kept = [entry for entry in entries if entry[0] in (INTEGER, SLICE)]
        taken = sum(entry[0] == SLICE for entry in kept)
        if new := list(range(taken, len(order))):
            node = self.call(aten.squeeze.dims, (node, new), lambda _, x=node: value_of(x).squeeze(new))
        for axis, entry in enumerate(kept):
            if entry[0] == INTEGER:
                value = value_of(node).unsqueeze(axis)
                node = self.call(aten.unsqueeze.default, (node, axis), lambda _, value=value: value)
        return node

    def zeros(self, shape: Sequence[Any]) -> Any:
        (size,) = self._table.arguments(self._root, shape)
        options = {"dtype": self._dx.dtype, "layout": torch.strided, "device": self._dx.device, "pin_memory": False}
        return self.call(aten.full.default, (size, 0), lambda dx: dx.new_empty(list(shape)), **options)

    def gap(self, under: Any, axis: int, start: Any, stop: Any, box: Sequence[Any]) -> Any:
        if under is None:
            return self.zeros([*box[:axis], stop - start, *box[axis + 1 :]])
        ((first, last),) = self._table.arguments(self._root, [start, stop])
        part = value_of(under)[(slice(None),) * axis + (slice(start, stop),)]
        return self.call(aten.slice.Tensor, (under, axis, first, last), lambda _: part)

    def among_zeros(self, node: Any, entries: Entries, axis: int, box: list[Any], shape: Sequence[Any]) -> Any:
        """Put a box into zeros, axis by axis."""
        for other, (_, start, step, count) in enumerate(entries[: len(shape)]):
            if other == axis or _is_whole(entries[other], shape[other]):
                continue
            box[other] = shape[other]
            within = list(box)
            ((first, last),) = self._table.arguments(self._root, [start, start + (count - 1) * step + 1])
            arguments = (self.zeros(within), node, other, first, last, step)
            node = self.call(aten.slice_scatter.default, arguments, lambda dx, size=within: dx.new_empty(size))
        return node

    def sum(self, a: Any, b: Any) -> Any:
        return self.call(aten.add.Tensor, (a, b), torch.empty_like)
