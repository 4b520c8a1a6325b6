"""TensorFlow, eagerly: StridedSliceGrad, and what its GradientTape makes of many slices."""

import itertools

import tensorflow as tf
from slices import result_shape, tensorflow_spec
from tensorflow_containers import prepare_container as prepare_container


def prepare(workload):
    shape, dtype = list(workload["shape"]), tf.as_dtype(workload["dtype"])
    if workload["threads"] == 1 or workload["kind"] in ("limit", "into", "accumulate"):
        return None
    dy = tf.ones(result_shape(workload), dtype)
    begin, end, strides, masks = tensorflow_spec(workload)
    if workload["kind"] == "gradient":
        sizes = tf.constant(shape)
        b, e, s = tf.constant(begin), tf.constant(end), tf.constant(strides)
        return lambda: tf.raw_ops.StridedSliceGrad(shape=sizes, begin=b, end=e, strides=s, dy=dy, **masks)
    if workload["kind"] == "forward":
        x = tf.ones(shape, dtype)
        return lambda: tf.raw_ops.StridedSlice(input=x, begin=begin, end=end, strides=strides, **masks)
    if workload["kind"] == "buffer":
        starts, rows = itertools.cycle(range(0, shape[0] - 64, 64)), dy.shape[0]

        def moving():
            start = next(starts)
            return tf.raw_ops.StridedSliceGrad(shape=shape, begin=[start], end=[start + rows], strides=[1], dy=dy)

        return moving
    x = tf.Variable(tf.ones(shape, dtype))
    dys = [tf.identity(dy) for _ in range(workload["slices"])]

    def many():
        with tf.GradientTape() as tape:
            parts = [x[:, t] for t in range(len(dys))]
        return tape.gradient(parts, x, output_gradients=dys)

    return many
