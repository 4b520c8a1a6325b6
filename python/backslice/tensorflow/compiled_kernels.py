"""Whether the kernels that were compiled on this machine against the installed TensorFlow are in use, and why not."""

from . import compiling
from .compiling import KERNELS, build

__all__ = ["KERNELS", "build", "install", "is_in_use", "reason", "uninstall"]

_is_in_use = False
_failure = ""


def install() -> None:
    """Uses them if they have been built. Builds nothing, and leaves TensorFlow's own where they cannot be loaded."""
    global _is_in_use, _failure
    path, _failure = compiling.available()
    try:
        if path is not None:
            compiling.load(path)
            _is_in_use = True
    except compiling.BuildError as error:
        _failure = str(error)


def uninstall() -> None:
    global _is_in_use
    if _is_in_use:
        compiling.enable(False)
        _is_in_use = False


def is_in_use() -> bool:
    return _is_in_use


def reason() -> str:
    """Why they are not in use."""
    return _failure or compiling.available()[1] or "install() has not been called, or was undone"
