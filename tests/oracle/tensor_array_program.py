"""Runs in TensorFlow's environment: runs a program of TensorArrayV3 operations as a graph, one after the other."""

import re
from typing import Any

import numpy as np
import tensorflow as tf

ops = tf.raw_ops


def play(program: dict[str, Any], arrays: dict[str, Any]) -> tuple[Any, ...]:
    """Return (the step that failed or -1, the results of the steps before it)."""
    count = len(program["steps"])
    failed, outputs = attempt(program, arrays, count)
    if failed >= 0:
        again, outputs = attempt(program, arrays, failed)
        if again >= 0:
            failed = again
    return (np.int64(failed), *outputs)


def attempt(program: dict[str, Any], arrays: dict[str, Any], count: int) -> tuple[int, list[Any]]:
    with tf.Graph().as_default():
        outputs, built = build(program, arrays, count)
        config = tf.compat.v1.ConfigProto()
        # the optimiser folds sizes, also of closed arrays
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        with tf.compat.v1.Session(config=config) as session:
            try:
                values = session.run(outputs)
            except tf.errors.OpError as error:
                found = re.search(r"step_(\d+)", (error.op.name if error.op is not None else "") + str(error))
                return int(found[1]) if found else 0, []
    return (built if built < count else -1), [v for v in values if isinstance(v, np.ndarray | np.generic)]


def build(program: dict[str, Any], arrays: dict[str, Any], count: int) -> tuple[list[Any], int]:
    """Build the graph up to the first step that cannot be built."""
    made = dict(program["make"])
    dtype = tf.as_dtype(made["dtype"])
    made["element_shape"] = tf.TensorShape(made["element_shape"])
    handle, flow = ops.TensorArrayV3(**(made | {"dtype": dtype, "size": tf.constant(made["size"])}))
    handles = {"": handle}
    outputs: list[Any] = [flow.op]
    for number, step in enumerate(program["steps"][:count]):
        with tf.control_dependencies([outputs[-1] if isinstance(outputs[-1], tf.Operation) else outputs[-1].op]):
            try:
                result = run_step(step, f"step_{number}", handles, arrays, dtype)
            except (ValueError, tf.errors.OpError):
                return outputs, number
        outputs += list(result) if isinstance(result, tuple) else [result]
    return outputs, count


def run_step(step: dict[str, Any], name: str, handles: dict[str, Any], arrays: dict[str, Any], dtype: Any) -> Any:
    op, handle, flow = step["op"], handles[step["on"]], tf.constant(0.0)
    value = tf.constant(arrays[step["value"]]) if "value" in step else None
    if op == "write":
        return ops.TensorArrayWriteV3(handle=handle, index=step["index"], value=value, flow_in=flow, name=name).op
    if op == "read":
        return ops.TensorArrayReadV3(handle=handle, index=step["index"], flow_in=flow, dtype=dtype, name=name)
    if op == "gather":
        shape = tf.TensorShape(step["element_shape"])
        indices = tf.constant(step["indices"], tf.int32)
        return ops.TensorArrayGatherV3(
            handle=handle, indices=indices, flow_in=flow, dtype=dtype, element_shape=shape, name=name
        )
    if op == "scatter":
        indices = tf.constant(step["indices"], tf.int32)
        return ops.TensorArrayScatterV3(handle=handle, indices=indices, value=value, flow_in=flow, name=name).op
    if op == "concat":
        result = ops.TensorArrayConcatV3(
            handle=handle, flow_in=flow, dtype=dtype, element_shape_except0=tf.TensorShape(None), name=name
        )
        return result.value, result.lengths
    if op == "split":
        lengths = tf.constant(step["lengths"], tf.int64)
        return ops.TensorArraySplitV3(handle=handle, value=value, lengths=lengths, flow_in=flow, name=name).op
    if op == "size":
        return ops.TensorArraySizeV3(handle=handle, flow_in=flow, name=name)
    if op == "close":
        return ops.TensorArrayCloseV3(handle=handle, name=name)
    prepend = tf.constant(step["prepend"], tf.int32)
    result = ops.TensorArrayGradWithShape(
        handle=handle, flow_in=flow, shape_to_prepend=prepend, source=step["source"], name=name
    )
    handles[step["source"]] = result.grad_handle
    return result.flow_out.op
