"""The kernels that autograd runs for slices: they only note what is to be done, where that pays."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from . import counting, pending, sums
from .arrays import DTYPES, MAX_RANK, is_plain
from .asking import Answer, Question
from .capture import captured
from .lazy import MAX_BYTES, RULES, LazySliceGrad, make, through
from .placement import Placement, is_supported, of_diagonal, of_select, of_slice, of_unfold

aten = torch.ops.aten
CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)

in_use: set[str] = set()  # the ops whose kernels are ours
# Sizes of a gradient in bytes. Below the first, PyTorch's own way is as fast however many slices there are; below the
# second, it is for a single slice, so that the first one of a tensor is left to it.
SMALL = 3 * 2**20
MEDIUM = 2**23


class _Sizes:
    """The two that are in force; infinite while the kernels are switched off."""

    small: float = math.inf
    medium: float = math.inf


_sizes = _Sizes()


def switch_on(names: Iterable[str], small: int, medium: int) -> None:
    in_use.update(names)
    _sizes.medium, _sizes.small = medium, small


def switch_off() -> None:
    """Every gradient is left to PyTorch, in all threads, whether or not the kernels are registered."""
    _sizes.small = _sizes.medium = math.inf
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
    is_plain_slice: bool  # and so supported for every shape

    @property
    def overload(self) -> Any:
        return getattr(aten, self.name).default


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("select_backward", _select, True),
        Operation("slice_backward", _slice, True),
        Operation("unfold_backward", _unfold, False),
        Operation("diagonal_backward", _diagonal, False),
    )
}


def own_kernel(name: str) -> Callable[..., Any]:
    """PyTorch's own kernel, as it was before ours took its place."""
    kernel = torch.library.get_kernel(OPERATIONS[name].overload, "CPU")
    return lambda *arguments: kernel.call_boxed(CPU, *arguments)


def kernel(name: str) -> Callable[..., Any]:
    """A kernel for that op, on the CPU."""
    operation, own = OPERATIONS[name], own_kernel(name)

    def run(dy: Any, shape: Any, *arguments: Any) -> Any:
        size = math.prod(shape) * dy.element_size()
        if size < _sizes.small:
            return own(dy, shape, *arguments)
        reason = _why_not(dy)
        if size < _sizes.medium and reason is None and pending.is_first_of_its_tensor():
            return own(dy, shape, *arguments)
        if reason is None:
            placement = operation.place(shape, *arguments)
            if operation.is_plain_slice or is_supported(placement, dy.shape):
                return _noted(name, dy, tuple(shape), placement)
            reason = "windows of windows, or too many of them"
        counting.count_left(name, reason)
        return own(dy, shape, *arguments)

    return run


def _noted(name: str, dy: Any, shape: tuple[int, ...], placement: Placement) -> Any:
    pending.prepare_receivers()
    kept = sums.leaf(captured(name, dy))
    lazy = make(shape, dy.dtype, sums.placed(placement, kept))
    if kept.bytes > MAX_BYTES:  # windows that overlap have gradients larger than what they were taken from
        del kept
        lazy.bounded_sum()
    return lazy


def _why_not(dy: Any) -> str | None:
    """Why a gradient is left to PyTorch."""
    if type(dy) is Question:
        raise Answer
    if not pending.is_running():
        return "called outside a backward pass"
    if type(dy) is not torch.Tensor:
        return f"a tensor of class {type(dy).__name__}"
    if not pending.is_called_by_engine():
        return "called by Python code, as by tensor subclasses and modes"
    if dy.dtype not in DTYPES:
        return f"a tensor of {dy.dtype}"
    if dy.is_inference() or (dy.is_complex() and not is_plain(dy)):  # conjugated when it is read
        return "a tensor without ordinary memory"
    return None if dy.dim() < MAX_RANK else "too many axes"


def _rule(name: str) -> Callable[..., Any]:
    """What becomes of a sum that goes through a slice."""
    operation = OPERATIONS[name]

    def run(dy: Any, shape: Any, *arguments: Any) -> Any:
        if name not in in_use or not isinstance(dy, LazySliceGrad):
            return None
        result = through(dy, shape, operation.place(shape, *arguments), operation.is_plain_slice)
        if result is not None:
            counting.count_taken(name)
        return result

    return run


RULES.update({operation.overload: _rule(name) for name, operation in OPERATIONS.items()})
