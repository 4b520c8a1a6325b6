"""Gradients of slices that are added, one by one, to a sum in an input buffer of autograd's engine.

The first slice of a tensor returns an ordinary gradient. Each later one returns a :class:`Term`, which the engine adds
to its buffer at once, while the node of the slice still runs. That addition arrives here. The first one makes a new
sum, which the engine then has in its buffer and nobody else has ever had; each later one adds to that sum in place.
"""

import weakref
from typing import Any

import torch

from .internals import Internals
from .memory import expect_writes

ADD = torch.ops.aten.add.Tensor


class Buffer:
    """The state of one input buffer during one backward pass."""

    __slots__ = ("last", "sum")

    def __init__(self, node: Any, dx: Any) -> None:
        self.last = node  # the last node that gave a gradient of a slice
        # a weak reference to the tensor that was made for the buffer, and may be changed in place
        self.sum: Any = None if dx is None else weakref.ref(dx)


class Pass:
    """The buffers of one backward pass, by node and input. The engine holds it until the pass ends or fails."""

    __slots__ = ("__weakref__", "buffers")

    def __init__(self) -> None:
        self.buffers: dict[Any, Buffer] = {}

    def end(self) -> None:
        self.buffers.clear()


_passes: "weakref.WeakValueDictionary[int, Pass]" = weakref.WeakValueDictionary()


_latest: tuple[int, Any] = (-1, lambda: None)  # the number of a pass, and a weak reference to it


def current_buffers(internals: Internals) -> dict[Any, Buffer]:
    """Return those of the pass that this thread is inside."""
    global _latest
    number = internals.current_pass()
    latest = _latest
    if latest[0] == number and (found := latest[1]()) is not None:
        return found.buffers  # type: ignore[no-any-return]
    found = _passes.get(number)
    if found is None:
        found = _passes.setdefault(number, Pass())
        internals.at_end_of_pass(found.end)
    _latest = number, weakref.ref(found)
    return found.buffers


class Term(torch.Tensor):  # type: ignore[misc]
    """The gradient of a slice that is still to be added, in the shape of what was sliced.

    It lives from the end of a kernel to the addition that follows. Whatever else is done with it is done with the
    ordinary tensor that it stands for.
    """

    _what: tuple[Internals, Buffer, Any, int, Any, Any, Any, tuple[Any, ...]]
    _dense: Any = None

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is ADD and len(args) == 2 and not kwargs:
            total, term = args
            if type(total) is torch.Tensor and type(term) is Term and term._dense is None:
                return _sum(total, term)
        return cls.__torch_function__(func, types, args, kwargs)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*ordinary(args), **ordinary(kwargs or {}))


def make(
    internals: Internals, buffer: Buffer, dy: Any, stream: Any, operation: Any, shape: Any, arguments: tuple[Any, ...]
) -> Any:
    """Return the term of a slice; `stream` is that on which its `dy` was made."""
    term = internals.make_wrapper(Term, shape, dtype=dy.dtype, device=dy.device)
    term._what = internals, buffer, dy, dy._version, stream, operation, shape, arguments
    return term


def ordinary(value: Any) -> Any:
    """Return `value` with the ordinary tensor that each term in it stands for, always the same one."""
    if type(value) is Term:
        return value._dense if value._dense is not None else _computed(value)
    if isinstance(value, list | tuple):
        items = map(ordinary, value)
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return {key: ordinary(item) for key, item in value.items()} if isinstance(value, dict) else value


def _computed(term: Any) -> Any:
    _, _, dy, version, _, operation, shape, arguments = term._what
    if dy._version != version:
        raise RuntimeError("the gradient of a slice was changed in place before the gradient that needs it was read")
    term._dense = operation.own(dy, shape, *arguments)
    return term._dense


def _sum(total: Any, term: Any) -> Any:
    """Return `total + term`, in the memory of `total` if that is the sum that was made for this buffer."""
    internals, buffer, *_ = term._what
    if internals.current_node() is not buffer.last:
        return ADD(total, ordinary(term))
    if internals.function_modes():
        with internals.plain_functions():
            return _added(total, term)
    return _added(total, term)


def _added(total: Any, term: Any) -> Any:
    internals, buffer, dy, _, stream, operation, _, arguments = term._what
    own, buffer.sum = buffer.sum, None  # until the addition is complete, the sum may not be changed again
    if own is None or own() is not total:
        copy = _copied(total, dy)
        if copy is None:
            return _new_sum(total, term)
        total, own = copy, weakref.ref(copy)
    if stream is not None and internals.stream(dy.get_device()) != stream:
        dy.record_stream(torch.cuda.current_stream(dy.device))
    operation.part(total, *arguments).add_(dy)
    buffer.sum = own
    return total


def _new_sum(total: Any, term: Any) -> Any:
    _, buffer, dy, *_ = term._what
    made = ADD(total, ordinary(term))
    if type(made) is torch.Tensor and made.dtype is dy.dtype and made.device == dy.device:
        buffer.sum = weakref.ref(made)
    return made


def _copied(total: Any, dy: Any) -> Any:
    """Return a copy with the strides of PyTorch's sum; None if it cannot have them."""
    if total.dtype is not dy.dtype or total.device != dy.device or total.layout is not torch.strided:
        return None
    if total.is_conj() or total.is_neg():
        return None
    copy = torch.empty_like(total)
    if copy.stride() != total.stride():
        return None
    expect_writes(copy)
    return copy.copy_(total)
