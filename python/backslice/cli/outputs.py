"""Writing arrays: to a temporary file beside the target, renamed when it is whole. A failed run leaves what was there.

An .npy result is a memory-mapped file whose space is reserved first, so that it may be larger than memory, and so that
a full disk is an error before anything is computed. The others are made in memory and must fit.
"""

import errno
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from . import Failure, Usage
from .dtypes import dtype_name
from .inputs import check_format, split_name
from .memory import must_fit

Fill = Callable[[NDArray[Any]], None]


class Stopwatch:
    """Times a with block."""

    def __enter__(self) -> "Stopwatch":
        self.began = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self.began


@dataclass(frozen=True)
class Output:
    """Where a result goes."""

    path: Path | None  # None: standard output
    name: str  # of the array, in formats that name them
    force: bool

    @property
    def text(self) -> str:
        return "standard output" if self.path is None else str(self.path)

    def write(self, shape: tuple[int, ...], dtype: np.dtype[Any], fill: Fill) -> None:
        """Makes an array of zeros and lets `fill` write it."""
        if self.path is not None and self.path.suffix == ".npy":
            with replacing(self.path, self.force) as path:
                _write_npy(path, shape, dtype, fill)
            return
        must_fit(math.prod(shape) * dtype.itemsize, f"the result for {self.text}", "write an .npy file")
        array = np.zeros(shape, dtype)
        fill(array)
        self.write_array(array)

    def write_array(self, array: NDArray[Any]) -> None:
        """An array that is in memory already."""
        if self.path is None:
            npy.write_array(sys.stdout.buffer, _raw(array), allow_pickle=False)
            return
        with replacing(self.path, self.force) as path:
            if self.path.suffix == ".npy":
                _write_npy(path, array.shape, array.dtype, lambda out: np.copyto(out, array))
            elif self.path.suffix == ".npz":
                with path.open("wb") as file:
                    np.savez(file, **{self.name: _raw(array)})  # type: ignore[arg-type]
            else:
                from . import safetensors_files

                safetensors_files.write(path, self.name, array)

    def report(self, shape: Sequence[int], dtype: np.dtype[Any], selected: int, seconds: float) -> dict[str, Any]:
        """What was done, for --json and for people."""
        return {
            "output": self.text,
            "shape": list(shape),
            "dtype": dtype_name(dtype),
            "bytes": math.prod(shape) * dtype.itemsize,
            "selected": selected,
            "seconds": seconds,
        }


def output_at(text: str, force: bool, name: str) -> Output:
    """Checks what can be checked before any work: format, folder, and that nothing is overwritten."""
    if text == "-":
        if sys.stdout.isatty():
            raise Usage("standard output is a terminal: redirect it, or write to a file with -o dx.npy")
        return Output(None, name, force)
    path, given = split_name(text)
    check_format(path, given)
    check_target(path, force)
    return Output(path, given or name, force)


def check_target(path: Path, force: bool) -> None:
    if path.exists() and not path.is_file():
        raise Failure(f"{path} is not a file that can be replaced; - writes to standard output")
    if path.exists() and not force:
        raise _exists(path)
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise Failure(f"the folder {folder} does not exist: make it first")
    if not os.access(folder, os.W_OK):
        raise Failure(f"the folder {folder} cannot be written to")


def _exists(path: Path) -> Failure:
    return Failure(f"{path} exists; --force replaces it")


@contextmanager
def replacing(path: Path, force: bool) -> Iterator[Path]:
    """A temporary file beside the target, which takes its place at the end; it is removed if anything goes wrong."""
    check_target(path, force)
    target = Path(os.path.realpath(path))  # through a link, the file it points to is replaced
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:200]}.", suffix=".part", dir=target.parent)
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        _move(name, target, force)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise Failure(f"no space left for {path}: {error.strerror}; nothing was written") from None
        raise
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _move(name: str, target: Path, force: bool) -> None:
    if force:
        os.replace(name, target)
        return
    try:
        os.link(name, target)  # unlike a rename, this fails where somebody made the file meanwhile
    except FileExistsError:
        raise _exists(target) from None
    except OSError:  # a file system without links
        if target.exists():
            raise _exists(target) from None
        os.replace(name, target)


def _write_npy(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], fill: Fill) -> None:
    count = math.prod(shape)
    if count * dtype.itemsize == 0:
        with path.open("wb") as file:
            npy.write_array(file, _raw(np.zeros(shape, dtype)), allow_pickle=False)
        return
    with path.open("wb") as file:
        header = {"descr": npy.dtype_to_descr(_file_dtype(dtype)), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(file, header)
        offset = file.tell()
        file.flush()
        os.posix_fallocate(file.fileno(), 0, offset + count * dtype.itemsize)
    mapped = np.memmap(path, _file_dtype(dtype), "r+", offset, shape)
    fill(mapped.view(np.ndarray).view(dtype))
    mapped.flush()


def _file_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What stands in an .npy file: raw items for the dtypes that NumPy itself does not have."""
    return dtype if dtype.isbuiltin != 2 else np.dtype((np.void, dtype.itemsize))


def _raw(array: NDArray[Any]) -> NDArray[Any]:
    return array.view(_file_dtype(array.dtype))
