"""Takes a gradient that is to be read later: as it is where nobody else can change it meanwhile, else a copy.

Autograd hands most gradients on and forgets them. Who else holds one shows in the references to the Python object, to
the tensor behind it and to its memory. How many there are when nobody does depends on the versions of Python and
PyTorch, so `install()` measures it; where that cannot tell the cases apart, every gradient is copied.
"""

import sys
from dataclasses import dataclass
from typing import Any

import torch

from . import counting
from .plainly import Plainly


@dataclass(frozen=True, slots=True)
class References:
    """How often the Python object, the tensor and its memory are held."""

    to_object: int
    to_tensor: int
    to_memory: int

    def are_within(self, other: "References") -> bool:
        return (
            self.to_object <= other.to_object
            and self.to_tensor <= other.to_tensor
            and self.to_memory <= other.to_memory
        )


NOBODY_ELSE = References(0, 0, 0)  # not known yet: everything is copied
_nobody_else: dict[str, References] = {}
_seen: dict[str, References] | None = None  # while they are measured


def captured(op: str, dy: Any) -> Any:
    """A tensor with the values of `dy`, which stay as they are.

    Only kernels call it, directly: who calls counts among the references.
    """
    storage = dy.untyped_storage()
    found = References(sys.getrefcount(dy), dy._use_count(), torch._C._storage_Use_Count(storage._cdata))
    if _seen is not None:
        _seen[op] = found
    # Memory that PyTorch did not allocate may have other owners, of which it does not know.
    if found.are_within(_nobody_else.get(op, NOBODY_ELSE)) and storage.resizable():
        return dy
    counting.count_event("copies")
    return compact_copy(dy)


def compact_copy(tensor: Any) -> Any:
    """A copy that repeats no element which the tensor repeats by a stride of zero."""
    with Plainly():
        if 0 not in tensor.stride():
            return tensor.clone()
        once = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in tensor.stride())
        return tensor[once].clone().expand(tensor.shape)


class Measurement:
    """What `captured` sees while the kernels are tried out."""

    def __enter__(self) -> "Measurement":
        global _seen
        _seen = {}
        return self

    def __exit__(self, *_: object) -> None:
        global _seen
        _seen = None

    def take(self) -> dict[str, References]:
        """What was seen since the last time, per op."""
        global _seen
        assert _seen is not None
        seen, _seen = _seen, {}
        return seen


def trust(counts: dict[str, References]) -> None:
    _nobody_else.update(counts)


def trust_nothing() -> None:
    _nobody_else.clear()
