"""The kernels that are compiled on this machine against the installed TensorFlow, where there are any."""

import importlib
from typing import Any


def _build() -> Any | None:
    try:
        return importlib.import_module("backslice.tensorflow.build")
    except ModuleNotFoundError:
        return None


_module = _build()
_is_loaded = False

KERNELS: tuple[str, ...] = _module.KERNELS if _module else ()


def available() -> tuple[bool, str]:
    """Whether they have been built, and if not, why."""
    if _module is None:
        return False, "not part of this build"
    path, reason = _module.available()
    return path is not None, reason


def install() -> None:
    """Uses them if they have been built; builds nothing."""
    global _is_loaded
    path = _module.available()[0] if _module else None
    if _module and path is not None:
        _module.load(path)
        _is_loaded = True


def uninstall() -> None:
    global _is_loaded
    if _module and _is_loaded:
        _module.unload()
        _is_loaded = False


def is_loaded() -> bool:
    return _is_loaded
