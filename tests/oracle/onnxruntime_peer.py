"""Runs in ONNX Runtime's environments: Slice in all of them, com.microsoft SliceGrad in that of the training wheel.

If BACKSLICE_OPERATORS is set to their library, it runs backslice's operators, too.
"""

import os
from functools import cache
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from wire import serve

TYPES = {
    "object": TensorProto.STRING, "bool": TensorProto.BOOL, "float16": TensorProto.FLOAT16,
    "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "int8": TensorProto.INT8,
    "int16": TensorProto.INT16, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
    "uint8": TensorProto.UINT8, "uint16": TensorProto.UINT16, "uint32": TensorProto.UINT32,
    "uint64": TensorProto.UINT64,
}  # fmt: skip
SPEC = ["starts", "ends", "axes", "steps"]
ORDER = {
    "slice": ["data", *SPEC],
    "slice_grad": ["dY", "shape", *SPEC],
    "strided_slice_grad": ["shape", "begin", "end", "strides", "dy"],
    "slice_grad_accumulate": SPEC,
    "multi_slice_grad": ["shape", *SPEC],
    "sparse_slice_grad": ["grad", "input_indices", "input_start", "output_indices"],
    "ragged_gradient": ["row_splits", "dense_values_shape"],
}
NODE = {
    "slice": ("Slice", ""),
    "slice_grad": ("SliceGrad", "com.microsoft"),
    "strided_slice_grad": ("StridedSliceGrad", "backslice"),
    "slice_grad_accumulate": ("SliceGradAccumulate", "backslice"),
    "multi_slice_grad": ("MultiSliceGrad", "backslice"),
    "sparse_slice_grad": ("SparseSliceGrad", "backslice"),
    "ragged_gradient": ("RaggedGradient", "backslice"),
}
ELEMENTS = ("data", "dX", "dY", "dy", "grad", "piece")  # prefixes of the names of inputs that may have any type
# The first opset, and version of the format, whose Cast has these types.
VERSIONS = {
    ("",): (13, 8),
    ("BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"): (19, 9),
    ("INT4", "UINT4"): (21, 10),
}


def ordered(op: str, given: list[str]) -> list[str]:
    """Return the inputs of a node: "" for those left out, and at the end those of a variadic input."""
    names = [name if name in given else "" for name in ORDER[op]]
    names += ["" if name.startswith("gap") else name for name in given if name not in ORDER[op]]
    while names[-1] == "":
        names.pop()
    return names


def cast(name: str, to: int) -> Any:
    return helper.make_node("Cast", [name], [f"{name}_cast"], to=to)


Inputs = tuple[tuple[str, str], ...]
Attributes = tuple[tuple[str, Any], ...]


def model(op: str, inputs: Inputs, attributes: Attributes, through: str, constants: dict[str, Any]) -> Any:
    """Return a model of one node. `through` names a type without NumPy arrays; the inputs are cast to it, and the
    result from it."""
    names = ordered(op, [name for name, _ in inputs])
    elements = [name for name, _ in inputs if name.startswith(ELEMENTS)]
    operator, domain = NODE[op]
    used = [f"{name}_cast" if through and name in elements else name for name in names]
    nodes = [helper.make_node(operator, used, ["result"], domain=domain, **dict(attributes))]
    element = TYPES[dict(inputs)[elements[0]]]
    if through:
        nodes = [*(cast(name, getattr(TensorProto, through)) for name in elements), *nodes, cast("result", element)]
    fed = [(name, dtype) for name, dtype in inputs if name in names and name not in constants]
    infos = [helper.make_tensor_value_info(name, TYPES[dtype], None) for name, dtype in fed]
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    output = helper.make_tensor_value_info("result_cast" if through else "result", element, None)
    # 1.17 does not infer the type of a custom operator's output if an input in the middle is left out.
    middle = [helper.make_tensor_value_info("result", getattr(TensorProto, through), None)] if through else []
    opset, ir = next(versions for types, versions in VERSIONS.items() if through in types)
    opsets = [
        helper.make_opsetid(name, version) for name, version in [("", opset), ("com.microsoft", 1), ("backslice", 1)]
    ]
    graph = helper.make_graph(nodes, "g", infos, [output], tensors, value_info=middle)
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir)


def started(made: Any) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if "BACKSLICE_OPERATORS" in os.environ:
        options.add_session_config_entry("custom_op.SliceGrad.domain", "com.microsoft")
        options.register_custom_ops_library(os.environ["BACKSLICE_OPERATORS"])
    return ort.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])


@cache
def session(op: str, inputs: Inputs, attributes: Attributes, through: str) -> Any:
    return started(model(op, inputs, attributes, through, {}))


def run(op: str, arrays: dict[str, Any], options: dict[str, Any]) -> Any:
    if op == "version":
        return np.array([int(part) for part in ort.__version__.split(".")[:2]])
    inputs = tuple((name, array.dtype.name) for name, array in arrays.items())
    through, are_constant = options.pop("through", ""), options.pop("are_constant", False)
    attributes = tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in sorted(options.items()))
    fed = {name: array for name, array in arrays.items() if not name.startswith("gap")}
    if are_constant:
        constants = {name: array for name, array in fed.items() if not name.startswith(ELEMENTS)}
        made = started(model(op, inputs, attributes, through, constants))
        return np.asarray(made.run(None, {name: fed[name] for name in fed.keys() - constants.keys()})[0])
    return np.asarray(session(op, inputs, attributes, through).run(None, fed)[0])


serve(run)
