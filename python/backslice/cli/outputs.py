"""Writing arrays: to a temporary file beside the target, renamed when it is complete. A failed run keeps the old file.

An .npy result is a memory-mapped file whose space is reserved first. So it may be larger than memory, and a full disk
is an error before any computation. Other formats are made in memory and must fit.
"""

import errno
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from . import Failure, Usage, leaving, npy_files, npz_files, temporary
from .dtypes import dtype_name
from .inputs import check_format, split_name
from .memory import MAPPED, must_fit
from .streams import standard_output

Fill = Callable[[NDArray[Any]], None]


class Stopwatch:
    """Measures the time of a with block."""

    def __enter__(self) -> "Stopwatch":
        self.began = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self.began


@dataclass(frozen=True)
class Output:
    """The destination of a result."""

    path: Path | None  # None: standard output
    name: str  # name of the array, in formats with names
    force: bool

    @property
    def text(self) -> str:
        return "standard output" if self.path is None else str(self.path)

    def write(self, shape: tuple[int, ...], dtype: np.dtype[Any], fill: Fill) -> None:
        """Make an array of zeros and let `fill` write it."""
        if self.path is not None and self.path.suffix == ".npy":
            with replacing(self.path, self.force) as path:
                _write_npy(path, shape, dtype, fill)
            return
        must_fit(math.prod(shape) * dtype.itemsize, f"the result for {self.text}", f"write an .npy file, {MAPPED}")
        array = np.zeros(shape, dtype)
        fill(array)
        self.write_array(array)

    def write_array(self, array: NDArray[Any]) -> None:
        """Write an array that is already in memory."""
        if self.path is None:
            _write_to_standard_output(array)
            return
        with replacing(self.path, self.force) as path:
            if self.path.suffix == ".npy":
                _write_npy(path, array.shape, array.dtype, lambda out: np.copyto(out, array))
            elif self.path.suffix == ".npz":
                npz_files.write(path, self.name, array)
            else:
                from . import safetensors_files

                safetensors_files.write(path, self.name, array)

    def report(self, shape: Sequence[int], dtype: np.dtype[Any], selected: int, seconds: float) -> dict[str, Any]:
        """Return what was done, for --json and for people."""
        return {
            "output": self.text,
            "shape": list(shape),
            "dtype": dtype_name(dtype),
            "bytes": math.prod(shape) * dtype.itemsize,
            "selected": selected,
            "seconds": seconds,
        }


def output_at(text: str, force: bool, name: str) -> Output:
    """Check everything possible before any work: format, folder, and that nothing is overwritten."""
    if text == "-":
        standard_output()
        return Output(None, name, force)
    path, given = split_name(text)
    check_format(path, given)
    if path.suffix == ".npz":
        npz_files.check_name(given or name)
    if path.suffix == ".safetensors" and given == "__metadata__":
        raise Usage("'__metadata__' cannot be the name of an array: the safetensors format keeps it for notes")
    check_target(path, force)
    return Output(path, given or name, force)


def check_target(path: Path, force: bool) -> None:
    if path.exists() and not path.is_file():
        raise Failure(f"{path} is not a file that can be overwritten; - writes to standard output")
    if path.exists() and not force:
        raise _exists(path)
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise Failure(f"the folder {folder} does not exist: make it first")
    if not os.access(folder, os.W_OK):
        raise Failure(f"the folder {folder} cannot be written to")


def _exists(path: Path) -> Failure:
    return Failure(f"{path} exists; --force overwrites it")


@contextmanager
def replacing(path: Path, force: bool) -> Iterator[Path]:
    """Yield a temporary file beside the target. It replaces the target at the end, and is removed after any error."""
    check_target(path, force)
    target = Path(os.path.realpath(path))  # a link is followed: its file is replaced
    temporary.remove_stale(target)
    try:
        with temporary.beside(target) as made:
            yield made
            os.chmod(made, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            _move(made, target, force)
            leaving.written(path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise Failure(f"no space left for {path}: {error.strerror}; nothing was written") from None
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _move(made: Path, target: Path, force: bool) -> None:
    if force:
        os.replace(made, target)
        return
    try:
        os.link(made, target)  # unlike a rename, this fails if the file has been made meanwhile
    except FileExistsError:
        raise _exists(target) from None
    except OSError:  # a file system without hard links
        if target.exists():
            raise _exists(target) from None
        os.replace(made, target)


def _write_npy(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], fill: Fill) -> None:
    count = math.prod(shape)
    with path.open("wb") as file:
        npy.write_array_header_1_0(file, npy_files.header(shape, dtype))
        offset = file.tell()
        file.flush()
        if count * dtype.itemsize == 0:
            return
        os.posix_fallocate(file.fileno(), 0, offset + count * dtype.itemsize)
    mapped = np.memmap(path, npy_files.file_dtype(dtype), "r+", offset, shape)
    fill(mapped.view(np.ndarray).view(dtype))
    mapped.flush()


def _write_to_standard_output(array: NDArray[Any]) -> None:
    stream = standard_output()
    try:
        npy_files.write_stream(stream, array)
        stream.flush()
    except OSError as error:
        raise Failure(f"standard output: {error.strerror}: the array is incomplete") from None
