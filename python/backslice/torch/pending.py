"""The sums that a backward pass has not read yet: they are computed when it ends.

So nothing that happens after it can change them, and what it returns has memory like any tensor. Meanwhile the backward
functions of `torch.autograd.Function` are given ordinary tensors, whatever their code does with them.
"""

import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction

_lock = threading.RLock()
_running: "weakref.WeakValueDictionary[int, BackwardPass]" = weakref.WeakValueDictionary()
_in_use = 0  # backward passes that need the functions below
_apply: Any = None  # what was there before
_task = torch._C._current_graph_task_id
_OWN_MODULES = frozenset(f"{__package__}.{module}" for module in ("kernels", "lazy", "pending"))
_SLICES = frozenset(f"{op}Backward0" for op in ("Select", "Slice", "Unfold", "Diagonal"))
_ENGINE_CALL = torch.autograd.graph._engine_run_backward.__code__


class _Latest(threading.local):
    """The backward pass that a thread was inside last, so that it is found quickly."""

    task = -1
    reference: Callable[[], "BackwardPass | None"] = staticmethod(lambda: None)


_latest = _Latest()


class BackwardPass:
    """One run of autograd's engine, which holds it until it ends, by whatever way."""

    def __init__(self) -> None:
        self._lazy: list[weakref.ref[Any]] = []
        self._limit = 64
        self._receivers: set[Any] = set()
        self.given = _given_by_the_caller()
        torch.autograd.Variable._execution_engine.queue_callback(self.settle)
        _use_functions(1)

    def __del__(self) -> None:
        _use_functions(-1)

    def add(self, lazy: Any) -> None:
        self._lazy.append(weakref.ref(lazy))
        if len(self._lazy) > self._limit:  # most of them were sums on the way to larger ones
            self._lazy = [reference for reference in self._lazy if reference() is not None]
            self._limit = 2 * len(self._lazy) + 64

    def is_first_for(self, receiver: Any) -> bool:
        """Whether nothing was said to go to that input of a node of the graph before."""
        is_first = receiver not in self._receivers
        self._receivers.add(receiver)
        return is_first

    def settle(self) -> None:
        self._receivers.clear()
        alive, self._lazy = self._lazy, []
        for reference in alive:
            lazy = reference()
            if lazy is not None:
                lazy.settle()


def is_running() -> bool:
    """Whether this thread is inside a backward pass."""
    return bool(_task() >= 0)


def add(lazy: Any) -> None:
    """Have a sum computed at the end of the backward pass that this thread is inside."""
    _current().add(lazy)


def is_first_of_its_tensor() -> bool:
    """Whether the gradient that is being made is the first in this pass for the tensor that it belongs to."""
    node = torch._C._current_autograd_node()
    return node is not None and _current().is_first_for(node.next_functions[0])


def is_engine_adding() -> bool:
    """Whether the engine itself called the rule that asks, to add the gradient of a slice to what came before it.

    Otherwise Python code did, or the formula of a node, which may add to something that they keep.
    """
    node = torch._C._current_autograd_node()
    return node is not None and node.name() in _SLICES and is_called_by_engine()  # whose formulas add nothing


def is_called_by_engine() -> bool:
    """Whether no Python code stands between the engine and the kernel or rule that asks.

    A tensor subclass, a mode or a hook would: what they hold, and how, nobody can tell.
    """
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in _OWN_MODULES:
        frame = frame.f_back
    return frame is None or frame.f_code is _ENGINE_CALL  # it has threads of its own too


def was_given(dy: Any) -> bool:
    """Whether the caller of the backward pass that this thread is inside gave it as a gradient of an output."""
    return id(dy) in _current().given


def _given_by_the_caller() -> frozenset[int]:
    """The identities of those gradients: PyTorch's frame holds them while the pass runs.

    None where it is not on this thread's stack.
    """
    frame = sys._getframe()
    while frame is not None and frame.f_code is not _ENGINE_CALL:
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return frozenset()
    gradients = next(iter(frame.f_locals.get("args", ())), ())
    return frozenset(map(id, gradients))


def _current() -> BackwardPass:
    task = _task()
    if _latest.task == task and (backward := _latest.reference()) is not None:
        return backward
    with _lock:
        backward = _running.get(task)
        if backward is None:
            backward = _running[task] = BackwardPass()
    _latest.task, _latest.reference = task, weakref.ref(backward)
    return backward


def _use_functions(change: int) -> None:
    global _in_use, _apply
    with _lock:
        _in_use += change
        if _in_use == 1 and change == 1:
            _apply, BackwardCFunction.apply = BackwardCFunction.apply, _apply_to_ordinary
        elif _in_use == 0 and BackwardCFunction.apply is _apply_to_ordinary:
            BackwardCFunction.apply = _apply


def _apply_to_ordinary(self: Any, *gradients: Any) -> Any:
    return _apply(self, *(g.ordinary() if hasattr(type(g), "ordinary") else g for g in gradients))
