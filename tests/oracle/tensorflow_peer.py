"""Runs in TensorFlow's environment: its slices and their gradients, eagerly, through tf.raw_ops.

With BACKSLICE_INSTALL set, it uses backslice's kernels.
"""

import os
from typing import Any

import compiled_program
import numpy as np
import ragged_index_program
import ragged_program
import tensorflow as tf
from tensor_array_program import play
from wire import named_dtype, serve

if os.environ.get("BACKSLICE_INSTALL"):
    import backslice.tensorflow

    backslice.tensorflow.install()

OPERATIONS = {
    "slice": tf.raw_ops.Slice,
    "strided_slice": tf.raw_ops.StridedSlice,
    "strided_slice_grad": tf.raw_ops.StridedSliceGrad,
    "sparse_slice": tf.raw_ops.SparseSlice,
    "sparse_slice_grad": tf.raw_ops.SparseSliceGrad,
}


def to_numpy(result: Any) -> Any:
    array = np.asarray(result.numpy(), object if result.dtype == tf.string else None)
    # TensorFlow reads quantised arrays as structures, and returns plain integers.
    return array.view(named_dtype(result.dtype.name)) if result.dtype.is_quantized else array


def run(op: str, arrays: dict[str, Any], masks: dict[str, Any]) -> Any:
    if op == "rank 254 and a new axis":
        return tf.raw_ops.StridedSlice(input=tf.ones([1] * 254), begin=[0], end=[0], strides=[1], new_axis_mask=1)
    if op == "compiled":
        return compiled_program.RUN[masks["what"]]()
    if op == "tensor array program":
        return play(masks["program"], arrays)
    if op == "ragged":
        return ragged_program.play(masks["options"], arrays)
    if op == "ragged indices":
        return ragged_index_program.play_all(masks["indices"], masks["rank"], arrays)
    tensors = {name: tf.constant(array) for name, array in arrays.items()}
    result = OPERATIONS[op](**tensors, **masks)
    return tuple(map(to_numpy, result)) if isinstance(result, tuple) else to_numpy(result)


if __name__ == "__main__":
    serve(run)
