"""Slices whose gradient is one pass over the tensor, however many there are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from . import library
from .specification import Specification, specification


def multi_slice(x: Any, indices: Sequence[Any]) -> list[Any]:
    """Take many slices of one tensor.

    The values are those of ``[x[index] for index in indices]``. The gradient of all of them is one pass that writes
    every element once, where TensorFlow makes a tensor of the size of `x` per slice and adds them up. It works in eager
    mode, in functions and loops, with shapes that are not known ahead, and has derivatives of any order.

    Parameters
    ----------
    x : tf.Tensor or tf.Variable or array_like
        What is sliced: at most 32 axes.
    indices : sequence of index
        One index per slice, as in ``x[...]``: integers, slices, ``...``, ``None`` and tuples of them; a text such as
        ``"1:3, ::2"``; or a :class:`backslice.Selection`. Integers and bounds may be scalar tensors.

    Returns
    -------
    list of tf.Tensor
        One per index.

    Raises
    ------
    TypeError
        An index is something else, such as a list or a mask.
    tf.errors.InvalidArgumentError
        An integer is out of range, or an index has more entries than `x` has axes.

    Examples
    --------
    >>> with tf.GradientTape() as tape:
    ...     steps = bst.multi_slice(x, [(slice(None), t) for t in range(512)])
    ...     loss = tf.add_n([tf.nn.l2_loss(step) for step in steps])
    >>> dx = tape.gradient(loss, x)
    """
    x = tf.convert_to_tensor(x)
    specifications = [specification(index, x.shape) for index in indices]
    if not specifications:
        return []
    results = _multi_slice(x, _entries(specifications), *_attributes(specifications))
    if not tf.executing_eagerly():  # where every shape is known already
        for result, s in zip(results, specifications, strict=True):
            result.set_shape(s.result_shape(x.shape))
    return list(results)


def slice(x: Any, index: Any) -> Any:
    """Take a slice of a tensor, with a gradient that is one pass over it.

    Like ``x[index]``, for every element type and up to 32 axes.

    Parameters
    ----------
    x : tf.Tensor or tf.Variable or array_like
        What is sliced.
    index : index
        As one of those of :func:`multi_slice`.

    Returns
    -------
    tf.Tensor
        ``x[index]``.
    """
    return multi_slice(x, [index])[0]


def slice_grad(dy: Any, shape: Any, index: Any) -> Any:
    """Compute the gradient of a slice.

    Parameters
    ----------
    dy : tf.Tensor or array_like
        The gradient of the slice, of the shape of ``x[index]``.
    shape : sequence of int or tf.Tensor
        The shape of `x`.
    index : index
        As one of those of :func:`multi_slice`.

    Returns
    -------
    tf.Tensor
        A tensor of that shape: `dy` where the slice takes its elements from, zero elsewhere.

    Examples
    --------
    >>> bst.slice_grad(tf.ones(2), [4], "1:3")
    <tf.Tensor: shape=(4,), dtype=float32, numpy=array([0., 1., 1., 0.], dtype=float32)>
    """
    return multi_slice_grad(shape, [(index, dy)])


def multi_slice_grad(shape: Any, slices: Sequence[tuple[Any, Any]]) -> Any:
    """Compute the sum of the gradients of many slices of one tensor, in one pass over it.

    Where slices overlap, the first contribution to an element is copied and later ones are added, in the order of the
    list.

    Parameters
    ----------
    shape : sequence of int or tf.Tensor
        The shape of the tensor that was sliced.
    slices : sequence of (index, dy)
        At least one: an index as for :func:`multi_slice`, and the gradient of that slice. All gradients have one dtype.

    Returns
    -------
    tf.Tensor
        A tensor of that shape.

    Raises
    ------
    TypeError
        An index is something else, such as a list or a mask.
    ValueError
        There is no slice.
    tf.errors.InvalidArgumentError
        A gradient has another shape than its slice, an integer is out of range, or an index has more entries than
        `shape`.

    Examples
    --------
    >>> bst.multi_slice_grad([4], [("0:2", tf.ones(2)), ("1:3", tf.ones(2))])
    <tf.Tensor: shape=(4,), dtype=float32, numpy=array([1., 2., 1., 0.], dtype=float32)>
    """
    if not slices:
        raise ValueError("slices is empty, expected at least one: the dtype is taken from it")
    extents = tf.cast(tf.convert_to_tensor(shape), tf.int64)
    known = tf.TensorShape(tf.get_static_value(extents))  # of unknown rank, if the value is not known
    specifications = [specification(index, known) for index, _ in slices]
    dx = _multi_slice_grad(extents, _entries(specifications), [dy for _, dy in slices], *_attributes(specifications))
    if not tf.executing_eagerly():
        dx.set_shape(known)
    return dx


def _attributes(specifications: list[Specification]) -> tuple[list[int], list[int]]:
    """The sizes and the masks of all slices, as the ops take them."""
    return [len(s.entries) for s in specifications], [mask for s in specifications for mask in s.masks]


def _entries(specifications: list[Specification]) -> Any:
    """One tensor of all entries: a constant, unless some of them are tensors."""
    numbers = [number for s in specifications for entry in s.entries for number in entry]
    if all(type(number) is int for number in numbers):
        return tf.constant(np.array(numbers, np.int64).reshape(-1, 3))
    return tf.reshape(tf.stack([tf.cast(number, tf.int64) for number in numbers]), [-1, 3])


def _multi_slice(x: Any, entries: Any, sizes: list[int], masks: list[int]) -> Any:
    return library.ops.backslice_multi_slice(x=x, entries=entries, N=len(sizes), sizes=sizes, masks=masks)


def _multi_slice_grad(shape: Any, entries: Any, dys: Sequence[Any], sizes: list[int], masks: list[int]) -> Any:
    return library.ops.backslice_multi_slice_grad(shape=shape, entries=entries, dy=dys, sizes=sizes, masks=masks)


def _gradient(op: Any, *dys: Any) -> tuple[Any, None]:
    x, entries = op.inputs
    dx = _multi_slice_grad(tf.shape(x, tf.int64), entries, dys, op.get_attr("sizes"), op.get_attr("masks"))
    dx.set_shape(x.shape)
    return dx, None


def _second_gradient(op: Any, ddx: Any) -> list[Any]:
    dys = op.inputs[2:]
    results = _multi_slice(ddx, op.inputs[1], op.get_attr("sizes"), op.get_attr("masks"))
    for result, dy in zip(results, dys, strict=True):
        result.set_shape(dy.shape)
    return [None, None, *results]


tf.RegisterGradient("BacksliceMultiSlice")(_gradient)
tf.RegisterGradient("BacksliceMultiSliceGrad")(_second_gradient)
