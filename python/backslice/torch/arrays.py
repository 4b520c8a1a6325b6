"""Tensors as the arrays that backslice takes, and back, without copies, for every dtype."""

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
TYPE_CODES = {d: d.str if d.isbuiltin == 1 else f"<V{d.itemsize}" for d in DTYPES.values()}


def is_plain(tensor: Any) -> bool:
    """Whether it is an ordinary dense tensor on the CPU: of no subclass, not sparse, not quantised."""
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.dtype in DTYPES
        and tensor.layout is torch.strided
        and tensor.device.type == "cpu"
        and not (tensor.is_conj() or tensor.is_neg() or tensor._is_zerotensor())
    )


class Memory:
    """A tensor's memory, for NumPy, which keeps this object as long as it needs the memory."""

    __slots__ = ("__array_interface__", "_tensor")

    def __init__(self, tensor: Any, address: int, type_code: str) -> None:
        self._tensor = tensor
        size = tensor.element_size()
        self.__array_interface__ = {
            "data": (address, False),
            "shape": tuple(tensor.shape),
            "strides": tuple([size * stride for stride in tensor.stride()]),
            "typestr": type_code,
            "version": 3,
        }


def as_array(tensor: Any) -> Any:
    """An array that shares the memory of a plain tensor, to read: what is copied on write is not copied for that."""
    memory = torch._C._data_address(tensor)  # of its storage
    return _array(tensor, memory + tensor.storage_offset() * tensor.element_size())


def as_writable_array(tensor: Any) -> Any:
    """The same, to write to."""
    return _array(tensor, tensor.data_ptr())


def _array(tensor: Any, address: int) -> Any:
    dtype = DTYPES[tensor.dtype]
    array = np.asarray(Memory(tensor, address, TYPE_CODES[dtype]))
    return array if dtype.isbuiltin == 1 else array.view(dtype)


def as_tensor(array: Any) -> Any:
    """A tensor that shares the memory of an array, and returns it to backslice's pool when it dies."""
    if array.dtype.isbuiltin == 1:
        return torch.from_numpy(array)
    return torch.from_dlpack(to_dlpack(array))
