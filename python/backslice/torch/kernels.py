"""The kernels that autograd runs for slices: they only note what is to be done, where that pays."""

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from . import counting, devices, growing, pending, sums
from .arrays import DTYPES, MAX_RANK, is_plain
from .asking import Answer, Question
from .capture import captured, copied, shared_memory
from .lazy import RULES, LazySliceGrad, make, most_bytes, through
from .placement import Placement, entries_of, is_supported, of_diagonal, of_select, of_slice, of_unfold
from .plainly import are_plain_kernels, plainly

aten = torch.ops.aten
KEYS = ("CPU", "CUDA")  # PyTorch's names of where kernels run

in_use: set[tuple[str, str]] = set()  # the ops whose kernels are ours, each with a key
# Sizes of a gradient in bytes. Below the first, PyTorch's own way is as fast however many slices there are; below the
# second, it is for a single slice, so that the first one of a tensor is left to it.
SMALL = 3 * 2**20
MEDIUM = 2**23
# On a device, PyTorch's launches take less time than noting a slice does; what they do takes longer from some size on.
# The gradient of the first slice is computed at once there.
SMALL_ON_DEVICE = 2**27
MEDIUM_ON_DEVICE = 2**62
# Up to that size a gradient of a slice on a device is added by a launch of its own, which takes less time than to have
# it wait.
AT_ONCE = 2**24


@dataclass(slots=True)
class Sizes:
    """Those that are in force; the first two are infinite while the kernels are switched off."""

    small: float = math.inf
    medium: float = math.inf
    at_once: int = 0


_sizes = {key: Sizes() for key in KEYS}


def as_shipped() -> dict[str, Sizes]:
    return {"CPU": Sizes(SMALL, MEDIUM, AT_ONCE), "CUDA": Sizes(SMALL_ON_DEVICE, MEDIUM_ON_DEVICE, AT_ONCE)}


def switch_on(registered: Iterable[tuple[str, str]], sizes: dict[str, Sizes]) -> None:
    in_use.update(registered)
    for key, found in sizes.items():
        in_force = _sizes[key]
        in_force.at_once, in_force.medium, in_force.small = found.at_once, found.medium, found.small


def switch_off() -> None:
    """Every gradient is left to PyTorch, in all threads, whether or not the kernels are registered."""
    for sizes in _sizes.values():
        sizes.small = sizes.medium = math.inf
    in_use.clear()


def _select(shape: Sequence[int], dim: int, index: int) -> Placement:
    dim = dim % len(shape)
    return of_select(len(shape), dim, index + shape[dim] if index < 0 else index)


def _slice(shape: Sequence[int], dim: int, start: int, end: int, step: int) -> Placement:
    dim = dim % len(shape)
    first, _, _ = slice(start, end, step).indices(shape[dim])
    return of_slice(len(shape), dim, first, step)


def _unfold(shape: Sequence[int], dim: int, size: int, step: int) -> Placement:
    return of_unfold(len(shape), dim % len(shape), step)


def _diagonal(shape: Sequence[int], offset: int, dim1: int, dim2: int) -> Placement:
    return of_diagonal(len(shape), offset, dim1 % len(shape), dim2 % len(shape))


@dataclass(frozen=True)
class Operation:
    """One of PyTorch's ops."""

    name: str
    place: Callable[..., Placement]
    kind: int  # of its arguments

    @property
    def is_plain_slice(self) -> bool:
        """Supported for every shape."""
        return self.kind != growing.OF_OTHERS

    @property
    def overload(self) -> Any:
        return getattr(aten, self.name).default


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("select_backward", _select, growing.OF_SELECT),
        Operation("slice_backward", _slice, growing.OF_SLICE),
        Operation("unfold_backward", _unfold, growing.OF_OTHERS),
        Operation("diagonal_backward", _diagonal, growing.OF_OTHERS),
    )
}


def own_kernel(name: str, key: str) -> Callable[..., Any]:
    """PyTorch's own kernel, as it was before ours took its place."""
    kernel = torch.library.get_kernel(OPERATIONS[name].overload, key)
    keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))
    return lambda *arguments: kernel.call_boxed(keys, *arguments)


def kernel(name: str, key: str) -> Callable[..., Any]:
    """A kernel for that op, for that key."""
    operation, own, sizes = OPERATIONS[name], own_kernel(name, key), _sizes[key]
    adder = growing.adder(name, key, operation.kind, operation.place, sizes)

    def run(dy: Any, shape: Any, *arguments: Any) -> Any:
        references = sys.getrefcount(dy)
        waiting = adder.add(dy, shape, arguments)
        if waiting is True:
            return None
        if waiting is not None and _is_added(
            operation, adder, sizes.at_once, waiting, dy, references, shape, arguments
        ):
            adder.count(waiting)
            return None
        size = math.prod(shape) * dy.element_size()
        if size < sizes.small:
            return own(dy, shape, *arguments)
        reason = _why_not(dy)
        receiver = pending.receiver() if reason is None else None
        if size < sizes.medium and reason is None and pending.is_first_for(receiver):
            dx = _computed(operation, dy, shape, arguments) if devices.takes(dy.device) else None
            if dx is None:
                return own(dy, shape, *arguments)
            counting.count_taken(name, key)
            return dx
        if reason is None:
            placement = operation.place(shape, *arguments)
            if operation.is_plain_slice or is_supported(placement, dy.shape):
                counting.count_taken(name, key)
                pending.prepare(receiver)
                lazy = _noted(name, dy, references, tuple(shape), placement)
                growing.begin(receiver, adder, dy, shape, size, lazy)
                return lazy
            reason = "windows of windows, or too many of them"
        counting.count_left(name, key, reason)
        return own(dy, shape, *arguments)

    return run


def _computed(operation: Operation, dy: Any, shape: Any, arguments: tuple[Any, ...]) -> Any:
    """The gradient of one slice, by one kernel on its device; None where that takes more."""
    entries = entries_of(operation.place(shape, *arguments), dy.shape) if operation.is_plain_slice else None
    if entries is None or dy.numel() == 0:
        return None
    if are_plain_kernels():
        return devices.gradient(tuple(shape), (entries,), (dy,))
    return plainly(devices.gradient, tuple(shape), (entries,), (dy,))


def _is_added(
    operation: Operation,
    adder: Any,
    at_once: int,
    waiting: growing.Waiting,
    dy: Any,
    references: int,
    shape: Any,
    arguments: tuple[Any, ...],
) -> bool:
    """Has the gradient of a slice wait in the sum that waits for it, or adds it to that, if that can be."""
    lazy, kept = waiting.lazy(), None
    if lazy is None:
        return False
    if waiting.is_on_device:
        kept = None if id(dy) in waiting.given else shared_memory(operation.name, dy, references)
        # Small ones were tried.
        if kept is None and dy.nbytes > at_once and adder.add_at_once(waiting, lazy, dy, shape, arguments):
            return True
    placement = operation.place(shape, *arguments)
    if not operation.is_plain_slice and not (_is_small(dy) and is_supported(placement, dy.shape)):
        return False
    if dy.is_inference():  # which has no version
        return False
    if kept is None:
        kept = copied(dy) if waiting.is_on_device else captured(operation.name, dy, references)
    return bool(lazy.grow(sums.placed(placement, sums.leaf(kept))))


def _is_small(dy: Any) -> bool:
    """Windows that overlap have gradients larger than what they were taken from."""
    return bool(dy.numel() * dy.element_size() <= most_bytes(dy.device))


def _noted(name: str, dy: Any, references: int, shape: tuple[int, ...], placement: Placement) -> Any:
    kept = sums.leaf(captured(name, dy, references))
    lazy = make(shape, dy.dtype, dy.device, sums.placed(placement, kept))
    if kept.bytes > most_bytes(dy.device):
        del kept
        lazy.bounded_sum()
    return lazy


def _why_not(dy: Any) -> str | None:
    """Why a gradient is left to PyTorch."""
    if type(dy) is Question:
        raise Answer
    if not pending.is_running():
        return "called outside a backward pass"
    if pending.is_in_forward_mode():
        return "inside a level of forward mode"
    if type(dy) is not torch.Tensor:
        return f"a tensor of class {type(dy).__name__}"
    if not pending.is_called_by_engine():
        return "called by Python code, as by tensor subclasses and modes"
    if dy.dtype not in DTYPES:
        return f"a tensor of {dy.dtype}"
    if dy.is_inference() or (dy.is_complex() and not is_plain(dy)):  # conjugated when it is read
        return "a tensor without ordinary memory"
    if dy.dim() >= MAX_RANK:
        return "too many axes"
    return devices.why_not(dy.device) if devices.takes(dy.device) else None


def _rule(name: str) -> Callable[..., Any]:
    """What becomes of a sum that goes through a slice."""
    operation = OPERATIONS[name]

    def run(dy: Any, shape: Any, *arguments: Any) -> Any:
        if not isinstance(dy, LazySliceGrad) or (name, (key := dy.device.type.upper())) not in in_use:
            return None
        result = through(dy, shape, operation.place(shape, *arguments), operation.is_plain_slice)
        if result is not None:
            counting.count_taken(name, key)
        return result

    return run


RULES.update({operation.overload: _rule(name) for name, operation in OPERATIONS.items()})
