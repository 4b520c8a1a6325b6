"""The gradient of the values of a sparse tensor that was sliced."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.interpreters.xla import apply_primitive

from . import matching
from .arguments import array_argument
from .library import PLATFORMS, runs_on_cuda
from .native import has_whole_bytes
from .primitives import like, sharded_as, varying_alike

sparse_slice_grad_p = Primitive("backslice_sparse_slice_grad")


def sparse_slice_grad(
    backprop_val_grad: Any, input_indices: Any, input_start: Any, output_indices: Any, *, order: str = "in_order"
) -> Any:
    """Compute the gradient of the values of a sliced sparse tensor, as TensorFlow's SparseSliceGrad.

    It is linear in `backprop_val_grad` and has derivatives of any order with respect to it. On devices that backslice
    has no kernels for, it consists of JAX's own operations.

    Parameters
    ----------
    backprop_val_grad : jax.Array or array_like
        The gradient of the slice's values: one row per row of `output_indices`.
    input_indices : jax.Array or array_like
        ``[entries, rank]``, where the entries of the tensor lie.
    input_start : jax.Array or array_like
        Where the slice begins, one number per axis.
    output_indices : jax.Array or array_like
        ``[entries of the slice, rank]``, where its entries lie, counted from `input_start`.
    order : {"in_order", "any"}, default: "in_order"
        Whether the entries of the slice are in the order of the input's.

    Returns
    -------
    jax.Array
        One row per row of `input_indices`: zero for entries outside the slice.

    Raises
    ------
    TypeError
        Indices are not int32 or int64.
    ValueError
        An array has another shape, or `order` is something else.
    jax.errors.JaxRuntimeError
        When it runs: an entry of the slice is not among those of the input. JAX's own operations leave it out instead.

    Examples
    --------
    >>> entries = jnp.array([[0, 2], [1, 0], [2, 1]])
    >>> bsj.sparse_slice_grad(jnp.array([5.0]), entries, [1, 0], [[0, 0]])
    Array([0., 5., 0.], dtype=float32)
    """
    if order not in ("in_order", "any"):
        raise ValueError(f'order is {order!r}, expected "in_order" or "any"')
    grad = array_argument(backprop_val_grad, "backprop_val_grad")
    if not has_whole_bytes(grad.dtype):
        raise TypeError(f"backprop_val_grad has dtype {grad.dtype}, expected one of at least 8 bits")
    rows, start, taken = (
        _indices(value, name, rank)
        for value, name, rank in (
            (input_indices, "input_indices", 2),
            (input_start, "input_start", 1),
            (output_indices, "output_indices", 2),
        )
    )
    if grad.ndim == 0 or grad.shape[0] != taken.shape[0]:
        raise ValueError(
            f"backprop_val_grad has shape {grad.shape}, expected one row per row of output_indices: {taken.shape[0]}"
        )
    if not rows.shape[1] == taken.shape[1] == start.shape[0]:
        raise ValueError(
            f"input_indices has {rows.shape[1]} columns, output_indices {taken.shape[1]} and input_start "
            f"{start.shape[0]} numbers, expected one per axis in each"
        )
    return _bind(grad, rows, start, taken, in_order=order == "in_order")


def _bind(*operands: Any, in_order: bool) -> Any:
    return sparse_slice_grad_p.bind(*varying_alike(operands), in_order=in_order)


def _indices(value: Any, name: str, rank: int) -> Any:
    array = array_argument(value, name)
    if array.dtype not in (jnp.int32, jnp.int64):
        raise TypeError(f"{name} has dtype {array.dtype}, expected int32 or int64")
    if array.ndim != rank:
        raise ValueError(f"{name} has shape {array.shape}, expected {rank} axes")
    return array


def _aval(grad: Any, rows: Any, start: Any, taken: Any, *, in_order: bool) -> Any:
    return like(grad, (rows.shape[0], *grad.shape[1:]), [None] * grad.ndim)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, in_order: bool) -> Any:
    _, *indices = primals
    values = _bind(*primals, in_order=in_order)
    if type(tangents[0]) is ad.Zero:
        return values, ad.Zero(jax.typeof(values).to_tangent_aval())
    return values, _bind(tangents[0], *indices, in_order=in_order)


def _transpose(ct: Any, grad: Any, rows: Any, start: Any, taken: Any, *, in_order: bool) -> list[Any]:
    """The slice of the values: for each of its entries the row of the input that it matches."""
    if type(ct) is ad.Zero:
        return [ad.Zero(grad.aval), None, None, None]
    numbers = jnp.arange(1, taken.shape[0] + 1)
    matched = _bind(numbers, rows, start, taken, in_order=in_order)  # 0 for none
    found = jnp.zeros(taken.shape[0] + 1, numbers.dtype).at[matched].set(jnp.arange(rows.shape[0]))
    return [sharded_as(grad.aval, ct[found[1:]]), None, None, None]


def _batch(arguments: Sequence[Any], axes: Sequence[Any], *, in_order: bool) -> Any:
    """Gradients of the same entries are longer rows; for others there is one call after the other."""
    grad, *indices = arguments
    if all(axis is None for axis in axes[1:]):
        moved = jnp.moveaxis(grad, axes[0], 1)
        return _bind(moved, *indices, in_order=in_order), 1
    size = next(a.shape[axis] for a, axis in zip(arguments, axes, strict=True) if axis is not None)
    front = [batching.bdim_at_front(a, axis, size) for a, axis in zip(arguments, axes, strict=True)]
    return jax.lax.map(lambda one: _bind(*one, in_order=in_order), tuple(front)), 0


_by_jax = mlir.lower_fun(matching.gradient, multiple_results=False)


def _by_handler(ctx: Any, *operands: Any, in_order: bool) -> Any:
    return jax.ffi.ffi_lowering("backslice_sparse_slice_grad")(ctx, *operands, in_order=in_order)


def _on_cuda(ctx: Any, *operands: Any, in_order: bool) -> Any:
    return (_by_handler if runs_on_cuda() else _by_jax)(ctx, *operands, in_order=in_order)


sparse_slice_grad_p.def_impl(lambda *arguments, **params: apply_primitive(sparse_slice_grad_p, *arguments, **params))
sparse_slice_grad_p.def_abstract_eval(_aval)
ad.primitive_jvps[sparse_slice_grad_p] = _jvp
ad.primitive_transposes[sparse_slice_grad_p] = _transpose
batching.primitive_batchers[sparse_slice_grad_p] = _batch
mlir.register_lowering(sparse_slice_grad_p, _by_jax)
for _platform in PLATFORMS:
    mlir.register_lowering(sparse_slice_grad_p, {"cpu": _by_handler, "cuda": _on_cuda}[_platform], platform=_platform)
