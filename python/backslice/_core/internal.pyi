"""Functions for the Python package alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .selection import Selection
from .types import Array, CudaDevice, CudaVersions, DType, Index, Output, Shape

__version__: str

def _register(objects: dict[str, Any]) -> None: ...
def _cuda_devices() -> list[CudaDevice]:
    """List the CUDA devices: ordinal, name, capability, bytes of memory and number of multiprocessors."""

def _cuda_versions() -> CudaVersions:
    """The versions of the CUDA runtime that is part of backslice, and of the newest that the driver can run."""

def _numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """Compute ``numpy.dtype(dtype)``, also of dtypes of TensorFlow and PyTorch."""

def _dlpack_capsule(array: NDArray[Any], versioned: bool, is_copy: bool) -> Any:
    """Export the memory of an array as a DLPack capsule."""

def _slice_grad_into_zeros(dy: Array, shape: Shape, index: Index, out: Output) -> None:
    """Compute ``slice_grad(dy, shape, index, out=out)`` where `out` is all zero already."""

def _set_serial(serial: bool) -> bool:
    """Let the operations that this thread calls run on it alone, or on all threads again; return what was set."""

def _register_small_slices(functions: list[int], op: str, file: str, line: int) -> bool:
    """Register the kernel of an op with PyTorch's dispatcher for the CPU; return whether that worked."""

def _remove_small_slices() -> None:
    """Remove all kernels of `_register_small_slices`."""

def _set_small_slices(limit: int) -> None:
    """Let those kernels compute gradients of less bytes."""

def _fail_small_slice(message: str) -> None:
    """Let the kernel that called this operation of PyTorch raise a RuntimeError once it returns."""

def _guard_small_slice(kernel: Any, fail: Any) -> Any:
    """Return a kernel that raises nothing: where `kernel` does, it returns ``fail(error, dy, shape)``."""

def _uninitialised(shape: Shape, like: NDArray[Any]) -> NDArray[Any]:
    """Make an array with the dtype of `like`, in memory such as results get; it holds anything until it is filled."""

def _parse_slice(dialect: str, text: str) -> dict[str, Any]:
    """Read the arguments of TensorFlow's or ONNX's slice from text."""

def _select_text(dialect: str, text: str, shape: Shape) -> Selection:
    """Compute the normal form of a slice that is given as text."""

def _parse_integers(text: str, name: str) -> list[int]:
    """Read a list of integers; `name` is what an error message calls it."""

def _index_text(selection: Selection) -> str:
    """Write the selection as the shortest NumPy index."""

def _code(selection: Selection, dialect: str, gradient: bool) -> str:
    """Write the slice, or its gradient, as code of a dialect."""

def _obstacles(selection: Selection, dialect: str) -> list[str]:
    """Say what a dialect's slice alone cannot express of a selection."""

def _disagreements(dialect: str, arguments: dict[str, Any], shape: Shape, others: tuple[str, ...]) -> list[str]:
    """Say where the same numbers would select something else in other dialects."""

def _picture(selection: Selection, rows: int, columns: int, panels: int, is_dense: bool) -> tuple[Any, ...]:
    """Make the picture of a selection: its title, panels, notes, and whether cells are elements."""

def _cut_axis(extent: int, start: int, step: int, count: int, most: int) -> list[tuple[int, int, int, int]]:
    """Cut an axis into blocks: from, to, how many indices are taken, the position of the first."""

def _rows_picture(splits: list[Any], rows: int, columns: int) -> tuple[Any, ...]:
    """Make the picture of ragged rows, without the texts of their values."""

def _entries_panel(rows: int, columns: int, entries: list[tuple[int, int, bool, str]]) -> tuple[Any, ...]:
    """Make the panel of a sparse matrix from row, column, whether it is taken, and text of its entries."""

def _svg(title: str, panels: list[Any], notes: list[str]) -> str:
    """Draw a picture as SVG."""

def _palette() -> dict[str, str]:
    """Return the colours of pictures."""

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
        The error that the first operation would raise; empty if there is none.
    """
