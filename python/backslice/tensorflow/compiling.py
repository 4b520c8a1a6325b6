"""Kernels that are compiled on this machine: TensorFlow's C++ headers, which they need, change with its version.

>>> library = load(build())
>>> library.register("")

What was compiled is kept in the user's cache, one library per version of TensorFlow, of backslice and of the compiler.
"""

import ctypes
import hashlib
import importlib
import os
import platform
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import backslice

from . import compiler, private_cache
from .compiler import BuildError

__all__ = ["KERNELS", "BuildError", "available", "build", "load"]

KERNELS = (
    "RaggedTensorToVariant",
    "RaggedTensorFromVariant",
    "RaggedTensorToVariantGradient",
    "TensorArrayV3",
    "TensorArrayGradV3",
    "TensorArrayGradWithShape",
    "TensorArrayWriteV3",
    "TensorArrayReadV3",
    "TensorArrayGatherV3",
    "TensorArrayScatterV3",
    "TensorArrayConcatV3",
    "TensorArraySplitV3",
)

_loaded: "Library | None" = None


class Library:
    """The loaded library. Raises OSError if it cannot be loaded."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        self.path = path
        self._register = library.backslice_tensorflow_register
        self._register.restype, self._register.argtypes = None, [ctypes.c_char_p]
        self._calls = library.backslice_tensorflow_calls
        self._calls.restype, self._calls.argtypes = ctypes.c_int64, [ctypes.c_char_p]

    def register(self, label: str) -> None:
        """Register the kernels under a label, or in front of TensorFlow's own if it is empty. Once per label."""
        self._register(label.encode())

    def calls(self, op: str) -> int:
        """Return how many calls of an op there were, without those of self-tests."""
        return int(self._calls(op.encode()))


def build(progress: bool = True) -> Path:
    """Compile the kernels, unless that was done before.

    Parameters
    ----------
    progress : bool
        Tell on the standard error output what is being done.

    Returns
    -------
    pathlib.Path
        The library, for :func:`load`.

    Raises
    ------
    BuildError
        There is no compiler, or it failed. The message says which, and what to do.
    """
    arguments = _arguments()
    name = _name(arguments)
    try:
        with private_cache.locked(name):
            return private_cache.find(name) or _compile(arguments, name, progress)
    except (private_cache.NotPrivateError, OSError) as error:
        raise BuildError(str(error)) from error


def available() -> tuple[Path | None, str]:
    """Find the library that :func:`build` made, without building it.

    Returns
    -------
    path : pathlib.Path or None
        The library; None if there is none that fits.
    reason : str
        Why there is none.
    """
    try:
        path = private_cache.find(_name(_arguments()))
    except (BuildError, private_cache.NotPrivateError, OSError) as error:
        return None, str(error).splitlines()[0]
    return path, "" if path else "not compiled yet: call backslice.tensorflow.build()"


def load(path: Path) -> Library:
    """Load a library, once per process.

    Raises
    ------
    BuildError
        The library cannot be loaded.
    """
    global _loaded
    if _loaded is not None and _loaded.path != path:
        raise BuildError(f"{_loaded.path} is loaded already, and holds until the process ends: start a new one")
    if _loaded is None:
        try:
            _loaded = Library(path)
        except (OSError, AttributeError) as error:
            raise BuildError(f"{path} cannot be loaded: {error}") from None
    return _loaded


def _arguments() -> list[str]:
    """Return the compiler's arguments. Checks everything that they depend on."""
    if sys.platform != "linux":
        raise BuildError(f"the kernels are for Linux, and this is {sys.platform}")
    include, library = _c_interface()
    return compiler.arguments(_tensorflow(), include, library)


def _c_interface() -> tuple[str, str]:
    """Its headers and the library, which an extension module that has all of it inside does not have."""
    try:
        return backslice.get_include(), backslice.get_library()
    except backslice.Error as error:
        raise BuildError(f"this build of backslice has no shared library: {error}") from None


def _tensorflow() -> Any:
    return importlib.import_module("tensorflow")


def _name(arguments: list[str]) -> str:
    """A file name that differs wherever the library would."""
    tf = _tensorflow()
    key = hashlib.sha256()
    for part in (
        backslice.__version__, tf.version.GIT_VERSION, tf.version.COMPILER_VERSION, platform.machine(),
        compiler.find().version, *compiler.find().command, *arguments,
    ):  # fmt: skip
        key.update(str(part).encode() + b"\0")
    for path in sorted([*compiler.SOURCES.iterdir(), *Path(_c_interface()[0]).rglob("*.h")]):
        key.update(path.read_bytes())
    return f"kernels-{tf.__version__}-{key.hexdigest()[:16]}.so"


def _compile(arguments: list[str], name: str, progress: bool) -> Path:
    path = private_cache.folder() / name
    with tempfile.TemporaryDirectory(dir=private_cache.folder()) as folder, _Progress(progress):
        made = Path(folder) / name
        compiler.find().compile(arguments, made)
        made.chmod(0o700)
        os.replace(made, path)  # others see all of it or nothing
    return path


class _Progress:
    """Print one line on standard error, with the elapsed seconds if it is a terminal."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._done = threading.Event()
        self._start = time.monotonic()
        self._text = (
            f"Compiling backslice's kernels for TensorFlow {_tensorflow().__version__} with {compiler.find().name}"
            " (once, about half a minute)"
        )

    def __enter__(self) -> None:
        if self._shown:
            print(f"{self._text} ...", end="" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
            self._clock = threading.Thread(target=self._tell_time, daemon=True)
            self._clock.start()

    def _tell_time(self) -> None:
        while not self._done.wait(1) and sys.stderr.isatty():
            print(f"\r{self._text} ... {self._seconds()} s", end="", file=sys.stderr, flush=True)

    def _seconds(self) -> int:
        return round(time.monotonic() - self._start)

    def __exit__(self, kind: Any, *_: object) -> None:
        if self._shown:
            self._done.set()
            self._clock.join()
            end = "failed" if kind else "done"
            print(
                f"{chr(13) if sys.stderr.isatty() else ''}{self._text}: {end} after {self._seconds()} s",
                file=sys.stderr,
            )
