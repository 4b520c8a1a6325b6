"""Puts backslice's kernels in use, and TensorFlow's own back."""

import contextlib
import threading
from collections.abc import Iterator

from tensorflow.python.eager import context as eager_context

from . import compiled_kernels, library

_lock = threading.RLock()
_blocks = 0  # of enabled() that have begun and not ended, in all threads
_was_installed = False  # before the first of them


def install() -> None:
    """Use backslice's CPU kernels from now on, in eager mode, functions and sessions.

    Installing twice is harmless. Functions that ran before change over with their next call; sessions of TensorFlow 1
    and iterators over datasets that have run before keep TensorFlow's kernels.

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

    Functions change over with their next call; sessions and iterators over datasets that ran in between keep
    backslice's kernels.

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

    Blocks may overlap: the last one to end puts back what was in use before the first.

    Examples
    --------
    >>> with bst.enabled():
    ...     dx = tape.gradient(loss, x)
    """
    _begin_block()
    try:
        yield
    finally:
        _end_block()


def _begin_block() -> None:
    global _blocks, _was_installed
    with _lock:
        was_installed = library.is_installed()
        install()
        if _blocks == 0:
            _was_installed = was_installed
        _blocks += 1


def _end_block() -> None:
    global _blocks
    with _lock:
        _blocks -= 1
        if _blocks == 0 and not _was_installed:
            uninstall()


def _forget_choices() -> None:
    """Eager mode looks for a kernel once per op and types, and remembers it; a function, too, is such an op."""
    eager_context.context().clear_kernel_cache()
