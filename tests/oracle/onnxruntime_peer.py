"""Runs in ONNX Runtime's environments: Slice in either, com.microsoft SliceGrad in that of the training wheel."""

from functools import cache
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper
from wire import serve

TYPES = {
    "object": TensorProto.STRING, "bool": TensorProto.BOOL, "float16": TensorProto.FLOAT16,
    "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "int8": TensorProto.INT8,
    "int16": TensorProto.INT16, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
    "uint8": TensorProto.UINT8, "uint16": TensorProto.UINT16, "uint32": TensorProto.UINT32,
    "uint64": TensorProto.UINT64,
}  # fmt: skip
ORDER = {
    "slice": ["data", "starts", "ends", "axes", "steps"],
    "slice_grad": ["dY", "shape", "starts", "ends", "axes", "steps"],
}
NODE = {"slice": ("Slice", ""), "slice_grad": ("SliceGrad", "com.microsoft")}


@cache
def session(op: str, inputs: tuple[tuple[str, str], ...]) -> Any:
    given = dict(inputs)
    names = [name if name in given else "" for name in ORDER[op]]
    while names[-1] == "":
        names.pop()
    operator, domain = NODE[op]
    node = helper.make_node(operator, names, ["result"], domain=domain)
    infos = [helper.make_tensor_value_info(name, TYPES[dtype], None) for name, dtype in inputs]
    element = TYPES[given[ORDER[op][0]]]
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("result", element, None)])
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(op: str, arrays: dict[str, Any], options: dict[str, Any]) -> Any:
    inputs = tuple((name, array.dtype.name) for name, array in arrays.items())
    result = session(op, inputs).run(None, arrays)[0]
    return np.asarray(result)


serve(run)
