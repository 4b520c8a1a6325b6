"""The sums that a backward pass has not read yet: they are computed when it ends.

So nothing that happens after it can change them, and what it returns has memory like any tensor. What is to have memory
before is in `receivers`.
"""

import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import torch

from .receivers import Receivers

_lock = threading.RLock()
_running: "weakref.WeakValueDictionary[int, BackwardPass]" = weakref.WeakValueDictionary()
_task = torch._C._current_graph_task_id
_node = torch._C._current_autograd_node
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
        self._sliced: set[Any] = set()
        given, results = _arguments_of_the_caller()
        self.given = frozenset(map(id, given))
        self.receivers = Receivers(results)
        torch.autograd.Variable._execution_engine.queue_callback(self.settle)

    def __del__(self) -> None:
        self.receivers.forget()

    def add(self, lazy: Any) -> None:
        self._lazy.append(weakref.ref(lazy))
        if len(self._lazy) > self._limit:  # most of them were sums on the way to larger ones
            self._lazy = [reference for reference in self._lazy if reference() is not None]
            self._limit = 2 * len(self._lazy) + 64

    def is_first_for(self, receiver: Any) -> bool:
        """Whether nothing was said to go to that input of a node of the graph before."""
        is_first = receiver not in self._sliced
        self._sliced.add(receiver)
        return is_first

    def settle(self) -> None:
        self._sliced.clear()
        self.receivers.forget()
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
    node = _node()
    return node is not None and _current().is_first_for(node.next_functions[0])


def prepare_receivers() -> None:
    """See to it that who cannot do with a lazy gradient gets an ordinary one in place of what is being made."""
    _current().receivers.prepare(_node())


def is_engine_adding() -> bool:
    """Whether the engine itself called the rule that asks, to add the gradient of a slice to what came before it.

    Otherwise Python code did, or the formula of a node, which may add to something that they keep.
    """
    node = _node()
    return node is not None and node.name() in _SLICES and is_called_by_engine()  # whose formulas add nothing


def is_accumulating() -> bool:
    """Whether a gradient is being added to the `.grad` of a tensor."""
    return type(_node()) is torch._C._functions.AccumulateGrad


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


def _arguments_of_the_caller() -> tuple[Any, Any]:
    """The gradients that it gave, which PyTorch's frame holds while the pass runs, and the inputs that it asks for.

    None where that frame is not on this thread's stack, and no inputs where their `.grad` is what it asks for.
    """
    frame: Any = sys._getframe()
    while frame is not None and frame.f_code is not _ENGINE_CALL:
        frame = frame.f_back
    if frame is None:
        return (), ()
    call = frame.f_locals
    gradients, *rest = call.get("args") or ((),)
    inputs = rest[2] if len(rest) > 2 and not call.get("kwargs", {}).get("accumulate_grad", True) else ()
    return gradients, inputs


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
