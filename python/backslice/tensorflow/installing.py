"""Puts backslice's kernels in use, and TensorFlow's own back."""

import contextlib
import threading
from collections.abc import Iterator

from tensorflow.python.eager import context as eager_context

from . import compiled_kernels, library

_lock = threading.RLock()


def install() -> None:
    """Use backslice's CPU kernels from now on, in eager mode, functions and sessions.

    Installing twice is harmless. Functions that ran before keep TensorFlow's kernels until they are traced again.

    Raises
    ------
    RuntimeError
        TensorFlow refused the kernels. Nothing has changed.

    See Also
    --------
    uninstall, enabled, status
    """
    with _lock:
        library.install()
        compiled_kernels.install()
        _forget_choices()


def uninstall() -> None:
    """Use TensorFlow's own kernels again.

    Functions that ran in between keep backslice's kernels until they are traced again.

    Raises
    ------
    RuntimeError
        This version of TensorFlow keeps a kernel until the process ends. Nothing has changed.
    """
    with _lock:
        library.uninstall()
        compiled_kernels.uninstall()
        _forget_choices()


@contextlib.contextmanager
def enabled() -> Iterator[None]:
    """Use backslice's kernels in a ``with`` block, in all threads.

    Examples
    --------
    >>> with bst.enabled():
    ...     dx = tape.gradient(loss, x)
    """
    was_installed = library.is_installed()
    install()
    try:
        yield
    finally:
        if not was_installed:
            uninstall()


def _forget_choices() -> None:
    """Eager mode looks for a kernel once per op and types, and remembers it."""
    eager_context.context().clear_kernel_cache()
