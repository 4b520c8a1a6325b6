"""Adds the gradient of a slice to the sum that waits in the engine for it, and passes nothing on.

The engine keeps what comes to an input of a node until all of it is there. Where that is one sum of slices, which
nobody else has, the kernel of the next slice adds to it, and returns no gradient: the engine skips what is undefined.
Otherwise it would call a rule to add two sums, which takes longer than everything else that is done for a slice.

Nobody can tell. A node with hooks passes on what it always does, since they are shown that. So does every node where
somebody asks for a graph, looks for NaNs, or transforms functions, and where nothing tells who started the pass.
The sum stops growing when anybody has read it.
"""

import weakref
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch

from .._core import _SliceAdder
from . import capture, counting, devices, pending, streams
from .placement import entries_of
from .plainly import are_plain_kernels

_node = torch._C._current_autograd_node
_SLICES, _latest = pending.SLICES, pending.latest
OF_OTHERS, OF_SELECT, OF_SLICE = 0, 1, 2  # whose arguments an op has


def _nothing() -> None:
    """A reference to what is gone."""


@dataclass(slots=True)
class Waiting:
    """What waits for the slices of one tensor, in one backward pass."""

    lazy: Any  # a weak reference to the sum that the engine has
    shape: Any  # of the tensor, as kernels are given it
    size: int  # in bytes
    dtype: Any
    ordinal: int
    is_on_device: bool
    given: frozenset[int]  # ids of the gradients that the caller gave
    tally: counting.Tally  # of slices that were added
    made: Any = _nothing  # a weak reference to the term that slices are added to at once: who reads the sum takes it
    moment: streams.Moment | None = None  # from when on that can be read
    to: Any = None  # the same memory, as `devices` needs it


def begin(receiver: Any, adder: Any, dy: Any, shape: Any, size: int, lazy: Any) -> None:
    """Has a sum that is passed on wait for more slices of a tensor; `dy` is what the node was given."""
    backward = pending.current()
    caller = backward.caller
    is_of_slice = type(_node()) in _SLICES  # and not of a function that calls the op, whose result may go anywhere
    is_alone = is_of_slice and _is_unobserved() and caller.is_plain and _is_real(dy)
    if is_alone and adder.is_without_hooks(dy, caller.given):
        tally: counting.Tally = counting.Tally()
        backward.tallies.append(tally)
        backward.waiting[receiver] = Waiting(
            lazy=weakref.ref(lazy),
            shape=shape,
            size=size,
            dtype=dy.dtype,
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
    if not _latest.waiting or _latest.task != pending.task() or type(_node()) not in _SLICES:
        return
    waiting = _latest.waiting.get(pending.receiver())
    if waiting is not None and waiting.lazy() is added and pending.is_called_by_engine():
        waiting.lazy = weakref.ref(result)
        result._is_open = True


def _is_real(dy: Any) -> bool:
    return not dy.is_complex()  # or it may be conjugated when it is read


def _is_unobserved() -> bool:
    return (
        not torch.is_grad_enabled()
        and not torch.is_anomaly_enabled()
        and not pending.is_in_forward_mode()
        and are_plain_kernels()
    )


def _has_memory(waiting: Waiting, lazy: Any) -> bool:
    made = lazy.made()
    if made is not None:
        waiting.made, waiting.moment, waiting.to = weakref.ref(made), made.moment, devices.memory(made.dy)
    return made is not None


def _add_shared(place: Any, dy: Any, shape: Any, arguments: tuple[Any, ...], to: Any) -> None:
    """Adds a gradient that does not tell its memory, as one does not that is shared copy on write."""
    entries = entries_of(place(shape, *arguments), dy.shape)
    assert entries is not None
    devices.add_one(entries, dy, to)


def adder(op: str, key: str, kind: int, place: Any, sizes: Any) -> Any:
    """What adds gradients of an op's slices to the sums that wait for them. In C++, since it runs once per slice."""
    asked = SimpleNamespace(
        latest=pending.latest,
        task=pending.task,
        node=_node,
        slices=pending.SLICES,
        tensor=torch.Tensor,
        is_graph_asked_for=torch.is_grad_enabled,
        is_looking_for_nans=torch.is_anomaly_enabled,
        forward_mode=torch.autograd.forward_ad,
        engine_call=pending.ENGINE_CALL,
        weak_references=weakref.getweakrefcount,
        capture=capture,
        known=capture.known,
        waiting=capture.WAITING,
        stream=streams.current,
        is_capturing=streams.is_current_capturing,
        is_shared=devices.is_shared,
        has_memory=_has_memory,
        add_shared=partial(_add_shared, place),
    )
    return _SliceAdder(op, key, kind, sizes, asked)
