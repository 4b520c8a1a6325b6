"""Slices whose gradient is one pass over the tensor, however many there are."""

from collections.abc import Sequence
from typing import Any

import torch

from .indexing import Entries, entries_of, flattened, forward_index, part_of, result_shape, with_batch
from .operators import sum_of_slices


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
    """Take a slice of a tensor, with a gradient that is one node and one pass for every index.

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
    entries = entries_of(index, shape)
    expected = result_shape(entries)
    try:
        dy = dy.expand(expected)
    except RuntimeError as error:
        raise ValueError(
            f"dy has shape {tuple(dy.shape)}, expected {expected}, that of the slice, or one that broadcasts to it"
        ) from error
    return _sum(tuple(shape), (entries,), [dy])


def _slices(x: Any, many: tuple[Entries, ...]) -> Any:
    # What is compiled must not have a rule for forward mode.
    return (_MultiSlice if torch.compiler.is_compiling() else _MultiSliceWithTangent).apply(x, many)


def _sum(shape: Any, many: tuple[Entries, ...], dys: Sequence[Any]) -> Any:
    return (_PadSum if torch.compiler.is_compiling() else _PadSumWithTangent).apply(shape, many, *dys)


def _sum_of_given(shape: Any, many: tuple[Entries, ...], dys: Sequence[Any]) -> Any:
    if type(None) in set(map(type, dys)):
        given = [(entries, dy) for entries, dy in zip(many, dys, strict=True) if dy is not None]
        if not given:
            return None
        many, dys = tuple(entries for entries, _ in given), [dy for _, dy in given]
    if torch.compiler.is_compiling():  # which differentiates once, and not what is inside a gradient
        return sum_of_slices(list(dys), shape, *flattened(many))
    return _sum(shape, many, dys)


def _input_buffer(ctx: Any) -> Any:
    """Return the buffer of the engine's sum for `x`, if it may be changed: from PyTorch 2.15 on."""
    try:
        return ctx.input_grad_buffers[0]
    except (AttributeError, IndexError, NotImplementedError, RuntimeError):
        return None


class _MultiSlice(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(x: Any, many: tuple[Entries, ...]) -> Any:
        return tuple(part_of(x, entries) for entries in many)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, ctx.many = inputs
        ctx.shape = tuple(x.shape)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *dys: Any) -> Any:
        buffer = None if torch.compiler.is_compiling() else _input_buffer(ctx)
        if buffer is None:
            return _sum_of_given(ctx.shape, ctx.many, dys), None
        for entries, dy in zip(ctx.many, dys, strict=True):
            if dy is not None:
                index, turned = forward_index(entries)
                buffer[index].add_(dy.flip(turned) if turned else dy)
        return None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, many: Any) -> Any:
        batched = tuple(with_batch(entries, info.batch_size) for entries in many)
        return _slices(x.movedim(in_dims[0], 0), batched), (0,) * len(many)


class _MultiSliceWithTangent(_MultiSlice):
    @staticmethod
    def jvp(ctx: Any, x_tangent: Any, _: Any) -> Any:
        return tuple(part_of(x_tangent, entries) for entries in ctx.many)


class _PadSum(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(shape: Any, many: tuple[Entries, ...], *dys: Any) -> Any:
        return sum_of_slices(list(dys), shape, *flattened(many))

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
