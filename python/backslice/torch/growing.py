"""Adds the gradient of a slice to the sum that waits in the engine for it, and passes nothing on.

The engine keeps what comes to an input of a node until all of it is there. Where that is one sum of slices, which nobody
else has, the kernel of the next slice adds to it, and returns no gradient: the engine skips what is undefined. It would
call a rule to add two sums otherwise, which takes longer than everything else that is done for a slice.

Nobody can tell. A node with hooks passes on what it always does, since they are shown that. So does every node where
somebody asks for a graph, looks for NaNs, or transforms functions, and where it cannot be told who started the pass. The
sum stops growing when anybody has read it.
"""

import weakref
from dataclasses import dataclass
from typing import Any

import torch

from . import capture, devices, pending, streams, sums
from .arrays import MAX_RANK
from .indexing import Entries
from .plainly import are_plain_kernels

_task = torch._C._current_graph_task_id
_node = torch._C._current_autograd_node
_is_looking_for_nans = torch.is_anomaly_enabled


@dataclass(slots=True)
class Waiting:
    """What waits for the slices of one tensor, in one backward pass."""

    lazy: Any  # a weak reference to the sum that the engine has
    shape: Any  # of the tensor, as kernels are given it
    dtype: Any
    device: Any
    ordinal: int
    given: frozenset[int]  # ids of the gradients that the caller gave
    made: sums.Leaf | None = None  # memory of the sum that slices are added to at once
    to: Any = None  # the same, as `devices` needs it


def found() -> Waiting | None:
    """What waits for the gradient that is being made."""
    if _task() < 0 or (node := _node()) is None:
        return None
    waiting: dict[Any, Waiting] = pending.current().waiting
    return waiting.get(node.next_functions[0])


def begin(receiver: Any, op: str, dy: Any, shape: Any, lazy: Any) -> None:
    """Has a sum that is passed on wait for more slices; `dy` is what the node was given."""
    backward = pending.current()
    caller = backward.caller
    if caller.is_plain and _is_unobserved() and capture.is_without_hooks(op, dy, caller.given):
        backward.waiting[receiver] = Waiting(
            weakref.ref(lazy), shape, dy.dtype, dy.device, dy.get_device(), caller.given
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


def takes(waiting: Waiting, op: str, dy: Any, shape: Any) -> bool:
    """Whether the gradient of a slice may be added to what waits."""
    return (
        type(dy) is torch.Tensor
        and dy.dtype is waiting.dtype
        and dy.get_device() == waiting.ordinal
        and shape == waiting.shape
        and dy.dim() < MAX_RANK
        and not dy.is_inference()
        and not dy.is_complex()  # which may be conjugated when it is read
        and _is_unobserved()
        and pending.is_called_by_engine()
        and capture.is_without_hooks(op, dy, waiting.given)
    )


def _is_unobserved() -> bool:
    return not torch.is_grad_enabled() and not _is_looking_for_nans() and are_plain_kernels()


def is_added_at_once(waiting: Waiting, lazy: Any, entries: Entries, dy: Any) -> bool:
    """Adds the gradient of a slice to the memory of the sum on a device, where that takes one kernel."""

    def add(made: sums.Leaf) -> bool:
        if waiting.made is not made:
            waiting.made, waiting.to = made, devices.memory(made.dy)
        if made.moment != streams.now(waiting.device):
            return False
        devices.add_one(entries, dy, waiting.to)
        return True

    return bool(lazy.grow_at_once(add))
