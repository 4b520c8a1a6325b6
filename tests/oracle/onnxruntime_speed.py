"""Times SliceGrad inside the training wheel: its own kernel and backslice's, in turns. Prints JSON.

python onnxruntime_speed.py LIBRARY NAME

NAME is that of a gradient, "names" for all names, "nodes" for what one node of a large graph costs, or "nodes with
arguments" for one whose arguments are inputs of the graph.
"""

import json
import sys
import time

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

END = 2**63 - 1
ALL = (0, END, 1)
ROWS = (1024, 3072, 1)
SQUARE = (4096, 4096)
# name: shape, (start, end, step) per axis, type
GRADIENTS = {
    "rows (4096,4096)[1024:3072]": (SQUARE, [ROWS], "float32"),
    "columns (4096,4096)[:,1024:3072]": (SQUARE, [ALL, ROWS], "float32"),
    "columns, float64": (SQUARE, [ALL, ROWS], "float64"),
    "inner step (4096,4096)[:,::2]": (SQUARE, [ALL, (0, END, 2)], "float32"),
    "inner step (1024,1024)[:,::3]": ((1024, 1024), [ALL, (0, END, 3)], "float32"),
    "outer step (4096,4096)[::2]": (SQUARE, [(0, END, 2)], "float32"),
    "outer step (4096,4096)[::-1]": (SQUARE, [(END, -END, -1)], "float32"),
    "one row per matrix (512,128,512)[:,64:65]": ((512, 128, 512), [ALL, (64, 65, 1)], "float32"),
    "crop (32,64,112,112)[:,:,8:104,8:104]": ((32, 64, 112, 112), [ALL, ALL, (8, 104, 1), (8, 104, 1)], "float32"),
    "crop (1024,1024)[128:896,128:896]": ((1024, 1024), [(128, 896, 1)] * 2, "float32"),
    "small (64,64)[8:40,8:40]": ((64, 64), [(8, 40, 1)] * 2, "float32"),
    "few of many (2^26)[100:200]": ((2**26,), [(100, 200, 1)], "float32"),
}
TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "int64": TensorProto.INT64}
NODES = 100  # in a graph that measures one of them


def constants(shape, spec):
    lists = {"shape": list(shape), "axes": list(range(len(spec)))}
    lists |= {name: [axis[i] for axis in spec] for i, name in enumerate(("starts", "ends", "steps"))}
    return [helper.make_tensor(name, TensorProto.INT64, [len(v)], v) for name, v in lists.items()]


def session(nodes, given, tensors, outputs, library):
    infos = [helper.make_tensor_value_info(n, TYPES[a.dtype.name], a.shape) for n, a in given.items()]
    results = [helper.make_tensor_value_info(n, TYPES[next(iter(given.values())).dtype.name], None) for n in outputs]
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(
        helper.make_graph(nodes, "g", infos, results, tensors), opset_imports=opsets, ir_version=8
    )
    options = ort.SessionOptions()
    options.log_severity_level = 4
    if library:
        options.register_custom_ops_library(library)
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def runner(made, given, outputs):
    """Runs a session whose results stay in its own memory."""
    binding = made.io_binding()
    for name, array in given.items():
        binding.bind_cpu_input(name, array)
    for name in outputs:
        binding.bind_output(name, "cpu")
    return lambda: made.run_with_iobinding(binding)


def gradient(shape, spec, dtype, library):
    axes = [slice(None if a == END else a, None if abs(b) == END else b, s) for a, b, s in spec]
    dy = np.ones(np.empty(shape, np.int8)[tuple(axes)].shape, dtype)
    node = helper.make_node(
        "SliceGrad", ["dY", "shape", "starts", "ends", "axes", "steps"], ["dX"], domain="com.microsoft"
    )
    made = session([node], {"dY": dy}, constants(shape, spec), ["dX"], library)
    return runner(made, {"dY": dy}, ["dX"])


def many(op, library, are_inputs=False):
    """NODES nodes on a small tensor, none of which the optimiser can join. Their arguments are inputs or constants."""
    shape, spec = (8, 8), [(2, 6, 1)] * 2
    given = {f"i{k}": np.ones(shape if op == "Slice" else (4, 4), np.float32) for k in range(NODES)}
    tensors = constants(shape, spec)
    if are_inputs:
        given |= {tensor.name: numpy_helper.to_array(tensor) for tensor in tensors}
    more = ["starts", "ends", "axes", "steps"] if op == "Slice" else ["shape", "starts", "ends", "axes", "steps"]
    domain = "" if op == "Slice" else "com.microsoft"
    nodes = [helper.make_node(op, [f"i{k}", *more], [f"o{k}"], domain=domain) for k in range(NODES)]
    outputs = [f"o{k}" for k in range(NODES)]
    return runner(session(nodes, given, [] if are_inputs else tensors, outputs, library), given, outputs)


def best(calls, seconds=1.0):
    """The best time of each call, while they take turns."""
    times = [float("inf")] * len(calls)
    for call in calls:
        call()
    end, rounds = time.perf_counter() + seconds * len(calls), 0
    while rounds < 5 or time.perf_counter() < end:
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            times[i] = min(times[i], time.perf_counter() - start)
        rounds += 1
    return times


def measured(library, name):
    if name == "names":
        return list(GRADIENTS)
    if name == "nodes":
        times = best([many("Slice", ""), many("SliceGrad", library), many("SliceGrad", "")])
        return [seconds / NODES for seconds in times]
    if name == "nodes with arguments":
        times = best([many("SliceGrad", library, True), many("SliceGrad", "", True)])
        return [seconds / NODES for seconds in times]
    return best([gradient(*GRADIENTS[name], ""), gradient(*GRADIENTS[name], library)])


print(json.dumps(measured(*sys.argv[1:])))
