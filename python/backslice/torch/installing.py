"""Puts backslice's kernels in use, and PyTorch's own back."""

import contextlib
import os
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from . import internals, kernels, self_test, small_slices
from .kernels import KEYS, OPERATIONS

_library: Any = None  # what registered the kernels; they may be switched off
_is_tested = False  # and what they compute was compared with PyTorch
_expected: list[Any] = []  # by PyTorch's own kernels
_is_on = False
_refusals: dict[tuple[str, str], str] = {}  # per op and where it runs: why it is left to PyTorch
_failure: str | None = None  # why all of them are
_is_asked_for = False  # by install()
_blocks = 0  # of enabled() that have not ended
_has_warned = False
_lock = threading.RLock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)  # another thread may have held it


def install() -> None:
    """Add the gradients of slices to one sum per tensor, from now on and in all threads.

    Installing twice is harmless. Where something is not as expected (PyTorch lacks an internal function, a self-test
    fails, another library has replaced a kernel), PyTorch's own kernels stay in use; :func:`status` tells why.

    Warns
    -----
    RuntimeWarning
        Nothing was put in use. Given once per process.

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
    """Return why an op is left to PyTorch although `install()` was called."""
    return _failure or _refusals.get((op, key))


def _put_in_use() -> None:
    global _is_on, _is_tested, _failure
    if _is_on:
        return
    _failure = None
    try:
        if _library is None:
            _register()
        if not _is_tested:
            ops = [name for name, key in _registered() if key == "CPU"]
            self_test.on_a_new_thread(lambda: self_test.compare(ops, _expected))
            _is_tested = True
        kernels.switch_on(kernels.SHIPPED)
        _is_on = True
    except Exception as error:
        _failure = f"{type(error).__name__}: {error}"
    finally:
        if not _is_on:
            _remove_kernels()
    if _failure is not None:
        _warn(_failure)


def _warn(reason: str) -> None:
    global _has_warned
    if not _has_warned:
        _has_warned = True
        message = f"backslice leaves the gradients of slices to PyTorch {torch.__version__}: {reason}"
        warnings.warn(message, RuntimeWarning, stacklevel=4)


def _put_back() -> None:
    global _is_on, _failure
    _is_on, _failure = False, None
    _remove_kernels()


def _remove_kernels() -> None:
    """Switch them off, and remove them where no other thread can be about to run them."""
    global _library, _is_tested
    kernels.switch_off()
    if _library is not None and threading.active_count() == 1:
        small_slices.remove()
        _library._destroy()
        _library, _is_tested = None, False
    if _library is None:
        _refusals.clear()


def _all() -> list[tuple[str, str]]:
    return [(name, key) for key in KEYS for name in OPERATIONS]


def _registered() -> list[tuple[str, str]]:
    return [where for where in _all() if where not in _refusals]


def _register() -> None:
    global _library
    _refusals.clear()
    found = internals.resolve()
    _refusals.update(_overridden(found))
    if torch.version.cuda is None and torch.version.hip is None:
        _refusals.update({(name, "CUDA"): "this PyTorch was built without CUDA" for name in OPERATIONS})
    _expected[:] = self_test.on_a_new_thread(self_test.gradients)
    made = {(name, key): kernels.kernel(OPERATIONS[name], key, found) for name, key in _registered()}
    nodes = kernels.slice_nodes()
    _library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Overriding a previously registered kernel|.*Warning only once", UserWarning)
        for (name, key), kernel in made.items():
            if key != "CPU" or not small_slices.register(name, kernel, nodes, found, __file__):
                _library.impl(name, kernel, key, allow_override=True)


def _overridden(found: internals.Internals) -> dict[tuple[str, str], str]:
    """Return the ops that another library has a kernel for."""
    others = {}
    for name, key in _all():
        lines = found.kernels_of(f"aten::{name}").splitlines()
        if any(f"Register{key}" not in line for line in lines if line.startswith(f"{key}: ")):
            others[name, key] = "another library has replaced PyTorch's kernel"
    return others


def is_registered(op: str, key: str) -> bool:
    """Tell whether the kernel that PyTorch's dispatcher would call was registered here."""
    lines = internals.resolve().kernels_of(f"aten::{op}").splitlines()
    return any(line.startswith(f"{key}: ") and f"registered at {__file__}:" in line for line in lines)
