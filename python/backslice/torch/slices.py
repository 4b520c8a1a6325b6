"""Slices whose gradient is one pass over the tensor, however many there are."""

import math
from collections.abc import Sequence
from typing import Any

import torch

from .. import Error, slice_grad
from .. import slice as pooled_slice
from . import counting, devices, pending
from .arrays import DTYPES, MAX_RANK, as_array, as_tensor
from .indexing import Entries, array_index, entries_of, flattened, forward_index, result_shape, with_batch
from .operators import pad_sum, sum_on_device
from .plainly import are_plain_kernels

PLAIN = torch._C._dispatch_keys(torch.empty(0)).raw_repr()  # nothing but memory of the CPU is behind such a tensor
POOLED = 2**24  # bytes of a copy from which on backslice's memory is faster


def multi_slice(x: Any, indices: Sequence[Any]) -> list[Any]:
    """Take many slices of one tensor.

    The values are those of ``[x[index] for index in indices]``, and share the memory of `x` unless an axis is turned
    around, which PyTorch's tensors can only be as copies. The gradient of all of them is one pass that writes every
    element once, where PyTorch makes a tensor of the size of `x` per slice and adds them up. It works without
    :func:`install`.

    Parameters
    ----------
    x : torch.Tensor
        What is sliced.
    indices : sequence of index
        One index per slice, as in ``x[...]``: integers, slices, ``...``, ``None`` and tuples of them, with negative
        steps too; a text such as ``"1:3, ::-2"``; or a :class:`backslice.Selection`.

    Returns
    -------
    list of torch.Tensor
        One per index. As with all views that one function returns, they cannot be changed in place.

    Raises
    ------
    IndexError
        An integer is out of range, or an index has more entries than `x` has axes.
    NotImplementedError
        An index has a list, a mask or a tensor of indices.

    Examples
    --------
    >>> steps = bt.multi_slice(x, [(slice(None), t) for t in range(512)])
    >>> sum(step.square().sum() for step in steps).backward()
    """
    many = tuple(entries_of(index, x.shape) for index in indices)
    return list(_slices(x, many)) if many else []


def slice(x: Any, index: Any) -> Any:
    """Take a slice of a tensor, with a gradient that is one node and one pass, whatever the index.

    Like ``x[index]``, with negative steps too.

    Parameters
    ----------
    x : torch.Tensor
        What is sliced.
    index : index
        As one of those of :func:`multi_slice`.

    Returns
    -------
    torch.Tensor
        ``x[index]``: a view of `x`, or a copy where a negative step turns an axis around.
    """
    return _slices(x, (entries_of(index, x.shape),))[0]


def pad_to(dy: Any, shape: Sequence[int], index: Any) -> Any:
    """Put a tensor into zeros: the gradient of a slice.

    Parameters
    ----------
    dy : torch.Tensor
        What is put there: of the shape of ``x[index]``, or one that broadcasts to it.
    shape : sequence of int
        The shape of the result.
    index : index
        Where in the result it is put; as one of those of :func:`multi_slice`.

    Returns
    -------
    torch.Tensor
        `dy` at `index`, zero elsewhere.

    Raises
    ------
    ValueError
        `dy` does not broadcast to the shape of the slice.

    Examples
    --------
    >>> bt.pad_to(torch.tensor([1.0, 2.0]), (4,), np.s_[1:3])
    tensor([0., 1., 2., 0.])
    """
    if not torch.compiler.is_compiling() and dy.is_cuda and _is_direct([dy]):
        try:
            return _padded(dy, tuple(shape), index)
        except Error:  # said below, in words of this function
            pass
    entries = entries_of(index, shape)
    expected = result_shape(entries)
    try:
        dy = dy.expand(expected)
    except RuntimeError as error:
        raise ValueError(
            f"dy has shape {tuple(dy.shape)}, expected {expected}, that of the slice, or one that broadcasts to it"
        ) from error
    return _sum(tuple(shape), (entries,), [dy])


def _padded(dy: Any, shape: tuple[int, ...], index: Any) -> Any:
    """The same by one call, which reads the index too."""
    dx = slice_grad(dy, shape, index)
    counting.count_event("sums")
    return dx


def _taken(x: Any, entries: Entries) -> Any:
    index, turned = forward_index(entries)
    return x[index].flip(turned) if turned else x[index]


def _values(x: Any, entries: Entries) -> Any:
    """The same without history. What is to be turned around is copied by all cores if it is large, or on its device."""
    if any(step < 0 for _, _, step, _ in entries) and not torch.compiler.is_compiling() and forward_index(entries)[1]:
        if _is_plain(x) and math.prod(result_shape(entries)) * x.element_size() >= POOLED:
            return as_tensor(pooled_slice(as_array(x), array_index(entries)))
        if _is_seen_by_nobody() and devices.are_plain([x]):
            return devices.values(x, entries)
    return _taken(x, entries)


def _is_plain(x: Any) -> bool:
    is_exact = type(x) in (torch.Tensor, torch.nn.Parameter) and x.dtype in DTYPES and x.layout is torch.strided
    return is_exact and x.dim() <= MAX_RANK and torch._C._dispatch_keys(x).raw_repr() == PLAIN


def _is_seen_by_nobody() -> bool:
    """Whether no mode or transform wants to see what is done to plain tensors."""
    return are_plain_kernels() and not pending.is_in_forward_mode()


def _is_direct(dys: Sequence[Any]) -> bool:
    """Whether their sum needs neither a history nor PyTorch's dispatcher, which take longer than a small sum does."""
    if torch.is_grad_enabled() and any(dy.requires_grad for dy in dys):
        return False
    return _is_seen_by_nobody() and devices.are_plain(dys)


def _slices(x: Any, many: tuple[Entries, ...]) -> Any:
    # What is compiled must not have a rule for forward mode.
    return (_MultiSlice if torch.compiler.is_compiling() else _MultiSliceWithTangent).apply(x, many)


def _sum(shape: Any, many: tuple[Entries, ...], dys: Sequence[Any]) -> Any:
    if not torch.compiler.is_compiling() and len(shape) <= MAX_RANK and _is_direct(dys):
        return sum_on_device(dys, shape, many)
    return (_PadSum if torch.compiler.is_compiling() else _PadSumWithTangent).apply(shape, many, *dys)


def _sum_of_given(shape: Any, many: tuple[Entries, ...], dys: Sequence[Any]) -> Any:
    if type(None) in set(map(type, dys)):
        given = [(entries, dy) for entries, dy in zip(many, dys, strict=True) if dy is not None]
        if not given:
            return None
        many, dys = tuple(entries for entries, _ in given), [dy for _, dy in given]
    if torch.compiler.is_compiling():  # which differentiates once, and not what is inside a gradient
        return pad_sum(list(dys), shape, *flattened(many))
    return _sum(shape, many, dys)


class _MultiSlice(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(x: Any, many: tuple[Entries, ...]) -> Any:
        return tuple(_values(x, entries) for entries in many)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, ctx.many = inputs
        ctx.shape = tuple(x.shape)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *dys: Any) -> Any:
        return _sum_of_given(ctx.shape, ctx.many, dys), None

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, many: Any) -> Any:
        batched = tuple(with_batch(entries, info.batch_size) for entries in many)
        return _slices(x.movedim(in_dims[0], 0), batched), (0,) * len(many)


class _MultiSliceWithTangent(_MultiSlice):
    @staticmethod
    def jvp(ctx: Any, x_tangent: Any, _: Any) -> Any:
        return tuple(_taken(x_tangent, entries) for entries in ctx.many)


class _PadSum(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(shape: Any, many: tuple[Entries, ...], *dys: Any) -> Any:
        return pad_sum(list(dys), shape, *flattened(many))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.shape, ctx.many, *_ = inputs

    @staticmethod
    def backward(ctx: Any, ddx: Any) -> Any:
        return None, None, *_slices(ddx, ctx.many)

    @staticmethod
    def vmap(info: Any, in_dims: Any, shape: Any, many: Any, *dys: Any) -> Any:
        size = info.batch_size
        aligned = [
            dy.expand(size, *dy.shape) if dim is None else dy.movedim(dim, 0)
            for dy, dim in zip(dys, in_dims[2:], strict=True)
        ]
        return _sum((size, *shape), tuple(with_batch(entries, size) for entries in many), aligned), 0


class _PadSumWithTangent(_PadSum):
    @staticmethod
    def jvp(ctx: Any, _: Any, __: Any, *tangents: Any) -> Any:
        return _sum_of_given(ctx.shape, ctx.many, tangents)
