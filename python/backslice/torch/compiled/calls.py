"""Puts a call of `multi_slice_grad` or `multi_slice_write` into a graph, in place of nodes that compute the same."""

import math
from collections.abc import Sequence
from typing import Any

import torch

from ...placement import Placement
from ..indexing import flattened
from .concatenations import Lying, concatenation
from .facts import DEVICES, UnprovedError, aten, entries_of_placement, key, keys, value_of
from .symbols import Table

SUM = torch.ops.backslice.multi_slice_grad.default
WRITES = torch.ops.backslice.multi_slice_write.default
MOST_AXES = 32  # of a Selection
SMALL = 2**18  # elements for which a call takes longer than what PyTorch compiles
COMPUTED = frozenset(
    {
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.complex128),
        *(torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8),
    }
)


def call_on_slices(graph: Any, root: Any, base: Any, leaves: Sequence[tuple[Any, Any]], table: Table) -> None:
    """Replace a node by one call on the tensors that are placed in it: their sum, or writes into `base` if it is given.

    Raises where that is not proved to be the same; then the graph is as it was.
    """
    dx = value_of(root)
    if dx.device.type not in DEVICES or dx.layout is not torch.strided:
        raise UnprovedError(f"a tensor on {dx.device.type}")
    if dx.dtype not in COMPUTED or dx.dim() > MOST_AXES:
        raise UnprovedError("a dtype or a rank that backslice does not add")
    order = _memory_order(dx)
    lying = Lying(order, [dx.shape[axis] for axis in order])
    leaves = [(placement, node) for placement, node in leaves if 0 not in keys(value_of(node).shape)]
    result = concatenation(graph, root, base, leaves, lying, table)
    root.replace_all_uses_with(result or _called(graph, root, base, leaves, lying, table))


def _called(graph: Any, root: Any, base: Any, leaves: Sequence[tuple[Any, Any]], lying: Lying, table: Table) -> Any:
    dx = value_of(root)
    if not leaves:
        raise UnprovedError("slices without elements")
    if all(isinstance(extent, int) for extent in lying.shape) and math.prod(lying.shape) < SMALL:
        raise UnprovedError(f"fewer than {SMALL} elements")
    many, orders = [], []
    for placement, node in leaves:
        whole = placement or Placement(tuple((axis, 0, 1) for axis in range(len(lying.shape))))
        moved = Placement.permuted(lying.order).of(whole)
        entries, axes = entries_of_placement(moved, lying.shape, value_of(node).shape)
        many.append(entries)
        orders.append(axes)
    extents, numbers, sizes = table.arguments(root, lying.shape, *flattened(many))
    with graph.inserting_before(root):
        given = [_permuted(graph, node, axes) for (_, node), axes in zip(leaves, orders, strict=True)]
        if base is None:
            call = graph.call_function(SUM, (given, extents, numbers, sizes))
        else:
            call = graph.call_function(WRITES, (_permuted(graph, base, lying.order), given, numbers, sizes))
        call.meta = _meta(root, dx.new_empty(lying.shape))
        return _permuted(graph, call, lying.back())


def _permuted(graph: Any, node: Any, order: list[int]) -> Any:
    if order == sorted(order):
        return node
    permuted = graph.call_function(aten.permute.default, (node, order))
    permuted.meta = _meta(node, value_of(node).permute(order))
    return permuted


def _meta(node: Any, value: Any) -> dict[str, Any]:
    """Return what tracing and the partitioner know of a node, with another tensor."""
    return {name: known for name, known in node.meta.items() if name != "tensor_meta"} | {"val": value}


def _memory_order(dx: Any) -> list[int]:
    """Return the axes by their strides, outermost first. Raises if the tensor has gaps or overlaps."""
    shape, strides = keys(dx.shape), keys(dx.stride())
    order = list(range(len(shape)))
    if 0 in shape:
        return order
    if all(isinstance(number, int) for number in (*shape, *strides)):
        order.sort(key=lambda axis: (-strides[axis], axis))
    for position, axis in enumerate(order):
        expected = key(math.prod(dx.shape[inner] for inner in order[position + 1 :]))
        if shape[axis] != 1 and strides[axis] != expected:
            raise UnprovedError("a gradient whose memory has gaps")
    return order
