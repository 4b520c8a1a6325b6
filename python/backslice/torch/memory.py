"""The memory of tensors on the CPU as NumPy arrays, and huge pages for memory that is about to be written."""

import ctypes
import mmap
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch

from .. import slice_grad

# Dtypes of NumPy.
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
# Dtypes of ml_dtypes, and integers of their size, which NumPy can take from an address.
SMALL_FLOATS: dict[Any, tuple[Any, Any]] = {
    torch.bfloat16: (np.dtype(ml_dtypes.bfloat16), np.dtype(np.int16)),
    torch.float8_e4m3fn: (np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(np.uint8)),
    torch.float8_e4m3fnuz: (np.dtype(ml_dtypes.float8_e4m3fnuz), np.dtype(np.uint8)),
    torch.float8_e5m2: (np.dtype(ml_dtypes.float8_e5m2), np.dtype(np.uint8)),
    torch.float8_e5m2fnuz: (np.dtype(ml_dtypes.float8_e5m2fnuz), np.dtype(np.uint8)),
}
MAX_RANK = 32  # of backslice
HUGE_PAGE = 2**21
FEW_BYTES = 2 * HUGE_PAGE  # for which huge pages do not pay


def is_known(tensor: Any) -> bool:
    """Return whether backslice accepts tensors of this dtype and rank."""
    return tensor.dim() <= MAX_RANK and (tensor.dtype in NATIVE or tensor.dtype in SMALL_FLOATS)


class _Memory:
    """The memory of a tensor, for NumPy: `Tensor.numpy()` would make its storage one that cannot be resized."""

    def __init__(self, tensor: Any, dtype: Any) -> None:
        size = dtype.itemsize
        self.tensor = tensor
        self.__array_interface__ = {
            "version": 3,
            "data": (tensor.data_ptr(), False),
            "typestr": dtype.str,
            "shape": tuple(tensor.shape),
            "strides": None if tensor.is_contiguous() else tuple([size * step for step in tensor.stride()]),
        }


def as_array(tensor: Any) -> Any:
    """Return an array in the memory of an ordinary tensor on the CPU, of any strides."""
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    if (dtype := NATIVE.get(tensor.dtype)) is not None:
        return np.asarray(_Memory(tensor, dtype))
    dtype, integers = SMALL_FLOATS[tensor.dtype]
    return np.asarray(_Memory(tensor, integers)).view(dtype)


def gradient(dy: Any, shape: Sequence[int], index: Any) -> Any:
    """Return the gradient of a slice as a new tensor on the CPU, each byte of which is written once."""
    dx = torch.empty(shape, dtype=dy.dtype, device=dy.device)
    expect_writes(dx)
    slice_grad(as_array(dy), tuple(shape), index, out=as_array(dx))
    return dx


def _found_advice() -> Any:
    try:
        function = ctypes.CDLL(None).madvise
    except (AttributeError, OSError, TypeError):
        return None
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return function


_advise = _found_advice() if hasattr(mmap, "MADV_HUGEPAGE") else None


def expect_writes(tensor: Any) -> None:
    """Ask for huge pages: writing fresh memory is mostly page faults. Where the system refuses, nothing changes."""
    if _advise is None or tensor.nbytes < FEW_BYTES or tensor.device.type != "cpu":
        return
    first = tensor.data_ptr()
    begin, end = -(-first // HUGE_PAGE) * HUGE_PAGE, (first + tensor.nbytes) // HUGE_PAGE * HUGE_PAGE
    if begin < end:
        _advise(begin, end - begin, mmap.MADV_HUGEPAGE)
