"""Slices and their gradients, as JAX functions."""

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from .arguments import array_argument, list_argument, shape_argument
from .primitives import bind_gradient, bind_slices
from .selections import Selections, Slices, selection_of


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
    x = array_argument(x, "x")
    [taken] = bind_slices(x, Slices((selection_of(index, x.shape, "index"),)))
    return taken


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
    x = array_argument(x, "x")
    wanted = list_argument(indices, "indices", "one index per slice")
    selections = tuple(selection_of(index, x.shape, f"indices[{i}]") for i, index in enumerate(wanted))
    return bind_slices(x, Slices(selections)) if selections else []


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
    selection = selection_of(index, shape_argument(shape, "shape"), "index")
    return gradient_of([dy], (selection,), ["dy"])


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
    extents = shape_argument(shape, "shape")
    pairs = list_argument(slices, "slices", "pairs of an index and its dy")
    if not pairs:
        raise ValueError("slices is empty, expected at least one: the dtype is taken from it")
    for i, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"slices[{i}] is {type(pair).__name__}, expected a pair of an index and its dy")
    selections = tuple(selection_of(index, extents, f"slices[{i}][0]") for i, (index, _) in enumerate(pairs))
    return gradient_of([dy for _, dy in pairs], selections, [f"slices[{i}][1]" for i in range(len(pairs))])


def gradient_of(given: Sequence[Any], selections: Selections, names: Sequence[str]) -> Any:
    """The sum of the gradients of slices; `names` is what messages call the dy's."""
    dys = [
        _broadcast(array_argument(dy, name), taken.result_shape, name)
        for dy, taken, name in zip(given, selections, names, strict=True)
    ]
    for dy, name in zip(dys, names, strict=True):
        if dy.dtype != dys[0].dtype:
            raise TypeError(f"{name} has dtype {dy.dtype}, expected that of the first, {dys[0].dtype}")
    if dys[0].dtype == jnp.float8_e8m0fnu and dys[0].size != math.prod(selections[0].shape):
        raise TypeError("float8_e8m0fnu has no zero, so only a slice that takes the whole array has a gradient")
    return bind_gradient(dys, Slices(selections))


def _broadcast(dy: Any, shape: tuple[int, ...], name: str) -> Any:
    if dy.shape == shape:
        return dy
    try:
        return jnp.broadcast_to(dy, shape)
    except ValueError as error:
        raise ValueError(f"{name} has shape {dy.shape}, expected that of the slice, {shape}") from error
