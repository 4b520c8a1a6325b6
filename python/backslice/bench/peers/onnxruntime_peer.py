"""ONNX Runtime for training: com.microsoft SliceGrad."""

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper
from slices import index_of, result_shape

TYPES = {
    "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16,
    "uint8": TensorProto.UINT8, "int64": TensorProto.INT64,
}  # fmt: skip
END = 2**63 - 1


def prepare(workload):
    if workload["kind"] != "gradient" or workload["dtype"] not in ("float32", "float64"):
        return None
    inputs = inputs_of(workload)
    if inputs["steps"][-1] < 0 and len(inputs["steps"]) == len(workload["shape"]):
        return None  # it fails on a negative step of the innermost axis
    return runner("SliceGrad", "com.microsoft", inputs, workload)


def inputs_of(workload):
    starts, ends, steps = [], [], []
    for item in index_of(workload):
        item = slice(item, item + 1) if isinstance(item, int) else item
        backwards = (item.step or 1) < 0
        starts.append(item.start if item.start is not None else (END if backwards else 0))
        ends.append(item.stop if item.stop is not None else END)
        steps.append(item.step or 1)
    lists = {"starts": starts, "ends": ends, "axes": list(range(len(steps))), "steps": steps}
    inputs = {"dY": np.ones(result_shape(workload), workload["dtype"]), "shape": np.array(workload["shape"])}
    return inputs | {name: np.array(values) for name, values in lists.items()}


def runner(operator, domain, inputs, workload, library=None):
    """Runs a session of one node, whose gradients are inputs and all else constant."""
    given = {name: array for name, array in inputs.items() if name.startswith("dY")}
    constants = [
        helper.make_tensor(name, TensorProto.INT64, array.shape, array.ravel())
        for name, array in inputs.items()
        if name not in given
    ]
    element = TYPES[workload["dtype"]]
    infos = [helper.make_tensor_value_info(name, element, array.shape) for name, array in given.items()]
    result = helper.make_tensor_value_info("dX", element, None)
    node = helper.make_node(operator, list(inputs), ["dX"], domain=domain)
    opsets = [helper.make_opsetid(name, v) for name, v in (("", 13), ("com.microsoft", 1), ("backslice", 1))]
    graph = helper.make_graph([node], "g", infos, [result], constants)
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    session = ort.InferenceSession(
        model.SerializeToString(), options_for(workload, library), providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, given)


def options_for(workload, library):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = workload["threads"]
    if library:
        options.add_session_config_entry("custom_op.SliceGrad.domain", "com.microsoft")
        options.register_custom_ops_library(library)
    return options
