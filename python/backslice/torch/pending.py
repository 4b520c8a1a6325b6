"""The sums that a backward pass has not read yet: they are computed when it ends.

So nothing that happens after it can change them, and what it returns has memory like any tensor. Meanwhile the backward
functions of `torch.autograd.Function` are given ordinary tensors, whatever their code does with them.
"""

import threading
import weakref
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction

_lock = threading.RLock()
_running: "weakref.WeakValueDictionary[int, BackwardPass]" = weakref.WeakValueDictionary()
_in_use = 0  # backward passes that need the functions below
_apply = BackwardCFunction.apply


class BackwardPass:
    """One run of autograd's engine, which holds it until it ends, by whatever way."""

    def __init__(self) -> None:
        self._lazy: dict[int, weakref.ref[Any]] = {}
        torch.autograd.Variable._execution_engine.queue_callback(self.settle)
        _use_functions(1)
        weakref.finalize(self, _use_functions, -1)

    def add(self, lazy: Any) -> None:
        key = id(lazy)
        self._lazy[key] = weakref.ref(lazy, lambda _: self._lazy.pop(key, None))

    def settle(self) -> None:
        for reference in list(self._lazy.values()):
            lazy = reference()
            if lazy is not None:
                lazy.settle()
        self._lazy.clear()


def is_running() -> bool:
    """Whether this thread is inside a backward pass."""
    return bool(torch._C._current_graph_task_id() >= 0)


def add(lazy: Any) -> None:
    """Have a sum computed at the end of the backward pass that this thread is inside."""
    task = torch._C._current_graph_task_id()
    with _lock:
        backward = _running.get(task)
        if backward is None:
            backward = _running[task] = BackwardPass()
    backward.add(lazy)


def _use_functions(change: int) -> None:
    global _in_use
    with _lock:
        _in_use += change
        if _in_use:
            BackwardCFunction.apply = _apply_to_ordinary
        else:
            BackwardCFunction.apply = _apply


def _apply_to_ordinary(self: Any, *gradients: Any) -> Any:
    return _apply(self, *(g.ordinary() if hasattr(type(g), "ordinary") else g for g in gradients))
