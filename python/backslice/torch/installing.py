"""Puts backslice's kernels in use, and PyTorch's own back."""

import contextlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from . import capture, kernels, trial, versions
from .kernels import OPERATIONS

_lock = threading.RLock()
_library: Any = None
_refusals: dict[str, str] = {}  # per op: why it is left to PyTorch


def install() -> None:
    """Keep the gradients of slices as lists until something reads them, from now on and in all threads.

    Installing twice is harmless. Where something is not as expected (a version of PyTorch that is not known, another
    library's kernels), PyTorch's own kernels stay in use; :func:`status` tells why.

    Warns
    -----
    RuntimeWarning
        Nothing was put in use, since the version of PyTorch is not known.

    See Also
    --------
    uninstall, enabled, status
    """
    with _lock:
        if _library is not None:
            return
        if (reason := versions.why_not()) is not None:
            _refusals.update(dict.fromkeys(OPERATIONS, reason))
            warnings.warn(f"{reason}: its own kernels stay in use", RuntimeWarning, stacklevel=2)
            return
        _refusals.clear()
        _refusals.update(_overridden())
        _register(trial.SMALLEST, trial.SMALLEST)
        trial.measure([name for name in OPERATIONS if name not in _refusals])
        _unregister()
        _register(kernels.SMALL, kernels.MEDIUM)


def uninstall() -> None:
    """Use PyTorch's own kernels again. Gradients that exist stay as they are."""
    with _lock:
        _unregister()
        _refusals.clear()
        capture.trust_nothing()


@contextlib.contextmanager
def enabled() -> Iterator[None]:
    """Use backslice's kernels in a ``with`` block, in all threads.

    Examples
    --------
    >>> with bt.enabled():
    ...     loss.backward()
    """
    was_installed = is_installed()
    install()
    try:
        yield
    finally:
        if not was_installed:
            uninstall()


def is_installed() -> bool:
    return _library is not None


def refusal(op: str) -> str | None:
    """Why an op is left to PyTorch although `install()` was called."""
    return _refusals.get(op)


def _register(smallest: int, medium: int) -> None:
    global _library
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Overriding a previously registered kernel|.*Warning only once", UserWarning)
        for name in OPERATIONS:
            if name not in _refusals:
                library.impl(name, kernels.kernel(name, smallest, medium), "CPU", allow_override=True)
                kernels.in_use.add(name)
    _library = library


def _unregister() -> None:
    global _library
    if _library is not None:
        kernels.in_use.clear()
        _library._destroy()
        _library = None


def _overridden() -> dict[str, str]:
    """The ops that another library has a kernel for."""
    found = {}
    for name in OPERATIONS:
        lines = torch._C._dispatch_dump(f"aten::{name}").splitlines()
        kernels = [line for line in lines if line.startswith("CPU: ")]
        if any("RegisterCPU" not in line for line in kernels):
            found[name] = "another library has replaced PyTorch's kernel"
    return found
