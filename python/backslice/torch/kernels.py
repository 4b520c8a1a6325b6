"""The kernels that autograd runs for slices."""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .. import Error
from . import counting, memory, small_slices, terms
from .internals import Internals

aten = torch.ops.aten
KEYS = ("CPU", "CUDA")  # PyTorch's names of where kernels run


@dataclass(slots=True)
class Sizes:
    """Sizes of a gradient in bytes from which on it is taken: as one of several slices, and as the first."""

    many: float = math.inf
    single: float = math.inf


SHIPPED: dict[str, tuple[float, float]] = {"CPU": (2**21, 2**23), "CUDA": (2**25, math.inf)}
sizes = {key: Sizes() for key in KEYS}  # those in force


def switch_on(limits: dict[str, tuple[float, float]]) -> None:
    for key, (many, single) in limits.items():
        sizes[key].single, sizes[key].many = single, many
    small_slices.set_limit(sizes["CPU"].many)


def switch_off() -> None:
    """Leave every gradient to PyTorch, in all threads, whether or not the kernels are registered."""
    switch_on(dict.fromkeys(KEYS, (math.inf, math.inf)))


@dataclass(frozen=True)
class Operation:
    """One of PyTorch's ops, by its name."""

    name: str
    index: Callable[..., tuple[Any, ...]]  # of NumPy, from the shape and the op's arguments
    part: Callable[..., Any]  # of a tensor that has that shape

    @property
    def overload(self) -> Any:
        return getattr(aten, self.name).default


def _select_index(shape: Sequence[int], dim: int, index: int) -> tuple[Any, ...]:
    return (*(slice(None),) * (dim % len(shape)), index)


def _select_part(x: Any, dim: int, index: int) -> Any:
    return x.select(dim, index)


def _slice_index(shape: Sequence[int], dim: int, start: int, end: int, step: int) -> tuple[Any, ...]:
    return (*(slice(None),) * (dim % len(shape)), slice(start, end, step))


def _slice_part(x: Any, dim: int, start: int, end: int, step: int) -> Any:
    first, last, _ = slice(start, end).indices(x.shape[dim])
    if step == 1:
        return x.narrow(dim, first, max(last - first, 0))
    return aten.slice.Tensor(x, dim, start, end, step)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("select_backward", _select_index, _select_part),
        Operation("slice_backward", _slice_index, _slice_part),
    )
}


@dataclass(frozen=True, slots=True)
class Bound:
    """An operation on one device type, with PyTorch's kernel as it was before ours took its place."""

    part: Callable[..., Any]
    own: Callable[..., Any]


def own_kernel(operation: Operation, key: str, internals: Internals) -> Callable[..., Any]:
    """Return PyTorch's kernel, as it was before ours took its place."""
    call, keys = torch.library.get_kernel(operation.overload, key).call_boxed, internals.keys[key]
    return functools.partial(call, keys)


def slice_nodes() -> frozenset[type]:
    """Return the types of the nodes whose gradients these operations are."""
    with torch.inference_mode(False), torch.enable_grad():
        x = torch.ones(1, device="cpu", requires_grad=True)
        return frozenset({type(x[0].grad_fn), type(x[0:1].grad_fn)})


def kernel(operation: Operation, key: str, internals: Internals) -> Callable[..., Any]:
    """Return a kernel for that op, for that key. What runs once per slice is written for speed."""
    own, limits, nodes = own_kernel(operation, key, internals), sizes[key], slice_nodes()
    bound, where, taken = Bound(operation.part, own), (operation.name, key), counting.taken
    current_node, is_on_device = internals.current_node, key == "CUDA"

    def run(dy: Any, shape: Any, *arguments: Any) -> Any:
        size = math.prod(shape) * dy.itemsize
        if size < limits.many:
            return own(dy, shape, *arguments)
        node = current_node()
        reason = _why_not(node, dy, nodes, internals)
        if reason is not None:
            counting.count_left(operation.name, key, reason)
            return own(dy, shape, *arguments)
        buffers, target = terms.current_buffers(internals), node.next_functions[0]
        buffer = buffers.get(target)
        if buffer is not None and buffer.last is not node:
            taken[where] += 1
            buffer.last = node
            stream = internals.stream(dy.get_device()) if is_on_device and internals.stream else None
            return terms.make(internals, buffer, dy, stream, bound, shape, arguments)
        dx = _computed(operation, dy, shape, arguments) if size >= limits.single else None
        if dx is None:
            dx = own(dy, shape, *arguments)
        else:
            taken[where] += 1
        if buffer is None:
            buffers[target] = terms.Buffer(node, None if is_on_device else dx)
        return dx

    return run


def _computed(operation: Operation, dy: Any, shape: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the gradient of one slice, written once; None where backslice cannot write it."""
    if dy.is_cuda or not memory.is_known(dy) or len(shape) > memory.MAX_RANK:
        return None
    try:
        return memory.gradient(dy, shape, operation.index(shape, *arguments))
    except Error:
        return None


def _why_not(node: Any, dy: Any, nodes: frozenset[type], internals: Internals) -> str | None:
    """Return why a gradient is left to PyTorch."""
    if type(node) not in nodes:
        return "called by other code than autograd's engine"
    if torch.is_grad_enabled():
        return "create_graph=True"
    if internals.dispatch_modes() or internals.transforms() is not None:
        return "inside a mode or a transform"
    if internals.forward_mode._current_level >= 0:
        return "inside a level of forward mode"
    if type(dy) is not torch.Tensor:
        return f"a tensor of class {type(dy).__name__}"
    if dy.is_inference():
        return "a tensor made in inference mode"
    return "hooks on the node of the slice" if _has_hooks(node) else None


def _has_hooks(node: Any) -> bool:
    """Tell whether Python may see, keep or replace what this node returns before the engine adds it."""
    handle = node.register_hook(_nothing)
    hooks = handle.hooks_dict_ref()
    handle.remove()
    return len(hooks) > 0


def _nothing(*_: Any) -> None:
    """A hook that is removed before it runs."""
