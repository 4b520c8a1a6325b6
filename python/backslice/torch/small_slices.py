"""Kernels in C++ that compute small gradients, and call those in Python for all others.

A kernel in Python costs a slice 2 µs, and up to 14 in a model whose own work has emptied the caches. They use the C
interface of PyTorch that does not change from version to version; where it is missing, there are only those in Python.
"""

from collections.abc import Callable
from typing import Any

import torch

from .. import _core
from .internals import Internals, c_functions

SCHEMAS = {
    "select_backward": "(Tensor dy, SymInt[] shape, int dim, SymInt index) -> Tensor",
    "slice_backward": "(Tensor dy, SymInt[] shape, int dim, SymInt start, SymInt end, SymInt step) -> Tensor",
}

_registered: list[Any] = []  # libraries of the operations that are called for all others


def set_limit(size: float) -> None:
    """Let gradients of less bytes be computed in C++."""
    _core._set_small_slices(int(min(size, 2**63 - 1)))


def register(op: str, kernel: Callable[..., Any], nodes: frozenset[type], internals: Internals, file: str) -> bool:
    """Register the kernel in C++ of an op on the CPU, and `kernel` for what it leaves. False where that fails."""
    if (functions := c_functions()) is None:
        return False
    library = torch.library.Library("backslice", "FRAGMENT")
    _registered.append(library)
    library.define(op + SCHEMAS[op])
    library.impl(op, _guarded(kernel, nodes, internals), "CPU")
    return _core._register_small_slices(functions, op, file, 1)


def remove() -> None:
    _core._remove_small_slices()
    while _registered:
        _registered.pop()._destroy()


def _guarded(kernel: Callable[..., Any], nodes: frozenset[type], internals: Internals) -> Any:
    """Return a kernel that raises nothing: exceptions do not pass through the C interface."""

    def fail(error: BaseException, dy: Any, shape: Any) -> Any:
        if type(internals.current_node()) not in nodes:
            _core._fail_small_slice(str(error) or type(error).__name__)
            return dy
        failure = internals.make_wrapper(Failure, (2, *shape), dtype=dy.dtype, device=dy.device)
        failure.error = error
        return failure

    return _core._guard_small_slice(kernel, fail)


class Failure(torch.Tensor):  # type: ignore[misc]
    """What a kernel returns to autograd's engine where it failed.

    It has one axis more than the gradient, so that the engine sums it up, as it does where a gradient was broadcast.
    That raises the error.
    """

    error: BaseException

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise next(value.error for value in args if type(value) is cls)
