"""ONNX Runtime for training: com.microsoft SliceGrad."""

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper
from slices import index_of, result_shape

TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}
END = 2**63 - 1


def prepare(workload):
    if workload["kind"] != "gradient" or workload["dtype"] not in TYPES or workload["threads"] == 1:
        return None
    starts, ends, steps = [], [], []
    for item in index_of(workload):
        item = slice(item, item + 1) if isinstance(item, int) else item
        backwards = (item.step or 1) < 0
        starts.append(item.start if item.start is not None else (END if backwards else 0))
        ends.append(item.stop if item.stop is not None else END)
        steps.append(item.step or 1)
    if steps[-1] < 0 and len(steps) == len(workload["shape"]):
        return None  # it fails on a negative step of the innermost axis
    lists = {"starts": starts, "ends": ends, "axes": list(range(len(steps))), "steps": steps}
    inputs = {"dY": np.ones(result_shape(workload), workload["dtype"]), "shape": np.array(workload["shape"])}
    inputs |= {name: np.array(values) for name, values in lists.items()}
    types = [TYPES[workload["dtype"]]] + [TensorProto.INT64] * 5
    infos = [helper.make_tensor_value_info(name, t, None) for name, t in zip(inputs, types)]
    node = helper.make_node("SliceGrad", list(inputs), ["dX"], domain="com.microsoft")
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("dX", types[0], None)])
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs)
