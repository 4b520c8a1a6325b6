"""The kernels that are compiled on this machine against the installed TensorFlow, where there are any."""

import importlib
from pathlib import Path
from typing import Any


def _find() -> Any | None:
    try:
        return importlib.import_module("backslice.tensorflow.build")
    except ModuleNotFoundError:
        return None


_module = _find()
_is_loaded = False
_failure = ""

KERNELS: tuple[str, ...] = _module.KERNELS if _module else ()


def build(progress: bool = True) -> Path:
    """Compile the kernels that need TensorFlow's C++ headers, once; :func:`install` then uses them too.

    Parameters
    ----------
    progress : bool
        Tell on the standard error output what is being done.

    Returns
    -------
    pathlib.Path
        The library, in the user's cache.

    Raises
    ------
    RuntimeError
        There is no compiler, or it failed. The message says which, and what to do.
    """
    if _module is None:
        raise RuntimeError("this build of backslice has no kernels to compile")
    path: Path = _module.build(progress)
    return path


def install() -> None:
    """Uses them if they have been built. Builds nothing, and leaves TensorFlow's own where they cannot be loaded."""
    global _is_loaded, _failure
    if _module is None:
        return
    path, _failure = _module.available()
    try:
        if path is not None:
            _module.load(path)
            _is_loaded = True
    except _module.BuildError as error:
        _failure = str(error)


def uninstall() -> None:
    global _is_loaded
    if _module is not None and _is_loaded:
        _module.enable(False)
        _is_loaded = False


def is_in_use() -> bool:
    return _is_loaded


def reason() -> str:
    """Why they are not in use."""
    if _module is None:
        return "not part of this build"
    return _failure or _module.available()[1] or "install() has not been called, or was undone"
