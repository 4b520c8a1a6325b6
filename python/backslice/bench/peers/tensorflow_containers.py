"""TensorFlow on containers, eagerly, through tf.raw_ops."""

import tensorflow as tf
from containers import array_elements, prepare_by_kind, ragged_case, sparse_case


def prepare_container(workload):
    return prepare_by_kind(workload, sparse=prepare_sparse, array=prepare_array, ragged=prepare_ragged)


def prepare_ragged(operation, case):
    ops = tf.raw_ops
    values, splits, order = ragged_case(case["rows"], case["length"])
    rows = len(splits) - 1
    lengths = splits[1:] - splits[:-1]
    if operation.endswith("shuffled"):
        splits = tf.concat([[0], tf.cumsum(lengths[order])], 0).numpy()
    held, row_splits, shape = tf.constant(values), tf.constant(splits), tf.constant([len(values)], tf.int32)

    def encode():
        return ops.RaggedTensorToVariant(rt_nested_splits=[row_splits], rt_dense_values=held, batched_input=True)

    if operation == "ragged encode":
        return encode
    encoded = encode()
    if operation == "ragged decode":
        return lambda: ops.RaggedTensorFromVariant(
            encoded_ragged=encoded, input_ragged_rank=0, output_ragged_rank=1, Tvalues=tf.float32, Tsplits=tf.int64
        )
    if operation.endswith("half missing"):  # as the gradient of a slice leaves them
        encoded = ops.StridedSliceGrad(shape=[rows], begin=[1], end=[rows], strides=[2], dy=encoded[1::2])
    elif operation.endswith("all missing"):
        encoded = ops.StridedSliceGrad(shape=[rows], begin=[0], end=[0], strides=[1], dy=encoded[:0])
    elif operation.endswith("separate pieces"):
        return None  # every piece that TensorFlow encodes is a tensor of its own
    return lambda: ops.RaggedTensorToVariantGradient(
        encoded_ragged_grad=encoded, row_splits=row_splits, dense_values_shape=shape, Tvalues=tf.float32
    )


open_sessions = []  # the last one; its variables are freed before the next


def prepare_array(operation, case):
    """A graph, since TensorFlow's tensor arrays live in one, with the elements held in variables."""
    ops, count = tf.raw_ops, case["count"]
    while open_sessions:
        open_sessions.pop().close()
    if operation == "array stack":
        return None
    graph = tf.Graph()
    with graph.as_default():
        names = ["elements"] + [f"term {k}" for k in range(case.get("terms", 0))]
        held = [tf.compat.v1.Variable(array_elements(count), name=n.replace(" ", "_")) for n in names]
        values = [v.read_value() for v in held]
        handle, flow = ops.TensorArrayV3(size=count, dtype=tf.float32)
        if operation == "array aggregates":
            indices = tf.range(count)
            flow = ops.TensorArrayScatterV3(handle=handle, indices=indices, value=values[0], flow_in=flow)
            gradient = ops.TensorArrayGradV3(handle=handle, flow_in=flow, source="x")
            flow = gradient.flow_out
            for value in values[1:]:
                flow = ops.TensorArrayScatterV3(handle=gradient.grad_handle, indices=indices, value=value, flow_in=flow)
            result = ops.TensorArrayGatherV3(
                handle=gradient.grad_handle, indices=indices, flow_in=flow, dtype=tf.float32
            ).op
        else:
            rows = [
                tf.compat.v1.Variable(row, name=f"row_{i}").read_value() for i, row in enumerate(array_elements(count))
            ]
            flows = []
            for i, row in enumerate(rows):
                written = ops.TensorArrayWriteV3(handle=handle, index=i, value=row, flow_in=flow)
                flows.append(written)
                if not operation.endswith("2 threads"):
                    flow = written  # each waits for the one before
            result = tf.group(*flows)
        session = tf.compat.v1.Session(graph=graph)
        session.run(tf.compat.v1.global_variables_initializer())
    open_sessions.append(session)
    return session.make_callable(result)


def prepare_sparse(operation, case):
    if operation.endswith("any order"):
        return None  # its rows match in order alone
    indices, values, *lists, output, grad = map(tf.constant, sparse_case(case))
    shape, start, size = (tf.cast(v, tf.int64) for v in lists)
    if operation == "sparse_slice":
        return lambda: tf.raw_ops.SparseSlice(indices=indices, values=values, shape=shape, start=start, size=size)
    return lambda: tf.raw_ops.SparseSliceGrad(
        backprop_val_grad=grad, input_indices=indices, input_start=start, output_indices=output
    )
