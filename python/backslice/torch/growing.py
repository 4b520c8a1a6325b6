"""Adds the gradient of a slice to the sum that waits in the engine for it, and passes nothing on.

The engine keeps what comes to an input of a node until all of it is there. Where that is one sum of slices, which
nobody else has, the kernel of the next slice adds to it, and returns no gradient: the engine skips what is undefined.
Otherwise it would call a rule to add two sums, which takes longer than everything else that is done for a slice.

Nobody can tell. A node with hooks passes on what it always does, since they are shown that. So does every node where
somebody asks for a graph, looks for NaNs, or transforms functions, and where nothing tells who started the pass.
The sum stops growing when anybody has read it.
"""

import sys
import weakref
from dataclasses import dataclass
from typing import Any

import torch

from . import capture, counting, devices, pending, streams
from .indexing import SLICE, Entries
from .plainly import are_plain_kernels

_task = torch._C._current_graph_task_id
_node = torch._C._current_autograd_node
_is_looking_for_nans = torch.is_anomaly_enabled
_is_graph_asked_for = torch.is_grad_enabled
_Tensor, _frame = torch.Tensor, sys._getframe
_ENGINE_CALL, _SLICES, _latest = pending.ENGINE_CALL, pending.SLICES, pending.latest
_is_alone, _is_without_hooks, _WAITING = capture.is_alone, capture.is_without_hooks, capture.WAITING
_now, _forward_mode = streams.now, torch.autograd.forward_ad


def _nothing() -> None:
    """A reference to what is gone."""


@dataclass(slots=True)
class Waiting:
    """What waits for the slices of one tensor, in one backward pass."""

    lazy: Any  # a weak reference to the sum that the engine has
    shape: Any  # of the tensor, as kernels are given it
    whole: Entries  # all of it
    size: int  # in bytes
    dtype: Any
    device: Any
    ordinal: int
    is_on_device: bool
    given: frozenset[int]  # ids of the gradients that the caller gave
    tally: counting.Tally  # of slices that were added
    made: Any = _nothing  # a weak reference to the term that slices are added to at once: who reads the sum takes it
    moment: streams.Moment | None = None  # from when on that can be read
    to: Any = None  # the same memory, as `devices` needs it


def found() -> Waiting | None:
    """What waits for the gradient that is being made. Written out, as what follows, since it runs once per slice."""
    if not _latest.waiting or _latest.task != _task():
        return None
    node = _node()
    if type(node) not in _SLICES:
        return None
    functions = node.next_functions
    return _latest.waiting.get(functions[0]) if functions else None


def begin(receiver: Any, op: str, dy: Any, shape: Any, size: int, lazy: Any) -> None:
    """Has a sum that is passed on wait for more slices of a tensor; `dy` is what the node was given."""
    backward = pending.current()
    caller = backward.caller
    is_of_slice = type(_node()) in _SLICES  # and not of a function that calls the op, whose result may go anywhere
    is_alone = is_of_slice and _is_unobserved() and caller.is_plain and _is_real(dy)
    if is_alone and _is_without_hooks(op, dy, caller.given):
        tally: counting.Tally = counting.Tally()
        backward.tallies.append(tally)
        backward.waiting[receiver] = Waiting(
            lazy=weakref.ref(lazy),
            shape=shape,
            whole=tuple((SLICE, 0, 1, extent) for extent in shape),
            size=size,
            dtype=dy.dtype,
            device=dy.device,
            ordinal=dy.get_device(),
            is_on_device=devices.takes(dy.device),
            given=caller.given,
            tally=tally,
        )
        lazy._is_open = True
    else:
        backward.waiting.pop(receiver, None)


def goes_on(added: Any, result: Any) -> None:
    """The engine has added what was passed on to what it had, and keeps the result."""
    waiting = found()
    if waiting is not None and waiting.lazy() is added and pending.is_called_by_engine():
        waiting.lazy = weakref.ref(result)
        result._is_open = True


def _is_real(dy: Any) -> bool:
    return not dy.is_complex()  # or it may be conjugated when it is read


def _is_unobserved() -> bool:
    return (
        not _is_graph_asked_for()
        and not _is_looking_for_nans()
        and not pending.is_in_forward_mode()
        and are_plain_kernels()
    )


def lazy_for(waiting: Waiting, op: str, dy: Any, shape: Any) -> Any:
    """The sum that a kernel may add the gradient of a slice to; None where it may not. Only kernels may call it."""
    lazy = waiting.lazy()
    if (
        lazy is None
        or type(dy) is not _Tensor
        or dy.dtype is not waiting.dtype
        or dy.get_device() != waiting.ordinal
        or shape != waiting.shape
        or _is_graph_asked_for()
        or _is_looking_for_nans()
        or _forward_mode._current_level >= 0
        or not ((frame := _frame(1).f_back) is None or frame.f_code is _ENGINE_CALL)  # see pending.is_called_by_engine
        or not _is_without_hooks(op, dy, waiting.given)
        or not _is_alone(lazy, _WAITING)
    ):
        return None
    return lazy


def is_added_at_once(waiting: Waiting, lazy: Any, entries: Entries, dy: Any) -> bool:
    """Adds the gradient of a slice to the memory of the sum on a device, by one kernel, where nothing else waits."""
    with lazy._computing:
        made = waiting.made()
        if (made is None or lazy._sum is not made or not lazy._is_open) and not _has_memory(waiting, lazy):
            return False
        if waiting.moment != _now(waiting.device):
            return False
        devices.add_one(entries, dy, waiting.to)
        return True


def _has_memory(waiting: Waiting, lazy: Any) -> bool:
    made = lazy.made()
    if made is not None:
        waiting.made, waiting.moment, waiting.to = weakref.ref(made), made.moment, devices.memory(made.dy)
    return made is not None
