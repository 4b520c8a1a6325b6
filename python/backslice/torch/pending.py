"""The sums that a backward pass has not read yet: they are computed when it ends.

So nothing that happens after it can change them, and what it returns has memory like any tensor. What is to have memory
before is in `receivers`.
"""

import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from . import counting
from .receivers import Receivers

_lock = threading.RLock()
_running: "weakref.WeakValueDictionary[int, BackwardPass]" = weakref.WeakValueDictionary()
task = torch._C._current_graph_task_id  # of this thread, -1 outside passes
_node = torch._C._current_autograd_node
_OWN_FILES = frozenset(
    str(Path(__file__).with_name(f"{module}.py")) for module in ("growing", "kernels", "lazy", "pending")
)
# The nodes of slices. What their formulas return goes to the engine, and adds nothing.
SLICES = frozenset(getattr(torch._C._functions, f"{op}Backward0") for op in ("Select", "Slice", "Unfold", "Diagonal"))
ENGINE_CALL = torch.autograd.graph._engine_run_backward.__code__
_TENSORS = {torch.Tensor, torch.nn.Parameter}
_is_transformed = torch._C._functorch.is_functorch_wrapped_tensor
_is_batched = torch._C._functorch.is_legacy_batchedtensor


class _Latest(threading.local):
    """The backward pass that a thread was inside last, so that it is found quickly."""

    task = -1
    reference: Callable[[], "BackwardPass | None"] = staticmethod(lambda: None)
    waiting: Mapping[Any, Any] = MappingProxyType({})  # that pass's, empty when it has ended


latest = _Latest()


class BackwardPass:
    """One run of autograd's engine, which holds it until it ends, by whatever way."""

    _is_made = False  # Ctrl-C may come before

    def __init__(self) -> None:
        self.waiting: dict[Any, Any] = {}  # see `growing`: per input of a node
        self.tallies: list[counting.Tally] = []  # of slices that were added to what waits
        self._caller: Caller | None = None
        self._lazy: list[weakref.ref[Any]] = []
        self._limit = 64
        self._sliced: set[Any] = set()
        self._prepared: set[Any] = set()
        self._is_made = True
        torch.autograd.Variable._execution_engine.queue_callback(self.settle)

    def __del__(self) -> None:
        if not self._is_made:
            return
        self.waiting.clear()  # threads know it
        self._forget_receivers()
        self._count()

    def _count(self) -> None:
        tallies, self.tallies = self.tallies, []
        for tally in tallies:
            counting.count_all(tally)

    @property
    def caller(self) -> "Caller":
        """Looked for when it matters."""
        if self._caller is None:
            with _lock:  # the engine has a thread per device
                if self._caller is None:
                    self._caller = _found_caller()
        return self._caller

    def _forget_receivers(self) -> None:
        if self._caller is not None:
            self._caller.receivers.forget()

    def add(self, lazy: Any) -> None:
        self._lazy.append(weakref.ref(lazy))
        if len(self._lazy) > self._limit:  # most of them were sums on the way to larger ones
            self._lazy = [reference for reference in self._lazy if reference() is not None]
            self._limit = 2 * len(self._lazy) + 64

    def is_first_for(self, receiver: Any) -> bool:
        """Whether nothing was said to go to that input of a node of the graph before.

        Not where that is a slice itself: every `x[1:, t]` has its own, which would be the first each time.
        """
        if receiver in self._sliced:
            return False
        self._sliced.add(receiver)
        return type(receiver[0]) not in SLICES

    def prepare(self, receiver: Any) -> None:
        if receiver not in self._prepared:
            self._prepared.add(receiver)
            self.caller.receivers.prepare(_node())

    def settle(self) -> None:
        self._sliced.clear()
        self._prepared.clear()
        self.waiting.clear()
        self._count()
        self._forget_receivers()
        alive, self._lazy = self._lazy, []
        for reference in alive:
            lazy = reference()
            if lazy is not None:
                lazy.settle()


def is_running() -> bool:
    """Whether this thread is inside a backward pass."""
    return bool(task() >= 0)


def add(lazy: Any) -> None:
    """Have a sum computed at the end of the backward pass that this thread is inside."""
    current().add(lazy)


def receiver() -> Any:
    """Where the gradient goes that is being made: an input of a node, which stands for the tensor that was sliced."""
    node = _node()
    return node.next_functions[0] if node is not None and node.next_functions else None


def is_first_for(receiver: Any) -> bool:
    """Whether the gradient that is being made is the first in this pass for the tensor that it belongs to."""
    return receiver is not None and current().is_first_for(receiver)


def prepare(receiver: Any) -> None:
    """See to it that who cannot do with a lazy gradient gets an ordinary one in place of what is being made."""
    current().prepare(receiver)


def is_engine_adding() -> bool:
    """Whether the engine itself called the rule that asks, to add the gradient of a slice to what came before it.

    Otherwise Python code did, or the formula of a node, which may add to something that they keep.
    """
    node = _node()
    return type(node) in SLICES and is_called_by_engine()


def is_in_forward_mode() -> bool:
    """Whether gradients may have tangents, which are PyTorch's to compute: it does so from what a kernel returns."""
    return bool(torch.autograd.forward_ad._current_level >= 0)


def is_accumulating() -> bool:
    """Whether a gradient is being added to the `.grad` of a tensor."""
    return type(_node()) is torch._C._functions.AccumulateGrad


def is_called_by_engine() -> bool:
    """Whether no Python code stands between the engine and the kernel or rule that asks.

    A tensor subclass, a mode or a hook would: what they hold, and how, nobody can tell.
    """
    frame: Any = sys._getframe(1)
    while frame is not None and (code := frame.f_code) is not ENGINE_CALL:
        if code.co_filename not in _OWN_FILES:
            return False
        frame = frame.f_back
    return True  # it has threads of its own too, where there is no frame of its call


def was_given(dy: Any) -> bool:
    """Whether the caller of the backward pass that this thread is inside gave it as a gradient of an output."""
    return id(dy) in current().caller.given


@dataclass(frozen=True, slots=True)
class Caller:
    """Who called the engine: what it gave, and what it asks for."""

    given: frozenset[int]  # ids of gradients, which PyTorch's frame holds while the pass runs
    receivers: Receivers  # of ordinary tensors
    is_plain: bool  # it is known, and has no tensors of transforms, batches and the like


def _found_caller() -> Caller:
    """On a thread of the engine's own, as it has one per device, the caller is on another, and nothing tells on which:
    then what all callers gave and ask for.

    They ask for no tensors where the `.grad` of those is what they ask for.
    """
    own = _engine_call(sys._getframe())
    found = [own] if own is not None else list(map(_engine_call, sys._current_frames().values()))
    frames = [frame for frame in found if frame is not None]
    # A thread that waits for a pass inside another one runs nodes of both.
    is_known = len(frames) == 1 and _engine_call(frames[0].f_back) is None
    calls = [frame.f_locals for frame in frames]
    outputs: list[Any] = []
    gradients: list[Any] = []
    inputs: list[Any] = []
    for call in calls:
        given, *rest = call.get("args") or ((),)
        outputs += call.get("t_outputs", (None,))
        gradients += given
        if len(rest) > 2 and not call.get("kwargs", {}).get("accumulate_grad", True):
            inputs += rest[2]
    gradients = [gradient for gradient in gradients if gradient is not None]
    is_plain = is_known and _are_plain(outputs) and _are_plain(gradients)
    return Caller(frozenset(map(id, gradients)), Receivers(inputs), is_plain)


def _are_plain(tensors: list[Any]) -> bool:
    is_exact = set(map(type, tensors)) <= _TENSORS
    return is_exact and not any(map(_is_transformed, tensors)) and not any(map(_is_batched, tensors))


def _engine_call(frame: Any) -> Any:
    """The innermost frame in which Python code waits for the engine, of a thread that is in that frame."""
    while frame is not None and frame.f_code is not ENGINE_CALL:
        frame = frame.f_back
    return frame


def current() -> BackwardPass:
    """The pass that this thread is inside."""
    number = task()
    if latest.task == number and (backward := latest.reference()) is not None:
        return backward
    with _lock:
        backward = _running.get(number)
        if backward is None:
            backward = _running[number] = BackwardPass()
    latest.task, latest.reference, latest.waiting = number, weakref.ref(backward), backward.waiting
    return backward
