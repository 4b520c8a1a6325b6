"""Reading arrays: .npy (memory-mapped), file.npz:name, file.safetensors:name, and - for standard input."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from . import Failure, Usage, check_text, npy_files, npz_files
from .dtypes import named
from .streams import standard_input

FORMATS = (".npy", ".npz", ".safetensors")


def split_name(text: str) -> tuple[Path, str | None]:
    """Split file.npz:name into its two parts. Any other colon belongs to the file name."""
    for suffix in FORMATS:
        head, colon, name = text.rpartition(suffix + ":")
        if colon:
            return Path(head + suffix), name
    return Path(text), None


def read_array(text: str, dtype: str | None = None) -> NDArray[Any]:
    """Read one array. It gets the user's dtype if the file cannot store dtypes."""
    if text == "-":
        with standard_input() as stream:
            return named(npy_files.read_stream(stream, "standard input"), dtype, "standard input")
    path, name = split_name(text)
    check_format(path, name)
    check_file(path)
    if path.suffix == ".npy":
        array = npy_files.read_path(path)
    elif path.suffix == ".npz":
        array = npz_files.read(path, name).popitem()[1]
    else:
        from . import safetensors_files as files

        array = files.read(path, npz_files.the_one(path, files.names_in(path), name))
    return named(array, dtype, text)


def is_array_file(text: str) -> bool:
    """Return whether this names an array that `read_array` reads, rather than a function or a folder."""
    return text == "-" or split_name(text)[0].suffix in FORMATS


def check_format(path: Path, name: str | None) -> None:
    if path.suffix not in FORMATS:
        kind = path.suffix or "no suffix"
        raise Usage(f"{path}: {kind} is not a supported format: use {', '.join(FORMATS)}, or - for a pipe")
    if name is None:
        return
    if path.suffix == ".npy":
        raise Usage(f"{path} holds one array without a name: leave out ':{name}'")
    if not name:
        raise Usage(f"{path}: has no name after its colon: write {path}:NAME, or leave out the colon")
    check_text(name, "the name of the array")


def read_arrays(text: str) -> dict[str, NDArray[Any]]:
    """Read all arrays of an .npz file, or of one on standard input."""
    path = Path(text)
    if text != "-":
        check_file(path)
    return npz_files.read(path)


def check_file(path: Path) -> None:
    if path.is_dir():
        raise Failure(f"{path} is a folder, not a file")
    if not path.exists():
        raise Failure(f"{path} does not exist")
