"""Takes a gradient that is to be read later, so that nothing that happens meanwhile changes what is read.

Autograd hands most gradients on and forgets them: those are taken as they are. Where a program holds one as well, its
memory is shared until somebody writes to it (PyTorch's copy on write). Where memory may be written to without PyTorch's
knowing, there is a copy.

Who holds a gradient shows in the references to the Python object, to the tensor behind it and to its memory. How many
there are when nobody does depends on the versions of Python and PyTorch, so `install()` measures it; where that cannot
tell the cases apart, every gradient is copied.
"""

import sys
from dataclasses import dataclass
from typing import Any

import torch

from .. import slice as pooled_slice
from . import counting, pending
from .arrays import as_array, as_tensor
from .plainly import Plainly

# How often the Python object, the tensor and its memory are held.
References = tuple[int, int, int]
UNKNOWN: References = (0, 0, 0)
POOLED = 2**20  # bytes from which on backslice's memory is faster


@dataclass(frozen=True, slots=True)
class Known:
    """What is seen where nobody holds a gradient, and where only the caller of the backward pass does."""

    alone: References = UNKNOWN
    by_caller: References = UNKNOWN


NOTHING = Known()
_share = torch._lazy_clone
_use_count = torch._C._storage_Use_Count
_known: dict[str, Known] = {}
_seen: dict[str, References] | None = None  # while it is measured


def captured(op: str, dy: Any) -> Any:
    """A tensor with the values of `dy`, which stay as they are.

    Only kernels call it, directly: who calls counts among those who hold it.
    """
    storage = dy.untyped_storage()
    held = _references(op, dy, storage)
    known = _known.get(op, NOTHING)
    if not storage.resizable():
        return _copied(op, dy)
    if are_within(held, known.alone):
        counting.count_taken(op)
        return dy
    if _is_known_to_pytorch_only(dy, held, known):
        counting.count_taken(op, "shared")
        return _share(dy)
    return _copied(op, dy)


def is_alone(op: str, gradient: Any) -> bool:
    """Whether nobody but the engine has that gradient, so that it may be written to.

    Only the rule of one operation calls it, directly.
    """
    storage = gradient.untyped_storage()
    held = _references(op, gradient, storage)
    return storage.resizable() and are_within(held, _known.get(op, NOTHING).alone)


def _references(op: str, dy: Any, storage: Any) -> References:
    held = (sys.getrefcount(dy), dy._use_count(), _use_count(storage._cdata))
    if _seen is not None:
        _seen[op] = held
    return held


def _copied(op: str, dy: Any) -> Any:
    counting.count_taken(op, "copies")
    with Plainly():
        return _copy(dy)


def are_within(held: References, bound: References) -> bool:
    return held[0] <= bound[0] and held[1] <= bound[1] and held[2] <= bound[2]


def _is_known_to_pytorch_only(dy: Any, held: References, known: Known) -> bool:
    """Whether nobody but Python code, and the engine where the caller gave it, holds it: nobody writes past PyTorch.

    Memory that was exported to NumPy, or came from there, cannot be resized; what was exported by DLPack is held by
    the exporter.
    """
    _, to_tensor, to_memory = held
    if to_memory > known.alone[2]:
        return False
    return to_tensor <= known.alone[1] or (to_tensor <= known.by_caller[1] and pending.was_given(dy))


def _copy(tensor: Any) -> Any:
    """Of one of each element that the tensor repeats by a stride of zero, repeated again."""
    once = tensor
    if 0 in tensor.stride():
        once = tensor[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in tensor.stride())]
    if once.numel() * once.element_size() < POOLED:
        return once.clone().expand(tensor.shape)
    return as_tensor(pooled_slice(as_array(once), ...)).expand(tensor.shape)


class Measurement:
    """What `captured` sees while the kernels are tried out."""

    def __enter__(self) -> "Measurement":
        global _seen
        _seen = {}
        return self

    def __exit__(self, *_: object) -> None:
        global _seen
        _seen = None

    def take(self, op: str) -> References | None:
        """What was seen since the last time."""
        assert _seen is not None
        return _seen.pop(op, None)


def trust(op: str, known: Known) -> None:
    _known[op] = known


def trust_nothing() -> None:
    _known.clear()
