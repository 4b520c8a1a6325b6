"""The rules of operations that only place elements among zeros, one per ATen operation.

Each returns the parts of a node, in the order in which the graph adds them: where the part lies, None for as it is, and
the node that computes it. It returns None where the operation does something else, and raises where that is not proved.
"""

from collections.abc import Callable
from typing import Any

from torch.fx import Node

from ...placement import Part, Placement, kept_axes
from .facts import (
    UnprovedError,
    argument,
    aten,
    axis_of,
    first_of_slice,
    is_zeros,
    keys,
    number,
    placement_of_strides,
    position_of,
    value_of,
)

Parts = list[Part]
Rule = Callable[[Any], Parts | None]


def _slice_backward(node: Any) -> Parts:
    dy, _, _, start, _, step = node.args
    return [(_sliced(node, dy, axis_of(node, 2, value_of(node).dim()), start, step), dy)]


def _scatter(node: Any) -> Parts | None:
    base, dy = node.args[:2]
    return [(placement_of_scatter(node), dy)] if is_zeros(base) else None


def placement_of_scatter(node: Any) -> Placement:
    """Return the position at which a scatter puts its second argument."""
    base, dy = node.args[:2]
    if node.target is aten.as_strided_scatter.default:
        size, stride = node.args[2:4]
        offset = argument(node, 4, "storage_offset")
        _check_alike(keys(map(number, size)), keys(value_of(dy).shape))
        return placement_of_strides(size, stride, 0 if offset is None else offset, value_of(base))
    axis = axis_of(node, 2, value_of(node).dim())
    if node.target is aten.select_scatter.default:
        return _selected(node, dy, axis, argument(node, 3, "index"))
    return _sliced(node, dy, axis, argument(node, 3, "start"), argument(node, 5, "step", 1))


def _sliced(node: Any, dy: Any, axis: int, start: Any, step: Any) -> Placement:
    shape, extents = value_of(node).shape, value_of(dy).shape
    _check_alike(_without(keys(shape), axis), _without(keys(extents), axis))
    first = first_of_slice(start, step, shape[axis], extents[axis])
    return Placement.sliced(len(shape), axis, first, step)


def _select_backward(node: Any) -> Parts:
    dy = node.args[0]
    return [(_selected(node, dy, axis_of(node, 2, value_of(node).dim()), node.args[3]), dy)]


def _selected(node: Any, dy: Any, axis: int, index: Any) -> Placement:
    shape = value_of(node).shape
    _check_alike(_without(keys(shape), axis), keys(value_of(dy).shape))
    return Placement.selected(len(shape), axis, position_of(index, shape[axis]))


def _without(shape: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _check_alike(a: tuple[Any, ...], b: tuple[Any, ...]) -> None:
    if a != b:
        raise UnprovedError("a slice whose shape is not that of its gradient")


def _constant_pad_nd(node: Any) -> Parts | None:
    dy, padding = node.args[:2]
    value = argument(node, 2, "value", 0)
    if not isinstance(value, bool | int | float) or value != 0 or "-" in repr(value):
        return None
    padding = [number(n) for n in padding]
    if not all(isinstance(n, int) and n >= 0 for n in padding):
        raise UnprovedError("a pad that is a symbol or removes elements")
    rank = value_of(dy).dim()
    pairs = [(0, 0)] * (rank - len(padding) // 2) + list(zip(padding[-2::-2], padding[::-2], strict=True))
    return [(Placement.padded([(before, after, 0) for before, after in pairs]), dy)]


def _add(node: Any) -> Parts | None:
    shape = keys(value_of(node).shape)
    a, b = node.args
    if type(b) is int and b == 0:  # where Python's sum() begins
        return _same(node)
    if (
        node.kwargs
        or not isinstance(a, Node)
        or not isinstance(b, Node)
        or any(keys(value_of(term).shape) != shape for term in (a, b))
    ):
        return None
    return [(None, a), (None, b)]


def _same(node: Any) -> Parts | None:
    return [(None, node.args[0])] if not node.kwargs or node.target is aten.clone.default else None


def _permute(node: Any) -> Parts:
    rank = value_of(node).dim()
    return [(Placement.permuted([int(axis) % rank for axis in node.args[1]]), node.args[0])]


def _transpose(node: Any) -> Parts:
    order = list(range(value_of(node).dim()))
    if order:
        a, b = (0, len(order) - 1) if node.target is aten.t.default else node.args[1:]
        order[a], order[b] = order[b], order[a]
    return [(Placement.permuted(order), node.args[0])]


def _unit_axes(node: Any) -> Parts | None:
    """Views that add or drop axes of extent 1 and do nothing else."""
    old, new = keys(value_of(node.args[0]).shape), keys(value_of(node).shape)
    kept = kept_axes(old, new)
    if kept is None:
        return None
    return [(Placement.with_unit_axes(kept, len(old)), node.args[0])]


def _flip(node: Any) -> Parts:
    shape = value_of(node).shape
    return [(Placement.reversed_along([int(axis) % len(shape) for axis in node.args[1]], shape), node.args[0])]


RULES: dict[Any, Rule] = {
    aten.slice_backward.default: _slice_backward,
    aten.slice_scatter.default: _scatter,
    aten.select_backward.default: _select_backward,
    aten.select_scatter.default: _scatter,
    aten.as_strided_scatter.default: _scatter,
    aten.constant_pad_nd.default: _constant_pad_nd,
    aten.add.Tensor: _add,
    aten.alias.default: _same,
    aten.detach.default: _same,
    aten.clone.default: _same,
    aten.permute.default: _permute,
    aten.transpose.int: _transpose,
    aten.t.default: _transpose,
    aten.flip.default: _flip,
    aten.view.default: _unit_axes,
    aten.reshape.default: _unit_axes,
    aten._unsafe_view.default: _unit_axes,
    aten.squeeze.default: _unit_axes,
    aten.squeeze.dim: _unit_axes,
    aten.squeeze.dims: _unit_axes,
    aten.unsqueeze.default: _unit_axes,
}
# Operations that put elements among zeros; the others only pass on what these made.
SCATTERS = frozenset({aten.slice_scatter.default, aten.select_scatter.default, aten.as_strided_scatter.default})
SOURCES = SCATTERS | {aten.slice_backward.default, aten.select_backward.default, aten.constant_pad_nd.default}
