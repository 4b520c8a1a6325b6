"""Puts backslice's kernels in use, and switches them between their fast and their plain implementations."""

import contextlib
import os
import threading
import warnings
from collections.abc import Iterator

from . import compiled_kernels, library, other_libraries
from .checks import CASES, CHECKS, taken

VARIABLE = "BACKSLICE_TENSORFLOW"

_lock = threading.RLock()
_blocks = 0  # of enabled() that have begun and not ended, in all threads
_was_fast = False  # before the first of them
_is_registered = False
_is_fast = False


def install() -> None:
    """Use backslice's CPU kernels from now on, in eager mode, functions and sessions.

    The first call runs self-tests for some tens of milliseconds. If one fails, TensorFlow's own kernels stay in use and
    a warning names the test. With the environment variable ``BACKSLICE_TENSORFLOW=0``, nothing is installed.

    Installing twice is harmless. Functions that ran before change over with their next call; sessions of TensorFlow 1
    and iterators over datasets that ran before keep TensorFlow's kernels.

    Raises
    ------
    RuntimeError
        TensorFlow refused the kernels.

    See Also
    --------
    uninstall, enabled, status
    """
    with _lock:
        if not is_allowed() or not CHECKS.passed():
            return
        _register()
        if compiled_kernels.install():
            _forget_choices()
        _switch(True)


def uninstall() -> None:
    """Switch backslice's kernels to their plain implementations: one loop, one thread, the same results.

    TensorFlow has no way to take a kernel back, so its own kernels are not used again in this process. To compare with
    TensorFlow's own kernels, run a process without :func:`install`, or with ``BACKSLICE_TENSORFLOW=0``. Kernels of
    :func:`build` have no plain implementation and stay as they are.
    """
    with _lock:
        _switch(False)


@contextlib.contextmanager
def enabled() -> Iterator[None]:
    """Use backslice's fast kernels in a ``with`` block, in all threads.

    The first block installs them. Blocks may overlap: the last one to end switches back to what was in use before the
    first, as :func:`uninstall` does.

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


def is_allowed() -> bool:
    return os.environ.get(VARIABLE) != "0"


def is_registered() -> bool:
    return _is_registered


def is_fast() -> bool:
    return _is_fast


def _switch(fast: bool) -> None:
    global _is_fast
    _is_fast = fast and _is_registered
    library.enable(_is_fast)


def _register() -> None:
    global _is_registered
    if _is_registered:
        return
    replaced = other_libraries.replaced(library.OPS)
    for op in library.OPS:
        if op not in replaced:
            library.register(op)
    _is_registered = True
    _forget_choices()
    if others := sorted(CASES.keys() - taken()):
        text = (
            f"backslice.tensorflow: another library has replaced the kernels of {', '.join(others)}, which stay in use"
        )
        warnings.warn(text, RuntimeWarning, stacklevel=4)


def _begin_block() -> None:
    global _blocks, _was_fast
    with _lock:
        if _blocks == 0:
            _was_fast = _is_fast
        install()
        _blocks += 1


def _end_block() -> None:
    global _blocks
    with _lock:
        _blocks -= 1
        if _blocks == 0 and not _was_fast:
            uninstall()


def _forget_choices() -> None:
    """Eager mode looks for a kernel once per op and types, and remembers it; a function, too, is such an op.

    The function that clears its memory is private. Without it, only ops that ran before keep TensorFlow's kernels.
    """
    with contextlib.suppress(ImportError, AttributeError):
        from tensorflow.python.eager import context as eager_context

        eager_context.context().clear_kernel_cache()
