"""Slices and their gradients, as JAX functions."""

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .primitives import multi_slice_grad_p, multi_slice_p
from .selections import selection_of


def slice(x: Any, index: Any) -> Any:
    """Take a slice of an array, with a gradient that is one pass over it.

    The values are those of ``x[index]``. It works under every transformation of JAX's: ``jit``, ``grad`` of any order,
    ``vjp``, ``jvp``, ``linearize``, ``vmap``, ``scan`` and ``checkpoint``.

    Parameters
    ----------
    x : jax.Array or array_like
        What is sliced: at most 32 axes.
    index : index
        As in ``x[...]``: integers, slices, ``...``, ``None`` and tuples of them; a text such as ``"1:3, ::2"``; or a
        :class:`backslice.Selection`. Its numbers must be known while JAX traces.

    Returns
    -------
    jax.Array
        ``x[index]``.

    Raises
    ------
    TypeError
        The index has a traced value or an array.
    IndexError
        An integer is out of range, or the index has more items than `x` has axes.

    Examples
    --------
    >>> jax.grad(lambda x: bsj.slice(x, "1:3").sum())(jnp.zeros(4))
    Array([0., 1., 1., 0.], dtype=float32)
    """
    return multi_slice(x, [index])[0]


def multi_slice(x: Any, indices: Sequence[Any]) -> list[Any]:
    """Take many slices of one array.

    The values are those of ``[x[index] for index in indices]``. The gradient of all of them is one pass that writes
    every element once, where JAX makes an array of the size of `x` per slice and adds them up.

    Parameters
    ----------
    x : jax.Array or array_like
        What is sliced: at most 32 axes.
    indices : sequence of index
        One index per slice, each as for :func:`slice`.

    Returns
    -------
    list of jax.Array
        One per index.

    Raises
    ------
    TypeError
        An index has a traced value or an array.
    IndexError
        An integer is out of range, or an index has more items than `x` has axes.

    Examples
    --------
    >>> def loss(x):
    ...     steps = bsj.multi_slice(x, [(..., t) for t in range(x.shape[-1])])
    ...     return sum(t * jnp.sum(step) for t, step in enumerate(steps))
    >>> jax.grad(loss)(jnp.zeros((2, 3)))
    Array([[0., 1., 2.],
           [0., 1., 2.]], dtype=float32)
    """
    x = _array(x, "x")
    selections = tuple(selection_of(index, x.shape, f"indices[{i}]") for i, index in enumerate(indices))
    return list(multi_slice_p.bind(x, selections=selections)) if selections else []


def slice_grad(dy: Any, shape: Sequence[int], index: Any) -> Any:
    """Compute the gradient of a slice.

    Parameters
    ----------
    dy : jax.Array or array_like
        The gradient of the slice: an array whose shape is that of ``x[index]`` or broadcasts to it.
    shape : sequence of int
        The shape of `x`.
    index : index
        As for :func:`slice`.

    Returns
    -------
    jax.Array
        An array of that shape: `dy` where the slice takes its elements from, zero elsewhere.

    Raises
    ------
    TypeError
        The index has a traced value or an array.
    ValueError
        `dy` has another shape.
    IndexError
        An integer is out of range, or the index has more items than `shape`.

    Examples
    --------
    >>> bsj.slice_grad(jnp.ones(2), (4,), "1:3")
    Array([0., 1., 1., 0.], dtype=float32)
    """
    return multi_slice_grad(shape, [(index, dy)])


def multi_slice_grad(shape: Sequence[int], slices: Sequence[tuple[Any, Any]]) -> Any:
    """Compute the sum of the gradients of many slices of one array, in one pass over it.

    Where slices overlap, the first contribution to an element is copied and later ones are added, in the order of the
    list.

    Parameters
    ----------
    shape : sequence of int
        The shape of the array that was sliced.
    slices : sequence of (index, dy)
        At least one: an index as for :func:`slice`, and the gradient of that slice. All gradients have one dtype.

    Returns
    -------
    jax.Array
        An array of that shape.

    Raises
    ------
    TypeError
        An index has a traced value or an array, or the gradients have different dtypes.
    ValueError
        There is no slice, or a gradient has another shape than its slice.
    IndexError
        An integer is out of range, or an index has more items than `shape`.

    Examples
    --------
    >>> bsj.multi_slice_grad((4,), [("0:2", jnp.ones(2)), ("1:3", jnp.ones(2))])
    Array([1., 2., 1., 0.], dtype=float32)
    """
    extents = tuple(int(extent) for extent in shape)
    selections = tuple(selection_of(index, extents, f"slices[{i}][0]") for i, (index, _) in enumerate(slices))
    if not selections:
        raise ValueError("slices is empty, expected at least one: the dtype is taken from it")
    dys = [
        _broadcast(_array(dy, f"slices[{i}][1]"), selection.result_shape, f"slices[{i}][1]")
        for i, ((_, dy), selection) in enumerate(zip(slices, selections, strict=True))
    ]
    _check_dtypes(dys, selections)
    return multi_slice_grad_p.bind(*dys, selections=selections)


def _array(value: Any, name: str) -> Any:
    array = jnp.asarray(value)
    if jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):
        raise TypeError(f"{name} has dtype {array.dtype}, which only JAX itself can slice: x[...]")
    if array.dtype == jax.dtypes.float0:
        raise TypeError(f"{name} has dtype float0, which has no elements")
    return array


def _broadcast(dy: Any, shape: tuple[int, ...], name: str) -> Any:
    if dy.shape == shape:
        return dy
    try:
        return jnp.broadcast_to(dy, shape)
    except ValueError as error:
        raise ValueError(f"{name} has shape {dy.shape}, expected that of the slice, {shape}") from error


def _check_dtypes(dys: list[Any], selections: tuple[Any, ...]) -> None:
    dtype = dys[0].dtype
    for i, dy in enumerate(dys):
        if dy.dtype != dtype:
            raise TypeError(f"slices[{i}][1] has dtype {dy.dtype}, expected that of the first, {dtype}")
    if dtype == jnp.float8_e8m0fnu and dys[0].size != math.prod(selections[0].shape):
        raise TypeError("float8_e8m0fnu has no zero, so only a slice that takes the whole array has a gradient")
