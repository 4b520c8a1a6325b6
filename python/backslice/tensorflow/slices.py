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
    results = _multi_slice(
        x,
        _entries(specifications),
        [len(s.entries) for s in specifications],
        [mask for s in specifications for mask in s.masks],
    )
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


def _entries(specifications: list[Specification]) -> Any:
    """One tensor of all entries: a constant, unless some of them are tensors."""
    numbers = [number for s in specifications for entry in s.entries for number in entry]
    if all(type(number) is int for number in numbers):
        return tf.constant(np.array(numbers, np.int64).reshape(-1, 3))
    return tf.reshape(tf.stack([tf.cast(number, tf.int64) for number in numbers]), [-1, 3])


def _multi_slice(x: Any, entries: Any, sizes: list[int], masks: list[int]) -> Any:
    return library.ops.backslice_multi_slice(x=x, entries=entries, N=len(sizes), sizes=sizes, masks=masks)


def _gradient(op: Any, *dys: Any) -> tuple[Any, None]:
    x, entries = op.inputs
    dx = library.ops.backslice_multi_slice_grad(
        shape=tf.shape(x, tf.int64), entries=entries, dy=dys, sizes=op.get_attr("sizes"), masks=op.get_attr("masks")
    )
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
