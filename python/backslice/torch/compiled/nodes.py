"""Nodes: their kinds, and new nodes with the tensors that tracing would leave on them."""

import operator
from typing import Any

import torch

from .facts import DEVICES, aten, axis_of, value_of

COPIES = frozenset({aten.mm.default, aten.addmm.default, aten.cat.default})  # they take any strides
VIEWS = frozenset(
    {
        *(aten.select.int, aten.slice.Tensor, aten.split.Tensor, aten.split_with_sizes.default, operator.getitem),
        *(aten.permute.default, aten.t.default, aten.transpose.int, aten.unsqueeze.default),
    }
)


def takes_views(user: Any) -> bool:
    """Whether a node does the same with a view in place of a contiguous tensor, and so do those that use it."""
    if user.target in VIEWS:
        return all(map(takes_views, user.users))
    return user.target in COPIES or torch.Tag.pointwise in getattr(user.target, "tags", ())


def is_plain(x: Any) -> bool:
    """Whether a tensor is contiguous and has a known shape."""
    is_known = all(isinstance(number, int) for number in (*x.shape, *x.stride()))
    return is_known and bool(x.is_contiguous()) and x.device.type in DEVICES and 0 not in x.shape


def is_unsqueezed(piece: Any, axis: int) -> bool:
    """Whether a node is a view with an additional axis at that place."""
    return piece.target is aten.unsqueeze.default and axis_of(piece, 1, value_of(piece).dim()) == axis


def call(like: Any, target: Any, *arguments: Any) -> Any:
    """Add a node to the graph of another."""
    node = like.graph.call_function(target, arguments)
    values = torch.fx.node.map_arg(arguments, value_of)
    node.meta = {name: known for name, known in like.meta.items() if name != "tensor_meta"} | {"val": target(*values)}
    return node


def erase_with_inputs(node: Any) -> None:
    """Erase a node, and what only it used."""
    remaining = {node: None}  # in this order, each once
    while remaining:
        one, _ = remaining.popitem()
        inputs = one.all_input_nodes
        one.graph.erase_node(one)
        remaining |= {i: None for i in inputs if not i.users and i.op == "call_function" and not i.is_impure()}
