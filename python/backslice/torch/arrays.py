"""Tensors as the arrays that backslice takes, and back, without copies, for every dtype."""

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import torch

from .. import to_dlpack

# NumPy's own dtypes.
NATIVE: dict[Any, Any] = {
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
    torch.float16: np.dtype(np.float16),
    torch.complex64: np.dtype(np.complex64),
    torch.complex128: np.dtype(np.complex128),
    torch.int8: np.dtype(np.int8),
    torch.int16: np.dtype(np.int16),
    torch.int32: np.dtype(np.int32),
    torch.int64: np.dtype(np.int64),
    torch.uint8: np.dtype(np.uint8),
    torch.uint16: np.dtype(np.uint16),
    torch.uint32: np.dtype(np.uint32),
    torch.uint64: np.dtype(np.uint64),
    torch.bool: np.dtype(np.bool_),
}
# Those that it has from elsewhere.
SMALL_FLOATS: dict[Any, Any] = {
    getattr(torch, name): np.dtype(getattr(ml_dtypes, name))
    for name in ("bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
}
DTYPES = NATIVE | SMALL_FLOATS
MAX_RANK = 32  # of backslice


def is_plain(tensor: Any) -> bool:
    """Whether it is an ordinary dense tensor: of no subclass, not sparse, not quantised, on the CPU or on CUDA."""
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.dtype in DTYPES
        and tensor.layout is torch.strided
        and tensor.device.type in ("cpu", "cuda")
        and not (tensor.is_conj() or tensor.is_neg() or tensor._is_zerotensor())
    )


# All of the address space: arrays are made by address, since PyTorch's own ways refuse some dtypes and copy what is
# shared copy-on-write. It is read nowhere but where a tensor lies.
_FIRST = 1  # NumPy takes a null pointer for no memory at all
_MEMORY: Any = (ctypes.c_char * (2**62)).from_address(_FIRST)


def as_array(tensor: Any) -> Any:
    """An array in the memory of a plain tensor, to read while that lives: what is shared copy-on-write stays so."""
    memory = torch._C._data_address(tensor)  # of its storage
    return _array(tensor, memory + tensor.storage_offset() * tensor.element_size())


def as_writable_array(tensor: Any) -> Any:
    """The same, to write to."""
    return _array(tensor, tensor.data_ptr())


def _array(tensor: Any, address: int) -> Any:
    if address == 0:  # it has no elements
        return np.empty(tensor.shape, DTYPES[tensor.dtype])
    size = tensor.element_size()
    strides = [size * stride for stride in tensor.stride()]
    return np.ndarray(tensor.shape, DTYPES[tensor.dtype], _MEMORY, address - _FIRST, strides)


def as_tensor(array: Any) -> Any:
    """A tensor that shares the memory of an array, and returns it to backslice's pool when it dies.

    That may be on a thread of PyTorch's after Python has ended, which tensors from `torch.from_numpy` do not survive.
    """
    return torch.from_dlpack(to_dlpack(array))
