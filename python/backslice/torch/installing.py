"""Puts backslice's kernels in use, and PyTorch's own back."""

import contextlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from . import capture, devices, kernels, trial, versions
from .kernels import KEYS, OPERATIONS

_lock = threading.RLock()
_library: Any = None  # what registered the kernels; they may be switched off
_is_on = False
_refusals: dict[tuple[str, str], str] = {}  # per op and where it runs: why it is left to PyTorch
_is_asked_for = False  # by install()
_blocks = 0  # of enabled() that have not ended


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
    global _is_asked_for
    with _lock:
        _put_in_use()
        _is_asked_for = True


def uninstall() -> None:
    """Use PyTorch's own kernels again. Gradients that exist stay as they are."""
    global _is_asked_for
    with _lock:
        _is_asked_for = False
        _put_back()


@contextlib.contextmanager
def enabled() -> Iterator[None]:
    """Use backslice's kernels in a ``with`` block, in all threads.

    Blocks may be nested, and open in several threads at once: the last one to end puts PyTorch's kernels back, unless
    :func:`install` was called.

    Examples
    --------
    >>> with bt.enabled():
    ...     loss.backward()
    """
    global _blocks
    with _lock:
        _put_in_use()
        _blocks += 1
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if _blocks == 0 and not _is_asked_for:
                _put_back()


def is_installed() -> bool:
    return _is_on


def refusal(op: str, key: str) -> str | None:
    """Why an op is left to PyTorch although `install()` was called."""
    return _refusals.get((op, key)) if _is_on or _library is None else None


def _put_in_use() -> None:
    global _is_on
    if _is_on:
        return
    if (reason := versions.why_not()) is not None:
        _refusals.update(dict.fromkeys(_all(), reason))
        warnings.warn(f"{reason}: its own kernels stay in use", RuntimeWarning, stacklevel=3)
        return
    try:
        if _library is None:
            _register()
            kernels.switch_on(_registered(), {"CPU": kernels.Sizes(trial.SMALLEST, trial.SMALLEST)})
            trial.measure([name for name, key in _registered() if key == "CPU"])
        kernels.switch_on(_registered(), kernels.as_shipped())
    except BaseException:
        kernels.switch_off()
        _unregister()
        raise
    _is_on = True


def _put_back() -> None:
    global _is_on
    kernels.switch_off()
    _is_on = False
    if _library is None:
        _refusals.clear()
    elif threading.active_count() == 1:
        _unregister()  # which is not safe while another thread may be about to run them


def _all() -> list[tuple[str, str]]:
    return [(name, key) for key in KEYS for name in OPERATIONS]


def _registered() -> list[tuple[str, str]]:
    return [where for where in _all() if where not in _refusals]


def _register() -> None:
    global _library
    _refusals.clear()
    _refusals.update(_overridden())
    if (reason := devices.why_not_built()) is not None:
        _refusals.update({(name, "CUDA"): reason for name in OPERATIONS})
    _library = library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Overriding a previously registered kernel|.*Warning only once", UserWarning)
        for name, key in _registered():
            library.impl(name, kernels.kernel(name, key), key, allow_override=True)


def _unregister() -> None:
    global _library
    if _library is not None:
        _library._destroy()
        _library = None
    _refusals.clear()
    capture.trust_nothing()


def _overridden() -> dict[tuple[str, str], str]:
    """The ops that another library has a kernel for."""
    found = {}
    for name, key in _all():
        lines = torch._C._dispatch_dump(f"aten::{name}").splitlines()
        kernels = [line for line in lines if line.startswith(f"{key}: ")]
        if any(f"Register{key}" not in line for line in kernels):
            found[name, key] = "another library has replaced PyTorch's kernel"
    return found
