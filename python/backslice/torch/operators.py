"""The ops `multi_slice_grad` and `multi_slice_write`: on the CPU, on CUDA, elsewhere, traced, and their gradients."""

import functools
import operator
from collections.abc import Sequence
from typing import Any

import torch

from .. import Error, Selection, multi_slice_grad, multi_slice_write, slice_grad
from .indexing import Entries, array_index, forward_index, part_of, unflattened
from .memory import MAX_RANK, as_array, expect_writes, gradient, is_known

_library = torch.library.Library("backslice", "DEF")
_library.define(
    "multi_slice_grad(Tensor[] dys, SymInt[] shape, SymInt[] entries, int[] sizes) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag, torch.Tag.flexible_layout),  # any strides are taken
)

_library.define(
    "multi_slice_write(Tensor base, Tensor[] values, SymInt[] entries, int[] sizes) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag, torch.Tag.flexible_layout),
)


def _on_cpu(dys: Any, shape: Any, entries: Any, sizes: Any) -> Any:
    if len(shape) > MAX_RANK or not all(type(dy) is torch.Tensor and is_known(dy) for dy in dys):
        return _by_pytorch(dys, shape, unflattened(entries, sizes))
    shape = tuple(shape)
    if len(dys) == 1:
        return gradient(dys[0], shape, array_index(unflattened(entries, sizes)[0]))
    dx = torch.empty(shape, dtype=dys[0].dtype, device=dys[0].device)
    expect_writes(dx)
    selections = _selections(shape, tuple(entries), tuple(sizes))
    multi_slice_grad(shape, list(zip(selections, map(as_array, dys), strict=True)), out=as_array(dx))
    return dx


@functools.lru_cache(maxsize=64)
def _selections(shape: Any, entries: Any, sizes: Any) -> list[Selection]:
    """Return the selections of a compiled program, which repeats the same numbers."""
    return [Selection.from_index(shape, array_index(one)) for one in unflattened(entries, sizes)]


def _on_cuda(dys: Any, shape: Any, entries: Any, sizes: Any) -> Any:
    many = unflattened(entries, sizes)
    if len(shape) > MAX_RANK or not all(type(dy) is torch.Tensor and is_known(dy) for dy in dys):
        return _by_pytorch(dys, shape, many)
    slices = [(array_index(one), dy.detach()) for one, dy in zip(many, dys, strict=True)]
    try:
        if len(slices) == 1:
            ((index, dy),) = slices
            return slice_grad(dy, tuple(shape), index)
        return multi_slice_grad(tuple(shape), slices)
    except Error:  # backslice was built without CUDA, or does not take these tensors
        return _by_pytorch(dys, shape, many)


def _by_pytorch(dys: Any, shape: Any, many: Sequence[Entries]) -> Any:
    return functools.reduce(operator.add, (_padded(dy, shape, one) for one, dy in zip(many, dys, strict=True)))


def _elsewhere(dys: Any, shape: Any, entries: Any, sizes: Any) -> Any:
    return _by_pytorch(dys, shape, unflattened(entries, sizes))


def _padded(dy: Any, shape: Any, entries: Entries) -> Any:
    """Slice by PyTorch's own ops, which have rules for everything: one per axis."""
    index, turned = forward_index(entries)
    dy = dy.flip(turned) if turned else dy
    axis, extents = 0, list(dy.shape)
    for item in index:
        if item is None:
            dy = dy.squeeze(len(extents[:axis]))
            del extents[axis]
            continue
        if isinstance(item, slice):
            extents[axis] = shape[axis]
            dy = torch.ops.aten.slice_backward(dy, extents, axis, item.start, item.stop, item.step or 1)
        else:
            extents.insert(axis, shape[axis])
            dy = torch.ops.aten.select_backward(dy, extents, axis, item)
        axis += 1
    return dy


_library.impl("multi_slice_grad", _on_cpu, "CPU")
_library.impl("multi_slice_grad", _on_cuda, "CUDA")
_library.impl("multi_slice_grad", _elsewhere, "CompositeExplicitAutograd")
_library.impl("multi_slice_grad", _elsewhere, "Batched")  # of `is_grads_batched=True`


def _traced(dys: Any, shape: Any, entries: Any, sizes: Any) -> Any:
    return dys[0].new_empty(shape)


def _setup_context(ctx: Any, inputs: Any, output: Any) -> None:
    _, _, ctx.entries, ctx.sizes = inputs


def _backward(ctx: Any, ddx: Any) -> Any:
    many = unflattened(ctx.entries, ctx.sizes)
    return [part_of(ddx, entries) for entries in many], None, None, None


torch.library.register_fake("backslice::multi_slice_grad", _traced)
torch.library.register_autograd("backslice::multi_slice_grad", _backward, setup_context=_setup_context)


def _written_on_cpu(base: Any, values: Any, entries: Any, sizes: Any) -> Any:
    if not all(type(one) is torch.Tensor and is_known(one) for one in (base, *values)):
        return _written(base, values, entries, sizes)
    made = torch.empty(base.shape, dtype=base.dtype, device=base.device)
    expect_writes(made)
    selections = _selections(tuple(base.shape), tuple(entries), tuple(sizes))
    slices = zip(selections, map(as_array, values), strict=True)
    multi_slice_write(tuple(base.shape), [(..., as_array(base)), *slices], out=as_array(made))
    return made


def _written_on_cuda(base: Any, values: Any, entries: Any, sizes: Any) -> Any:
    if not all(type(one) is torch.Tensor and is_known(one) for one in (base, *values)):
        return _written(base, values, entries, sizes)
    indices = map(array_index, unflattened(entries, sizes))
    slices = ((index, value.detach()) for index, value in zip(indices, values, strict=True))
    try:
        return multi_slice_write(tuple(base.shape), [(..., base.detach()), *slices])
    except Error:  # backslice was built without CUDA, or does not take these tensors
        return _written(base, values, entries, sizes)


def _written(base: Any, values: Any, entries: Any, sizes: Any) -> Any:
    """A contiguous copy with the values in their places: later ones win."""
    made = base.clone(memory_format=torch.contiguous_format)
    for one, value in zip(unflattened(entries, sizes), values, strict=True):
        index, turned = forward_index(one)
        made[index].copy_(value.flip(turned) if turned else value)
    return made


def _keep_writes(ctx: Any, inputs: Any, output: Any) -> None:
    _, _, ctx.entries, ctx.sizes = inputs


def _backward_of_writes(ctx: Any, dy: Any) -> Any:
    """Each value gets what no later one has replaced; the base gets the rest."""
    rest = dy.clone(memory_format=torch.contiguous_format)
    found = []
    for one in reversed(unflattened(ctx.entries, ctx.sizes)):
        index, turned = forward_index(one)
        part = rest[index].clone()
        found.append(part.flip(turned) if turned else part)
        rest[index].zero_()
    return rest, found[::-1], None, None


_library.impl("multi_slice_write", _written_on_cpu, "CPU")
_library.impl("multi_slice_write", _written_on_cuda, "CUDA")
_library.impl("multi_slice_write", _written, "CompositeExplicitAutograd")
torch.library.register_fake("backslice::multi_slice_write", lambda base, *_: base.new_empty(base.shape))
torch.library.register_autograd("backslice::multi_slice_write", _backward_of_writes, setup_context=_keep_writes)


def sum_of_slices(dys: list[Any], shape: Any, entries: list[Any], sizes: list[int]) -> Any:
    """Put every `dy` where its entries say, and add them up."""
    return torch.ops.backslice.multi_slice_grad(dys, shape, entries, sizes)
