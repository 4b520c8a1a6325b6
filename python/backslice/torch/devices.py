"""Slices and their gradients where tensors on CUDA devices are: on PyTorch's current stream, in memory of its own.

Tensors are given to backslice by their addresses, which takes a fraction of what a protocol for arrays does. Kernels
are queued; nothing waits for them, and they may be captured into a graph.
"""

import functools
from collections.abc import Sequence
from typing import Any

import torch

from .. import Error, FailedPreconditionError, UnimplementedError
from .._core import _cuda_versions, _slice_at, _slice_grads_at, _slice_grads_of
from . import streams
from .arrays import DTYPES, MAX_RANK
from .indexing import Entries, result_shape
from .plainly import plainly

_CLASSES = {torch.Tensor, torch.nn.Parameter}
_keys = torch._C._dispatch_keys
is_shared = torch._C._is_cow_tensor
_address = torch._C._data_address  # of a storage; what is shared copy on write stays so
_reasons: dict[int, str | None] = {}  # per device that was tried: why it cannot be used


def takes(device: Any) -> bool:
    """Whether tensors there are given by their addresses; those of the CPU are given as arrays."""
    return bool(device.type == "cuda")


def why_not_built() -> str | None:
    """Why no CUDA device can be used, as far as that is known without touching one."""
    if torch.version.cuda is None:
        return "this PyTorch was built without CUDA"
    try:
        _cuda_versions()
    except Error as error:
        return str(error)
    return None


def why_not(device: Any) -> str | None:
    """Why tensors on a device are left to PyTorch. The first time, a kernel is tried there."""
    if device.index in _reasons:
        return _reasons[device.index]
    if streams.is_capturing(device):
        return "a device that is used for the first time while a graph is captured"
    reason, stays = _tried(device)
    if stays:
        _reasons[device.index] = reason
    return reason


def _tried(device: Any) -> tuple[str | None, bool]:
    """Why not, and whether that stays so."""
    if (reason := why_not_built()) is not None:
        return reason, True
    try:
        plainly(_try, device)
    except Error as error:
        return str(error), isinstance(error, FailedPreconditionError | UnimplementedError)
    return None, True


def _try(device: Any) -> None:
    one = torch.ones(1, dtype=torch.float32, device=device)
    gradient((2,), [((1, 0, 1, 1),)], [one])


def are_plain(tensors: Sequence[Any]) -> bool:
    """Whether there is nothing behind tensors but memory of one device that can be used, of one dtype."""
    first = tensors[0]
    device, dtype = first.device, first.dtype
    if not takes(device) or dtype not in DTYPES or type(first) not in _CLASSES:
        return False  # before a device is touched
    if why_not(device) is not None:
        return False
    ordinal, keys = first.get_device(), _plain_keys(device)
    for tensor in tensors:
        if type(tensor) not in _CLASSES or tensor.dtype is not dtype or tensor.get_device() != ordinal:
            return False
        if tensor.dim() > MAX_RANK or _keys(tensor).raw_repr() != keys:
            return False
    return True


@functools.cache
def _plain_keys(device: Any) -> int:
    """What PyTorch's dispatcher sees of a tensor there that is neither conjugated nor wrapped in anything."""
    with torch.inference_mode(False):
        return int(_keys(plainly(functools.partial(torch.empty, 0, device=device))).raw_repr())


def gradient(shape: tuple[int, ...], many: Sequence[Entries], dys: Sequence[Any]) -> Any:
    """A new tensor with the sum of the gradients of slices, of which there is one at least."""
    dx = torch.empty(shape, dtype=dys[0].dtype, device=dys[0].device)
    _write(many, dys, memory(dx), False)
    return dx


def add(many: Sequence[Entries], dys: Sequence[Any], out: Any) -> None:
    """Adds that sum to a tensor."""
    _write(many, dys, memory(out), True)


def memory(out: Any) -> tuple[Any, Any]:
    """A tensor to write to on the stream that is the current one now. It has its own memory from then on."""
    return (out.data_ptr(), 0, out.shape, out.stride()), _where(out)


def add_one(entries: Entries, dy: Any, to: tuple[Any, Any]) -> None:
    """Adds the gradient of one slice to such a tensor."""
    _write((entries,), (dy,), to, True)


def values(x: Any, entries: Entries) -> Any:
    """A slice in new memory."""
    y = torch.empty(result_shape(entries), dtype=x.dtype, device=x.device)
    _slice_at(_memory(x), entries, _memory(y), _where(x))
    return y


def _write(many: Sequence[Entries], dys: Sequence[Any], to: tuple[Any, Any], accumulate: bool) -> None:
    # What is shared copy on write stays so: reading it by the tensor would make PyTorch copy it, on the default stream.
    if any(map(is_shared, dys)) or not _slice_grads_of(many, dys, *to, accumulate):
        slices = [(entries, *_memory(dy)) for entries, dy in zip(many, dys, strict=True)]
        _slice_grads_at(slices, *to, accumulate)


def _memory(tensor: Any) -> tuple[Any, ...]:
    return _address(tensor), tensor.storage_offset(), tensor.shape, tensor.stride()


def _where(tensor: Any) -> tuple[Any, ...]:
    device = tensor.device
    if device.type == "cpu":
        return -1, 0, DTYPES[tensor.dtype], None

    def table(size: int) -> tuple[int, Any]:
        memory = torch.empty(size, dtype=torch.uint8, device=device)
        return memory.data_ptr(), memory

    return device.index, streams.raw(device.index), DTYPES[tensor.dtype], table
