"""Arrays on CUDA devices: which stream their library works on, and how it makes new ones.

PyTorch and CuPy tell both, so that results are theirs, in their memory, on the stream that the caller chose. Neither is
ever imported here: where an array is theirs, the caller has done so.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

# CUDA's default stream, as DLPack and __cuda_array_interface__ number it.
_DEFAULT_STREAM = 1


def cuda_stream(array: Any, ordinal: int) -> tuple[int, bool]:
    """The stream that the array's library works on now, and whether it keeps the memory that work on it uses."""
    if _is_torch(array):
        return sys.modules["torch"].cuda.current_stream(ordinal).cuda_stream or _DEFAULT_STREAM, True
    if _is_cupy(array):
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(ordinal):
            return cupy.cuda.get_current_stream().ptr or _DEFAULT_STREAM, True
    return _DEFAULT_STREAM, False


def new_cuda_array(array: Any, shape: tuple[int, ...]) -> Any:
    """An uninitialised array of that shape, of the same library, dtype and device; None where that is not known."""
    if _is_torch(array):
        return sys.modules["torch"].empty(shape, dtype=array.dtype, device=array.device)
    if _is_cupy(array):
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(array.device.id):
            return cupy.empty(shape, array.dtype)
    return None


def cuda_interface(array: Any) -> tuple[Any, tuple[int, ...], tuple[int, ...] | None, int, bool, int] | None:
    """The dtype, shape, strides, address, whether it is read-only, and the stream to wait for (0 for none).

    None where the array has no ``__cuda_array_interface__``, or one that says too little.
    """
    described = getattr(array, "__cuda_array_interface__", None)
    if not isinstance(described, dict) or described.get("mask") is not None:
        return None
    try:
        address, read_only = described["data"]
        strides = described.get("strides")
        return (
            np.dtype(described["typestr"]),
            tuple(int(n) for n in described["shape"]),
            None if strides is None else tuple(int(n) for n in strides),
            int(address),
            bool(read_only),
            int(described.get("stream") or 0),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _is_torch(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def _is_cupy(array: Any) -> bool:
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(array, cupy.ndarray)
