"""The op `backslice::pad_sum`, the sum of the gradients of many slices: on the CPU, on CUDA, elsewhere, traced."""

import functools
import operator
from collections.abc import Sequence
from typing import Any

import torch

from .. import multi_slice_grad
from . import counting, devices
from .arrays import DTYPES, MAX_RANK, as_array, as_tensor, is_plain
from .indexing import Entries, array_index, forward_index, unflattened
from .plainly import plainly

_library = torch.library.Library("backslice", "DEF")
_library.define("pad_sum(Tensor[] dys, SymInt[] shape, SymInt[] entries, int[] sizes) -> Tensor")


def _on_cpu(dys: Any, shape: Any, entries: Any, sizes: Any) -> Any:
    if len(shape) > MAX_RANK or not all(is_plain(dy) for dy in dys):
        return _by_pytorch(dys, shape, entries, sizes)
    counting.count_event("sums")
    indices = [array_index(one) for one in unflattened(entries, sizes)]
    return plainly(_sum_on_cpu, dys, tuple(shape), indices)


def _sum_on_cpu(dys: Any, shape: tuple[int, ...], indices: list[Any]) -> Any:
    slices = [(index, as_array(dy)) for index, dy in zip(indices, dys, strict=True)]
    return as_tensor(multi_slice_grad(shape, slices, dtype=DTYPES[dys[0].dtype]))


def _on_cuda(dys: Any, shape: Any, entries: Any, sizes: Any) -> Any:
    if len(shape) > MAX_RANK or not devices.are_plain(dys):
        return _by_pytorch(dys, shape, entries, sizes)
    return plainly(sum_on_device, dys, shape, unflattened(entries, sizes))


def sum_on_device(dys: Sequence[Any], shape: Any, many: Sequence[Entries]) -> Any:
    """The same, of tensors that `devices.are_plain` says are. Nothing but memory is seen of them."""
    counting.count_event("sums")
    return devices.gradient(tuple(shape), many, dys)


def _by_pytorch(dys: Any, shape: Any, entries: Any, sizes: Any) -> Any:
    pairs = zip(unflattened(entries, sizes), dys, strict=True)
    return functools.reduce(operator.add, (_padded(dy, shape, one) for one, dy in pairs))


def _padded(dy: Any, shape: Any, entries: Entries) -> Any:
    """By PyTorch's own ops, which have rules for everything: one per axis."""
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


_library.impl("pad_sum", _on_cpu, "CPU")
_library.impl("pad_sum", _on_cuda, "CUDA")
_library.impl("pad_sum", _by_pytorch, "CompositeExplicitAutograd")
torch.library.register_fake("backslice::pad_sum", lambda dys, shape, entries, sizes: dys[0].new_empty(shape))


def _is_batched_gradient(dy: Any) -> bool:
    """Whether it comes from `is_grads_batched=True`, for which only PyTorch's own ops have rules."""
    return bool(torch._C._functorch.is_legacy_batchedtensor(dy))


def pad_sum(dys: list[Any], shape: Any, entries: list[Any], sizes: list[int]) -> Any:
    """Puts every `dy` where its entries say, and adds them up."""
    if not torch.compiler.is_compiling() and any(map(_is_batched_gradient, dys)):
        return _by_pytorch(dys, shape, entries, sizes)
    return torch.ops.backslice.pad_sum(dys, shape, entries, sizes)
