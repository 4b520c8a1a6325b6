"""Takes a gradient that is to be read later, so that nothing that happens meanwhile changes what is read.

On the CPU, its memory is shared until somebody writes to it (PyTorch's copy on write), whoever else has the tensor.
Memory that may be written to without PyTorch's knowing is copied: that of NumPy or of another library, and that which
something besides autograd's engine holds, since that may be an export.

On a device nothing is shared copy on write: PyTorch would make the copy on the default stream, whichever stream writes,
and would no longer keep the memory for the other streams that use it. There a gradient is kept as it is where nobody
else has it, Python code included, and copied where somebody has.

How often the tensor and its memory are held where nobody has exported them depends on the version of PyTorch, so
`install()` measures it, and no more than `MOST` is believed. Where that cannot tell the cases apart, every gradient is
copied. References of Python's count on devices alone: they do not matter to copy on write. A debugger may add some,
which makes a copy; while one is at work nothing is measured.
"""

import sys
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import torch

from .. import slice as pooled_slice
from . import counting, devices, pending
from .arrays import as_array, as_tensor
from .plainly import are_plain_kernels, plainly

# How often the tensor and its memory are held.
References = tuple[int, int]
UNKNOWN: References = (0, 0)
# What it is in the versions that were tested. If more is measured, something else held the tensor just then.
MOST: References = (3, 2)
MOST_ADDED_TO: References = (4, 2)
MOST_JOINED: References = (4, 0)
MOST_WAITING: References = (2, 0)
MOST_GIVEN = 4  # to a tensor that the caller gave
JOIN, WAITING = "join", "waiting"  # what becomes of sums, which no op of PyTorch's is
POOLED = 2**20  # bytes from which on backslice's memory is faster


@dataclass(frozen=True, slots=True)
class Known:
    """What is seen where nobody has exported a gradient, and where the caller of the backward pass gave it."""

    alone: References = UNKNOWN
    given: int = 0  # to the tensor
    objects: int = 0  # to the Python objects of both
    tells_hooks: bool = False  # the engine has the gradient once more while the node that it goes to has hooks


NOTHING = Known()
_share = torch._lazy_clone
_use_count = torch._C._storage_Use_Count
known: dict[str, Known] = {}
_seen: dict[str, References] = {}
_seen_objects: dict[str, int] = {}
measuring: int | None = None  # the thread that does


def captured(op: str, dy: Any, references: int) -> Any:
    """A tensor with the values of `dy`, which stay as they are. Only kernels that the engine calls may call it."""
    shared = shared_memory(op, dy, references)
    return copied(dy) if shared is None else shared


def shared_memory(op: str, tensor: Any, references: int) -> Any:
    """A tensor that shares the memory of a gradient, copy on write; None where others may write past PyTorch.

    On a device the gradient itself; None where anybody else has it. `references` are those of Python's to the tensor,
    counted by the kernel or rule that was given it, so that it does not matter who calls whom in between.
    """
    storage = tensor.untyped_storage()
    held = (tensor._use_count(), _use_count(storage._cdata))
    objects = references + sys.getrefcount(storage)
    _note(op, held, objects)
    if not storage.resizable():  # exported to NumPy, or from elsewhere
        return None
    expected = known.get(op, NOTHING)
    if devices.takes(tensor.device):
        is_alone = objects <= expected.objects and are_within(held, expected.alone)
        return tensor if is_alone and _is_free(tensor) else None
    if held[1] > expected.alone[1]:
        return None
    if held[0] > expected.alone[0] and not (held[0] <= expected.given and pending.was_given(tensor)):
        return None
    try:
        return _share(tensor)
    except RuntimeError:  # memory of an allocator that PyTorch does not share
        return None


def is_alone(lazy: Any) -> bool:
    """Whether nobody but the engine has a gradient that has no memory yet, which it calls a rule to add to."""
    held, objects = (lazy._use_count(), 0), sys.getrefcount(lazy)
    _note(JOIN, held, objects)
    expected = known.get(JOIN, NOTHING)
    # The pass that it belongs to has a weak reference.
    return objects <= expected.objects and are_within(held, expected.alone) and weakref.getweakrefcount(lazy) <= 1


def note_waiting(held: int, objects: int) -> None:
    """What is seen of a sum that waits in the engine, by what looks whether it is alone."""
    _note(WAITING, (held, 0), objects)


def _note(what: str, held: References, objects: int) -> None:
    if measuring is not None and measuring == threading.get_ident():
        _seen[what], _seen_objects[what] = held, objects


def _is_free(tensor: Any) -> bool:
    """Whether nobody can come to a tensor by other ways than references."""
    return not tensor.requires_grad and weakref.getweakrefcount(tensor) == 0


def are_within(held: References, bound: References) -> bool:
    return held[0] <= bound[0] and held[1] <= bound[1]


def copied(tensor: Any) -> Any:
    counting.count_event("copies")
    if are_plain_kernels() and 0 not in tensor.stride() and devices.takes(tensor.device):
        return tensor.clone()  # the usual case there, where it matters most
    return plainly(_copy, tensor)


def _copy(tensor: Any) -> Any:
    """Of one of each element that the tensor repeats by a stride of zero, repeated again."""
    once = tensor
    if 0 in tensor.stride():
        once = tensor[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in tensor.stride())]
    if once.numel() * once.element_size() < POOLED or once.device.type != "cpu":
        return once.clone().expand(tensor.shape)
    return as_tensor(pooled_slice(as_array(once), ...)).expand(tensor.shape)


class Measurement:
    """What is seen in this thread while the kernels are tried out."""

    def __enter__(self) -> "Measurement":
        global measuring
        _seen.clear()
        measuring = threading.get_ident()
        return self

    def __exit__(self, *_: object) -> None:
        global measuring
        measuring = None

    def take(self, op: str) -> References | None:
        """What was seen since the last time."""
        return _seen.pop(op, None)

    def take_objects(self, op: str) -> int:
        """The same of the Python object; zero if nothing was seen."""
        return _seen_objects.pop(op, 0)


def trust(op: str, alone: References, given: int, objects: int = 0, tells_hooks: bool = False) -> None:
    most = {"add": MOST_ADDED_TO, JOIN: MOST_JOINED, WAITING: MOST_WAITING}.get(op, MOST)
    bounded = min(alone[0], most[0]), min(alone[1], most[1])
    known[op] = Known(bounded, min(given, MOST_GIVEN), objects, tells_hooks)


def trust_nothing() -> None:
    known.clear()
