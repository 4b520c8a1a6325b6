"""Sums of slice gradients that have not been computed yet.

A sum is a tree: leaves are gradients of slices, `Join` adds two sums, `Placed` is a sum of a slice, seen from the
tensor that the slice was taken from. Making one takes constant time whatever it holds; reading it takes one pass.
"""

from dataclasses import dataclass
from typing import Any

import torch

from .. import multi_slice_grad
from . import counting
from .arrays import DTYPES, as_array, as_tensor
from .placement import Placement, boxes, compose, identity, strided_view, walks_along_axes
from .plainly import Plainly


@dataclass(frozen=True, slots=True)
class Leaf:
    dy: Any
    version: int  # of dy when it was taken
    count: int
    bytes: int  # kept alive until the sum is made


@dataclass(frozen=True, slots=True)
class Placed:
    placement: Placement
    child: "Sum"
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Join:
    first: "Sum"
    second: "Sum"
    count: int
    bytes: int


Sum = Leaf | Placed | Join
Term = tuple[Any, Placement]


def leaf(dy: Any) -> Leaf:
    return Leaf(dy, dy._version, 1, dy.untyped_storage().nbytes())


def whole(sum_so_far: Any) -> Leaf:
    """A sum that has been made, and goes on as one term. Its memory does not count: it is the result's so far."""
    return Leaf(sum_so_far, sum_so_far._version, 1, 0)


def placed(placement: Placement, child: Sum) -> Placed:
    return Placed(placement, child, child.count, child.bytes)


def join(first: Sum, second: Sum) -> Join:
    return Join(first, second, first.count + second.count, first.bytes + second.bytes)


def terms(root: Sum, rank: int) -> list[Term]:
    """The slices of a sum in the order in which they are added, each with its place in the whole."""
    found: list[Term] = []
    waiting: list[tuple[Sum, Placement | None]] = [(root, None)]
    while waiting:
        node, outer = waiting.pop()
        if isinstance(node, Join):
            waiting += [(node.second, outer), (node.first, outer)]
        elif isinstance(node, Placed):
            waiting.append((node.child, node.placement if outer is None else compose(outer, node.placement)))
        else:
            found.append((_unchanged(node), identity(rank) if outer is None else outer))
    return found


def _unchanged(node: Leaf) -> Any:
    if node.dy._version != node.version:
        raise RuntimeError(
            "a gradient of a slice was changed in place before it was added to the gradient of the tensor that was "
            "sliced, through memory that backslice took for its own; please report how, and use "
            "backslice.torch.uninstall() meanwhile"
        )
    return node.dy


def evaluate(root: Sum, shape: tuple[int, ...], dtype: Any) -> Any:
    """A new tensor with the sum, in memory of backslice's pool."""
    counting.count_event("sums")
    with Plainly():
        return _evaluated(root, shape, dtype)


def _evaluated(root: Sum, shape: tuple[int, ...], dtype: Any) -> Any:
    groups = _groups([term for term in terms(root, len(shape)) if term[0].numel()])
    first = _slices(groups.pop(0)) if groups and _are_boxes(groups[0]) else []
    dx = as_tensor(multi_slice_grad(shape, first, dtype=DTYPES[dtype]))
    if not first and groups:  # into zeros: a copy, so that minus zero stays what it is
        dy, placement = groups[0].pop(0)
        _view(dx, dy, placement).copy_(dy)
    for group in groups:
        _add(group, dx)
    return dx


def accumulate(root: Sum, out: Any) -> None:
    """Adds the sum to a tensor, touching only what the slices take."""
    counting.count_event("sums")
    with Plainly():
        for group in _groups([term for term in terms(root, out.dim()) if term[0].numel()]):
            _add(group, out)


def _groups(all_terms: list[Term]) -> list[list[Term]]:
    """Runs of terms that are written together."""
    groups: list[list[Term]] = []
    was_along_axes = None
    for term in all_terms:
        is_along_axes = walks_along_axes(term[1])
        if is_along_axes != was_along_axes:
            groups.append([])
        groups[-1].append(term)
        was_along_axes = is_along_axes
    return groups


def _are_boxes(group: list[Term]) -> bool:
    return bool(group) and walks_along_axes(group[0][1])


def _add(group: list[Term], out: Any) -> None:
    if _are_boxes(group):
        multi_slice_grad(tuple(out.shape), _slices(group), out=as_array(out), accumulate=True)
        return
    for dy, placement in group:
        _view(out, dy, placement).add_(dy)


def _slices(group: list[Term]) -> list[tuple[Any, Any]]:
    slices = []
    for dy, placement in group:
        array = as_array(dy)
        slices += [(box.index, array[(*box.part, ...)].transpose(box.order)) for box in boxes(placement, dy.shape)]
    return slices


def _view(dx: Any, dy: Any, placement: Placement) -> Any:
    offset, strides = strided_view(placement, dx.stride())
    return torch.as_strided(dx, dy.shape, strides, dx.storage_offset() + offset)
