"""TensorFlow on containers, eagerly, through tf.raw_ops."""

import tensorflow as tf
from containers import sparse_case


def prepare_container(workload):
    operation, case = workload["operation"], workload["case"]
    if operation in ("sparse_slice", "sparse_slice_grad"):
        return prepare_sparse(operation, case)
    return None


def prepare_sparse(operation, case):
    indices, values, *lists, output, grad = map(tf.constant, sparse_case(case))
    shape, start, size = (tf.cast(v, tf.int64) for v in lists)
    if operation == "sparse_slice":
        return lambda: tf.raw_ops.SparseSlice(indices=indices, values=values, shape=shape, start=start, size=size)
    return lambda: tf.raw_ops.SparseSliceGrad(
        backprop_val_grad=grad, input_indices=indices, input_start=start, output_indices=output
    )
