"""Reading arrays: .npy (memory-mapped), file.npz:name, file.safetensors:name, and - for standard input."""

import ast
import io
import math
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from . import Failure, Usage
from .dtypes import named
from .memory import must_fit

FORMATS = (".npy", ".npz", ".safetensors")
MAX_HEADER = 10_000  # as NumPy has it: longer ones could be made to crash the parser


def split_name(text: str) -> tuple[Path, str | None]:
    """file.npz:name into its two parts. A colon elsewhere belongs to the file."""
    for suffix in FORMATS:
        head, colon, name = text.rpartition(suffix + ":")
        if colon and name:
            return Path(head + suffix), name
    return Path(text), None


def read_array(text: str, dtype: str | None = None) -> NDArray[Any]:
    """One array, with the dtype that the user names where the file cannot."""
    if text == "-":
        return named(_read_npy(io.BytesIO(_standard_input()), "standard input"), dtype, "standard input")
    path, name = split_name(text)
    check_format(path, name)
    _check_file(path)
    if path.suffix == ".npy":
        array = _map_npy(path)
    elif path.suffix == ".npz":
        array = read_npz(path, name).popitem()[1]
    else:
        from . import safetensors_files as files

        array = files.read(path, _the_one(path, files.names_in(path), name))
    return named(array, dtype, text)


def is_array_file(text: str) -> bool:
    """Whether this names an array that `read_array` reads, as opposed to a function or a folder."""
    return text == "-" or split_name(text)[0].suffix in FORMATS


def check_format(path: Path, name: str | None) -> None:
    if path.suffix not in FORMATS:
        kind = path.suffix or "no suffix"
        raise Usage(f"{path}: {kind} is not a format; they are {', '.join(FORMATS)}, and - for a pipe")
    if name is not None and path.suffix == ".npy":
        raise Usage(f"{path} holds one array without a name: leave out ':{name}'")


def read_npz(path: Path, *wanted: str | None) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file by their names, all or those that are wanted (None: the only one); - is a pipe."""
    is_pipe = str(path) == "-"
    if not is_pipe:
        _check_file(path)
    try:
        with zipfile.ZipFile(io.BytesIO(_standard_input()) if is_pipe else path) as archive:
            names = [member.removesuffix(".npy") for member in archive.namelist() if member.endswith(".npy")]
            chosen = [_the_one(path, names, name) for name in wanted] if wanted else names
            for name in chosen:
                size = archive.getinfo(f"{name}.npy").file_size
                must_fit(size, f"{path}:{name}", "save the array as an .npy file")
            return {name: _read_npy(archive.open(f"{name}.npy"), f"{path}:{name}") for name in chosen}
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise Failure(f"{path} is not a whole .npz file: {error}") from None
    except (RuntimeError, NotImplementedError) as error:  # a password, a compression that Python does not have
        raise Failure(f"{path} is not an .npz file that NumPy would write: {error}") from None


def _the_one(path: Path, names: list[str], name: str | None) -> str:
    if name is None and len(names) == 1:
        return names[0]
    if name in names:
        return str(name)
    shown = ", ".join(sorted(names)[:8]) + (", ..." if len(names) > 8 else "")
    problem = f"has no array {name!r}" if name else f"holds {len(names)} arrays: say which, {path}:NAME"
    raise Failure(f"{path} {problem}; it holds {shown or 'nothing'}")


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise Failure(f"{path} is a folder, not a file")
    if not path.exists():
        raise Failure(f"{path} does not exist")


def _map_npy(path: Path) -> NDArray[Any]:
    with path.open("rb") as file, _npy_errors(str(path)):
        if path.stat().st_size < 1 << 16:  # mapping a page costs more than reading it
            return _read_npy(file, str(path))
        layout = _read_header(file, str(path))
        return np.memmap(path, layout.dtype, "r", file.tell(), layout.shape, layout.order).view(np.ndarray)


def _read_npy(file: IO[bytes], where: str) -> NDArray[Any]:
    with _npy_errors(where):
        layout = _read_header(file, where)
        data = file.read()
        needed = math.prod(layout.shape) * layout.dtype.itemsize
        if len(data) != needed:
            raise ValueError(f"{len(data)} bytes follow its header, {needed} are needed")
        return np.ndarray(layout.shape, layout.dtype, data, order=layout.order)


class Layout(NamedTuple):
    """What the header of an .npy file says."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: Literal["C", "F"]


def _read_header(file: IO[bytes], where: str) -> Layout:
    """NumPy's own reader, except for the float8 that NumPy writes and cannot read: that is taken as raw bytes."""
    version = npy.read_magic(file)
    length = int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")
    if length > MAX_HEADER:
        raise ValueError(f"its header has {length} bytes, more than any array needs")
    header = file.read(length)
    if len(header) != length:
        raise ValueError("the file ends within its header")
    try:
        fields = ast.literal_eval(header.decode("latin1" if version < (3, 0) else "utf8").strip())
    except (SyntaxError, MemoryError, RecursionError):
        raise ValueError("its header cannot be read") from None
    descr, order, shape = fields["descr"], fields["fortran_order"], fields["shape"]
    dtype = np.dtype("V1") if descr in ("<f1", "|f1") else npy.descr_to_dtype(descr)
    if dtype.hasobject:
        raise Failure(f"{where} holds Python objects, which only pickle can read: save it with a plain dtype")
    if not isinstance(shape, tuple) or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise ValueError(f"its shape is {shape!r}")
    return Layout(shape, dtype, "F" if order else "C")


@contextmanager
def _npy_errors(where: str) -> Iterator[None]:
    """What NumPy says of a bad file, in one line that names it."""
    try:
        yield
    except (ValueError, EOFError, TypeError, KeyError, OverflowError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "magic" in said:
            raise Failure(f"{where} is not an .npy file: it does not start with NumPy's magic bytes") from None
        raise Failure(f"{where} is not a whole .npy file: {said}") from None


def _standard_input() -> bytes:
    if sys.stdin.isatty():
        raise Usage("standard input is a terminal: pipe a file into it, or name one")
    return sys.stdin.buffer.read()
