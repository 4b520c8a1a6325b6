"""Runs in TensorFlow's environment: ragged tensors to variants and back, the variants built by TensorFlow itself."""

from typing import Any

import numpy as np
import tensorflow as tf

ops = tf.raw_ops


def splits_of(arrays: dict[str, Any], prefix: str, count: int) -> list[Any]:
    return [tf.constant(arrays[f"{prefix} splits {k}"]) for k in range(count)]


def encode(arrays: dict[str, Any], prefix: str, rank: int, batched: bool) -> Any:
    """Ragged tensors are sent as "P values", "P splits 0", ..."""
    splits = splits_of(arrays, prefix, rank)
    values = tf.constant(arrays[f"{prefix} values"])
    return ops.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=values, batched_input=batched)


def missing() -> Any:
    """Return an empty variant, as in the gradient of a slice of an array of variants."""
    one = ops.RaggedTensorToVariant(rt_nested_splits=[], rt_dense_values=tf.zeros([1]), batched_input=False)
    both = ops.StridedSliceGrad(shape=[2], begin=[0], end=[1], strides=[1], dy=tf.stack([one]))
    return ops.StridedSlice(input=both, begin=[1], end=[2], strides=[1], shrink_axis_mask=1)


def play(options: dict[str, Any], arrays: dict[str, Any]) -> tuple[Any, ...]:
    if options["what"] == "round trip":
        rank = options["rank"]
        encoded = encode(arrays, "x", rank, options["batched"])
        decoded = ops.RaggedTensorFromVariant(
            encoded_ragged=encoded, input_ragged_rank=options["input_rank"], output_ragged_rank=options["output_rank"],
            Tvalues=tf.constant(arrays["x values"]).dtype,
            Tsplits=tf.as_dtype(arrays["x splits 0"].dtype) if rank else tf.int64,
        )  # fmt: skip
        return (*[s.numpy() for s in decoded.output_nested_splits], to_numpy(decoded.output_dense_values))
    pieces = []
    for k, rank in enumerate(options["pieces"]):
        pieces.append(missing() if rank is None else encode(arrays, f"p{k}", rank, False))
    stacked = tf.stack(pieces) if pieces else tf.zeros([0], tf.variant)
    result = ops.RaggedTensorToVariantGradient(
        encoded_ragged_grad=stacked, row_splits=tf.constant(arrays["row_splits"]),
        dense_values_shape=tf.constant(arrays["shape"]), Tvalues=tf.as_dtype(options["dtype"]),
    )  # fmt: skip
    return (to_numpy(result),)


def to_numpy(tensor: Any) -> Any:
    return np.asarray(tensor.numpy(), object if tensor.dtype == tf.string else None)
