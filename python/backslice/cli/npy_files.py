"""The .npy format, strictly by its specification. Files on which NumPy's reader would guess, or which it would accept
by oversight, are refused."""

import ast
import math
import os
import stat
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from . import Failure, leaving, quoted
from .memory import MAPPED, must_fit

LENGTH_BYTES_AND_ENCODING: dict[tuple[int, ...], tuple[int, str]] = {
    (1, 0): (2, "latin1"),
    (2, 0): (4, "latin1"),
    (3, 0): (4, "utf8"),
}
MAX_HEADER = 10_000  # NumPy's own limit: its parser could crash on longer ones
SMALL = 1 << 16  # mapping a page costs more than reading it


class Layout(NamedTuple):
    """The content of an .npy file's header."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: Literal["C", "F"]

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


class Malformed(Exception):  # noqa: N818  (the reason of a Failure, before the file's name is known)
    """A defect of a file."""


class Foreign(Malformed):
    """The file is of another kind."""


def read_path(path: Path) -> NDArray[Any]:
    """Return the array of a file: mapped, unless it is small."""
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            return read_stream(file, str(path))
        if found.st_size < SMALL:
            return read_stream(file, str(path), found.st_size)
        try:
            layout = _read_header(file)
            _check_length(found.st_size - file.tell(), layout)
            leaving.mapped(str(path))
            return np.memmap(file, layout.dtype, "r", file.tell(), layout.shape, layout.order).view(np.ndarray)
        except (Malformed, ValueError, OverflowError) as error:
            raise _failure(str(path), error) from None


def read_stream(file: IO[bytes], where: str, size: int | None = None) -> NDArray[Any]:
    """Read the array of a stream, which must end with it. `size` is in bytes, if known. The header is checked first,
    since the rest may be gigabytes, or endless."""
    try:
        layout = _read_header(file)
        _check_extents(layout)
        if size is not None:
            _check_length(size - file.tell(), layout)
    except (Malformed, ValueError, OverflowError) as error:
        raise _failure(where, error) from None
    must_fit(layout.nbytes, f"the array in {where}", f"save it as an .npy file, {MAPPED}")
    data = file.read(layout.nbytes + 1)
    if len(data) > layout.nbytes:
        raise _failure(where, Malformed(f"at least {len(data)} bytes follow its header, {layout.nbytes} are needed"))
    if len(data) < layout.nbytes:
        raise _failure(where, Malformed(f"{len(data)} bytes follow its header, {layout.nbytes} are needed"))
    return np.ndarray(layout.shape, layout.dtype, data, order=layout.order)


def write_stream(file: IO[bytes], array: NDArray[Any]) -> None:
    """Write to files and pipes alike by plain writes, whose errors are precise."""
    items = np.ascontiguousarray(array).view(file_dtype(array.dtype))
    npy.write_array_header_1_0(file, header(array.shape, array.dtype))
    file.write(items.reshape(-1).view(np.uint8).data if items.size else b"")


def header(shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    return {"descr": npy.dtype_to_descr(file_dtype(dtype)), "fortran_order": False, "shape": shape}


def file_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the array as stored in an .npy file: as raw items if NumPy itself does not have the dtype."""
    return dtype if dtype.isbuiltin != 2 else np.dtype((np.void, dtype.itemsize))


def _failure(where: str, error: Exception) -> Failure:
    return Failure(f"{where} is not {'an' if isinstance(error, Foreign) else 'a complete'} .npy file: {error}")


def _check_extents(layout: Layout) -> None:
    """Raise ValueError for ranks and extents that NumPy does not support."""
    np.ndarray(layout.shape, layout.dtype, bytes(layout.dtype.itemsize), strides=(0,) * len(layout.shape))
    if 0 in layout.shape:
        np.empty(layout.shape, layout.dtype)


def _check_length(length: int, layout: Layout) -> None:
    if length != layout.nbytes:
        raise Malformed(f"{length} bytes follow its header, {layout.nbytes} are needed")


def _read_header(file: IO[bytes]) -> Layout:
    fields = _read_fields(file)
    if not isinstance(fields, dict) or set(fields) != {"descr", "fortran_order", "shape"}:
        raise Malformed(f"its header is {quoted(fields)}, expected a dict of descr, fortran_order and shape")
    order, shape = fields["fortran_order"], fields["shape"]
    if not isinstance(order, bool):
        raise Malformed(f"its fortran_order is {quoted(order)}, expected True or False")
    if not isinstance(shape, tuple) or not all(type(n) is int and 0 <= n < 1 << 63 for n in shape):
        raise Malformed(f"its shape is {quoted(shape)}, expected a tuple of extents from 0 to 2**63 - 1")
    return Layout(shape, _dtype(fields["descr"]), "F" if order else "C")


def _read_fields(file: IO[bytes]) -> Any:
    magic, version = file.read(6), tuple(file.read(2))
    if magic != b"\x93NUMPY":
        raise Foreign("it does not start with NumPy's magic bytes")
    if len(version) < 2:
        raise Malformed("it ends before its version")
    if version not in LENGTH_BYTES_AND_ENCODING:
        raise Malformed(f"its version is {'.'.join(map(str, version))}, expected 1.0, 2.0 or 3.0")
    length_bytes, encoding = LENGTH_BYTES_AND_ENCODING[version]
    length = int.from_bytes(file.read(length_bytes), "little")  # wrong in a truncated file, which the next check finds
    if length > MAX_HEADER:
        raise Malformed(f"its header has {length} bytes, more than any array needs")
    header = file.read(length)
    if len(header) != length:
        raise Malformed("it ends within its header")
    try:
        return ast.literal_eval(header.decode(encoding).strip())
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise Malformed("its header cannot be read") from None


def _dtype(descr: Any) -> np.dtype[Any]:
    if descr in ("<f1", "|f1"):  # a float8, which NumPy writes and cannot read: raw bytes
        return np.dtype("V1")
    try:
        dtype = npy.descr_to_dtype(descr)
    except Exception:
        raise Malformed(f"its descr is {quoted(descr)}, which is not a dtype") from None
    if dtype.hasobject:
        raise Malformed("it holds Python objects, which only pickle can read: save it with a plain dtype")
    if dtype.subdtype is not None or dtype.itemsize == 0:
        raise Malformed(f"its descr is {quoted(descr)}, expected items of one or more bytes without a shape")
    return dtype
