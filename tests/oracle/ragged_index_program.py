"""Runs in TensorFlow's environment: indices of ragged tensors, and the gradients of the selected values."""

from typing import Any

import numpy as np
import tensorflow as tf


def play(index: Any, rank: int, arrays: dict[str, Any]) -> tuple[Any, ...]:
    splits = [tf.constant(arrays[f"splits {k}"]) for k in range(rank)]
    flat = tf.constant(arrays["values"])
    with tf.GradientTape() as tape:
        tape.watch(flat)
        taken = tf.RaggedTensor.from_nested_row_splits(flat, splits)[index]
        is_ragged = isinstance(taken, tf.RaggedTensor)
        values = taken.flat_values if is_ragged else taken
    dy = tf.constant(np.arange(1, int(tf.size(values)) + 1).astype(arrays["values"].dtype).reshape(values.shape))
    dx = tape.gradient(values, flat, output_gradients=dy)
    dx = tf.zeros_like(flat) if dx is None else tf.convert_to_tensor(dx)
    return (*[s.numpy() for s in (taken.nested_row_splits if is_ragged else ())], values.numpy(), dx.numpy())


def play_all(indices: list[Any], rank: int, arrays: dict[str, Any]) -> tuple[Any, ...]:
    """Return the outputs of all operations, each preceded by their number, or by -1 and the error."""
    outputs: list[Any] = []
    for index in indices:
        try:
            own = play(index, rank, arrays)
            outputs += [np.array(len(own)), *own]
        except Exception as error:
            outputs += [np.array(-1), np.array([f"{type(error).__name__}: {error}"], object)]
    return tuple(outputs)
