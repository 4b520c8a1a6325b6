"""What the Python package alone calls."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .types import Array, DType, Index, Output, Shape

__version__: str

def _register(**objects: Any) -> None: ...
def _numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """Compute ``numpy.dtype(dtype)``, also of dtypes of TensorFlow and PyTorch."""

def _dlpack_capsule(array: NDArray[Any], versioned: bool, is_copy: bool) -> Any:
    """Export the memory of an array as a DLPack capsule."""

def _slice_grad_into_zeros(dy: Array, shape: Shape, index: Index, out: Output) -> None:
    """Compute ``slice_grad(dy, shape, index, out=out)`` where `out` is all zero already."""

def _set_serial(serial: bool) -> bool:
    """Let the operations that this thread calls run on it alone, or on all threads again; return what was set."""

def _uninitialised(shape: Shape, like: NDArray[Any]) -> NDArray[Any]:
    """Make an array with the dtype of `like`, in memory such as results get; it holds anything until it is filled."""

def probe_memory(dst: NDArray[Any] | None, src: NDArray[Any] | None, streaming: bool) -> None:
    """Zero, copy or read memory as fast as the machine can: the yardstick of the benchmark.

    Parameters
    ----------
    dst : ndarray or None
        A C-contiguous array: where zeros or the bytes of `src` go. None
        only reads `src`.
    src : ndarray or None
        A C-contiguous array as large as `dst`. None writes zeros.
    streaming : bool
        Write past the caches.
    """

def exit_on_bus_error(message: bytes, unfinished: bytes) -> None:
    """End the process in good order when a mapped file becomes shorter.

    From now on, SIGBUS removes the unfinished file, writes the message to
    standard error and ends the process with exit code 1.

    Parameters
    ----------
    message : bytes
        At most 4096 bytes.
    unfinished : bytes
        The path of the file to remove; empty for none.
    """

def environment_problems() -> list[str]:
    """Return what is wrong with BACKSLICE_NUM_THREADS and BACKSLICE_FORCE_TARGET.

    Returns
    -------
    list of str
        What the first operation would say; empty if nothing is wrong.
    """
