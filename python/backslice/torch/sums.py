"""Sums of slice gradients that have not been computed yet.

A sum is a tree: leaves are gradients of slices, `Join` adds two sums, `Placed` is a sum of a slice, seen from the
tensor that the slice was taken from. Making one takes constant time whatever it holds; reading it takes one pass.

Every node knows what it keeps in memory: `made` bytes of a sum that has been made and that it begins with, which become
the result's, and `bytes` of everything else.
"""

import sys
from dataclasses import dataclass
from typing import Any

import torch

from .. import multi_slice_grad, slice_grad
from . import counting, devices, streams
from .arrays import DTYPES, as_array, as_tensor, as_writable_array
from .indexing import Entries
from .placement import Placement, boxes, compose, entries_of, identity, index_of, strided_view, walks_along_axes
from .plainly import plainly


@dataclass(slots=True, weakref_slot=True)
class Leaf:
    dy: Any
    version: int  # of dy when it was taken
    moment: streams.Moment | None  # from when on it can be read, on a device
    is_whole: bool  # a sum that was made, in memory of its own
    count: int
    bytes: int
    made: int


@dataclass(slots=True)
class Placed:
    placement: Placement
    child: "Sum"
    count: int
    bytes: int
    made: int


@dataclass(slots=True)
class Join:
    first: "Sum"
    second: "Sum"
    count: int
    bytes: int
    made: int


Sum = Leaf | Placed | Join
Term = tuple[Any, Placement]


def leaf(dy: Any) -> Leaf:
    return Leaf(dy, dy._version, streams.now(dy.device), False, 1, dy.untyped_storage().nbytes(), 0)


def whole(sum_so_far: Any) -> Leaf:
    """A sum that has been made, and goes on as one term."""
    size = sum_so_far.untyped_storage().nbytes()
    return Leaf(sum_so_far, sum_so_far._version, streams.now(sum_so_far.device), True, 1, 0, size)


def placed(placement: Placement, child: Sum) -> Placed:
    return Placed(placement, child, child.count, child.bytes + child.made, 0)


def join(first: Sum, second: Sum) -> Join:
    waiting = first.bytes + second.bytes + second.made
    return Join(first, second, first.count + second.count, waiting, first.made)


def terms(root: Sum, rank: int) -> list[Term]:
    """The slices of a sum in the order in which they are added, each with its place in the whole."""
    found: list[Term] = []
    used: list[Any] = []
    waiting: list[tuple[Sum, Placement | None]] = [(root, None)]
    while waiting:
        node, outer = waiting.pop()
        while not isinstance(node, Leaf):
            if isinstance(node, Join):
                waiting.append((node.second, outer))
                node = node.first
            else:
                outer = node.placement if outer is None else compose(outer, node.placement)
                node = node.child
        found.append((_unchanged(node), identity(rank) if outer is None else outer))
        used.append((node.moment, node.dy))
    streams.join(used)
    return found


def _unchanged(node: Leaf) -> Any:
    if node.dy._version != node.version:
        raise RuntimeError(
            "a gradient of a slice was changed in place before it was added to the gradient of the tensor that was "
            "sliced, through memory that backslice took for its own; please report how, and use "
            "backslice.torch.uninstall() meanwhile"
        )
    return node.dy


def evaluate(root: Sum, shape: tuple[int, ...], dtype: Any, device: Any) -> Any:
    """A new tensor with the sum, in memory of backslice's pool, or on a device in PyTorch's."""
    counting.count_event("sums")
    return plainly(_evaluated, root, shape, dtype, device)


def consume(holder: list[Sum], shape: tuple[int, ...], dtype: Any, device: Any) -> Any:
    """The same for a sum that is needed no more, whose only reference `holder` has.

    What was made of it before is added to, if no other sum has it.
    """
    made = _own_memory(holder)
    if made is None:
        return evaluate(holder[0], shape, dtype, device)
    counting.count_event("sums")
    _add_to_own(holder, made, terms(holder[0], len(shape))[1:])
    return made


def _add_to_own(holder: list[Sum], made: Any, rest: list[Term]) -> None:
    """Where something fails, for want of memory, `holder` has what is left to be added: nothing is added twice."""
    steps = [step for group in _groups(rest) for step in ([group] if _are_boxes(group) else [[term] for term in group])]
    done = 0
    try:
        for done, step in enumerate(steps):  # noqa: B007  read when one of them fails
            plainly(_add, step, made)
    except BaseException:
        if done > 0:
            left: Sum = whole(made)
            for dy, placement in (term for step in steps[done:] for term in step):
                left = join(left, placed(placement, leaf(dy)))
            holder[0] = left
        raise


def _own_memory(holder: list[Sum]) -> Any:
    """The first term of a sum, if it was made by one and nobody else has it."""
    cell: list[Any] = []
    is_alone = _walk_to_first_term(holder, cell) <= _ONE_REFERENCE
    return cell[0].dy if is_alone and isinstance(cell[0], Leaf) and cell[0].is_whole else None


def _walk_to_first_term(holder: list[Any], cell: list[Any]) -> int:
    """Puts it into `cell`; tells how many references there are to it or to a sum that begins with it, at most.

    No variable but lists is ever bound to them, since debuggers and profilers may hold what is in variables.
    """
    cell[:] = holder
    references = sys.getrefcount(cell[0])
    while isinstance(cell[0], Join):
        cell[0] = cell[0].first
        references = max(references, sys.getrefcount(cell[0]))
    return references


def _evaluated(root: Sum, shape: tuple[int, ...], dtype: Any, device: Any) -> Any:
    groups = _groups(terms(root, len(shape)))
    first = groups.pop(0) if groups and _are_boxes(groups[0]) else []
    if devices.takes(device) and first:
        dx = devices.gradient(shape, *_slices_on_device(first))
    elif devices.takes(device):
        dx = torch.zeros(shape, dtype=dtype, device=device)
    else:
        dx = as_tensor(_gradient_of(_slices(first), shape, DTYPES[dtype]))
    if not first and groups:  # into zeros: a copy, so that minus zero stays what it is
        dy, placement = groups[0].pop(0)
        _view(dx, dy, placement).copy_(dy)
    for group in groups:
        _add(group, dx)
    return dx


def accumulate(root: Sum, out: Any) -> None:
    """Adds the sum to a tensor, touching only what the slices take."""
    counting.count_event("sums")
    plainly(_add_all, root, out)


def _add_all(root: Sum, out: Any) -> None:
    for group in _groups(terms(root, out.dim())):
        _add(group, out)


def _groups(all_terms: list[Term]) -> list[list[Term]]:
    """Runs of terms that are written together."""
    groups: list[list[Term]] = []
    was_along_axes = None
    for term in all_terms:
        if not term[0].numel():
            continue
        is_along_axes = walks_along_axes(term[1])
        if is_along_axes != was_along_axes:
            groups.append([])
        groups[-1].append(term)
        was_along_axes = is_along_axes
    return groups


def _are_boxes(group: list[Term]) -> bool:
    return bool(group) and walks_along_axes(group[0][1])


def _add(group: list[Term], out: Any) -> None:
    if _are_boxes(group) and devices.takes(out.device):
        devices.add(*_slices_on_device(group), out)
        return
    if _are_boxes(group):
        _gradient_of(_slices(group), tuple(out.shape), None, out=as_writable_array(out), accumulate=True)
        return
    for dy, placement in group:
        _view(out, dy, placement).add_(dy)


def _gradient_of(slices: list[tuple[Any, Any]], shape: tuple[int, ...], dtype: Any, **options: Any) -> Any:
    if len(slices) != 1:
        return multi_slice_grad(shape, slices, dtype=dtype, **options)
    ((index, dy),) = slices
    return slice_grad(dy, shape, index, **options)


def _slices(group: list[Term]) -> list[tuple[Any, Any]]:
    slices = []
    for dy, placement in group:
        array = as_array(dy)
        if (index := index_of(placement, array.shape)) is not None:
            slices.append((index, array))
        else:
            slices += [(box.index, array[(*box.part, ...)].transpose(box.order)) for box in boxes(placement, dy.shape)]
    return slices


def _slices_on_device(group: list[Term]) -> tuple[list[Entries], list[Any]]:
    """The same for tensors that stay where they are: the slices, and their gradients."""
    many: list[Entries] = []
    dys: list[Any] = []
    for dy, placement in group:
        if (entries := entries_of(placement, dy.shape)) is not None:
            many.append(entries)
            dys.append(dy)
            continue
        for box in boxes(placement, dy.shape):
            many.append(box.entries())
            dys.append(dy[(*box.part, ...)].permute(box.order))
    return many, dys


def _view(dx: Any, dy: Any, placement: Placement) -> Any:
    offset, strides = strided_view(placement, dx.stride())
    return torch.as_strided(dx, dy.shape, strides, dx.storage_offset() + offset)


def _one_reference() -> int:
    """What is counted where only the walk and a parent hold a term. Versions of Python count differently.

    Something that traces this process may hold it too while it is measured; three is the most that it can be.
    """
    terms_of_nothing = [Leaf(None, 0, None, is_whole, 1, 0, 0) for is_whole in (True, False)]
    holder: list[Any] = [join(*terms_of_nothing)]
    del terms_of_nothing
    return min(_walk_to_first_term(holder, []), 3)


_ONE_REFERENCE = _one_reference()
