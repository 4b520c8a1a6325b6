"""The .npz format: a zip archive with one .npy file per array."""

import collections
import errno
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray

from ..units import human_bytes
from . import Failure, Usage, npy_files, quoted
from .memory import MAPPED, available_memory, must_fit
from .streams import standard_input

PIECE = 1 << 20
MAX_NAME = 65_535 - len(".npy")  # a zip archive stores the length of a name in two bytes


def check_name(name: str) -> None:
    """Refuse names that cannot be members, or would overwrite other files when the archive is unpacked."""
    if any(part in name for part in ("/", "\\", "\0")) or name == "..":
        raise Usage(f"{quoted(name)} cannot be the name of an array in an .npz file: leave out / \\ and ..")
    if len(name.encode()) > MAX_NAME:
        raise Usage(f"{quoted(name)} is too long for the name of an array in an .npz file: at most {MAX_NAME} bytes")


def write(path: Path, name: str, array: NDArray[Any]) -> None:
    with zipfile.ZipFile(path, "w") as archive, archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        npy_files.write_stream(member, array)


def read(path: Path, *wanted: str | None) -> dict[str, NDArray[Any]]:
    """Read arrays by their names: all, or only the wanted ones (None: the only array); - is standard input."""
    if str(path) == "-":
        with standard_input() as stream:
            return _read(_whole(stream), Path("standard input"), *wanted)
    return _read(path, path, *wanted)


def _whole(stream: IO[bytes]) -> IO[bytes]:
    """Read all of an archive, since its table of contents comes last. Refuse other input early, and input that does not
    fit."""
    start, most = stream.read(4), available_memory()
    if start not in (b"PK\3\4", b"PK\5\6"):  # the second one starts an empty archive
        raise Failure("standard input is not an .npz file: it does not start as a zip archive does")
    too_much = Failure(
        f"standard input has more bytes than fit in memory, {human_bytes(most)}: save them in a file and name that"
    )
    archive = io.BytesIO()
    archive.write(start)
    try:
        while piece := stream.read(PIECE):
            if archive.tell() + len(piece) > most:
                raise too_much
            archive.write(piece)
    except MemoryError:  # the buffer is moved while it grows
        raise too_much from None
    return archive


def _read(file: Path | IO[bytes], path: Path, *wanted: str | None) -> dict[str, NDArray[Any]]:
    with _archive_errors(path), zipfile.ZipFile(file) as archive:
        names = [member.removesuffix(".npy") for member in archive.namelist() if member.endswith(".npy")]
        twice = next((name for name, count in collections.Counter(names).items() if count > 1), None)
        if twice is not None:
            raise Failure(f"{path} holds {quoted(twice)} twice: write it again with each name once")
        chosen = [the_one(path, names, name) for name in wanted] if wanted else names
        for name in chosen:
            size = archive.getinfo(f"{name}.npy").file_size
            must_fit(size, f"{path}:{name}", f"save the array as an .npy file, {MAPPED}")
        return {name: _member(archive, name, f"{path}:{name}") for name in chosen}


def _member(archive: zipfile.ZipFile, name: str, where: str) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as member:
        return npy_files.read_stream(member, where, archive.getinfo(f"{name}.npy").file_size)


def the_one(path: Path, names: list[str], name: str | None) -> str:
    if name is None and len(names) == 1:
        return names[0]
    if name in names:
        return str(name)
    shown = ", ".join(sorted(names)[:8]) + (", ..." if len(names) > 8 else "")
    problem = f"has no array {quoted(name)}" if name else f"holds {len(names)} arrays: name one, {path}:NAME"
    raise Failure(f"{path} {problem}; it holds {shown or 'nothing'}")


@contextmanager
def _archive_errors(path: Path) -> Iterator[None]:
    """Report errors of Python's reader as a damaged archive: it raises almost any exception on one."""
    try:
        yield
    except (Failure, MemoryError):
        raise
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # EINVAL: a seek to before the start
            raise
        raise Failure(f"{path} is not a complete .npz file: {error}") from None
    except (RuntimeError, NotImplementedError) as error:  # a password, or an unknown compression
        raise Failure(f"{path} is not an .npz file that NumPy would write: {error}") from None
    except Exception as error:
        raise Failure(f"{path} is not a complete .npz file: {error}") from None
