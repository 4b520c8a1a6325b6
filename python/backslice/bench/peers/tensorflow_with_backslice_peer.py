"""TensorFlow after backslice.tensorflow.install(): the same calls as TensorFlow alone, many slices by multi_slice."""

import tensorflow as tf
from package import load_package
from slices import result_shape

load_package()
import backslice.tensorflow as bst  # noqa: E402
import tensorflow_peer  # noqa: E402
from tensorflow_peer import prepare_container as prepare_container  # noqa: E402

bst.install()


def prepare(workload):
    if workload["kind"] != "many":
        return tensorflow_peer.prepare(workload)
    x = tf.Variable(tf.ones(workload["shape"], workload["dtype"]))
    dys = [tf.ones(result_shape(workload), workload["dtype"]) for _ in range(workload["slices"])]

    def many():
        with tf.GradientTape() as tape:
            parts = bst.multi_slice(x, [(slice(None), t) for t in range(len(dys))])
        return tape.gradient(parts, x, output_gradients=dys)

    return many
