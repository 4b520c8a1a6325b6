"""Times SliceGrad inside the training wheel: its own kernel and backslice's, in turns. Prints JSON.

python onnxruntime_speed.py LIBRARY NAME ARGUMENTS

NAME is the name of a gradient. "names" prints all names, each with the number of its nodes in a graph. "slice" times
ONNX Runtime's Slice beside its gradient. ARGUMENTS is "constants" or "inputs": the source of shape, starts, ends, axes
and steps.
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
# name: shape, (start, end, step) per axis, type, and the number of nodes in a graph, which hides the cost of starting
# it
GRADIENTS = {
    "few (64,)[8:40]": ((64,), [(8, 40, 1)], "float32", 100),
    "few (8,8)[2:6,2:6]": ((8, 8), [(2, 6, 1)] * 2, "float32", 100),
    "small (64,64)[8:40,8:40]": ((64, 64), [(8, 40, 1)] * 2, "float32", 20),
    "crop (256,256)[64:192,64:192]": ((256, 256), [(64, 192, 1)] * 2, "float32", 4),
    "crop (256,256)[8:248,8:248]": ((256, 256), [(8, 248, 1)] * 2, "float32", 4),
    "inner step (256,256)[:,::2]": ((256, 256), [ALL, (0, END, 2)], "float32", 4),
    "inner step (256,256)[:,::2], float64": ((256, 256), [ALL, (0, END, 2)], "float64", 4),
    "inner step (256,256)[:,::3], float64": ((256, 256), [ALL, (0, END, 3)], "float64", 4),
    "rows (4096,4096)[1024:3072]": (SQUARE, [ROWS], "float32", 1),
    "columns (4096,4096)[:,1024:3072]": (SQUARE, [ALL, ROWS], "float32", 1),
    "columns (4096,4096)[:,1024:3072], float64": (SQUARE, [ALL, ROWS], "float64", 1),
    "inner step (4096,4096)[:,::2]": (SQUARE, [ALL, (0, END, 2)], "float32", 1),
    "inner step (4096,4096)[:,::2], float64": (SQUARE, [ALL, (0, END, 2)], "float64", 1),
    "inner step (1024,1024)[:,::3]": ((1024, 1024), [ALL, (0, END, 3)], "float32", 1),
    "inner step (1024,1024)[:,::2], float64": ((1024, 1024), [ALL, (0, END, 2)], "float64", 1),
    "inner step (1024,1024)[:,::3], float64": ((1024, 1024), [ALL, (0, END, 3)], "float64", 1),
    "outer step (4096,4096)[::2]": (SQUARE, [(0, END, 2)], "float32", 1),
    "outer step (4096,4096)[::-1]": (SQUARE, [(END, -END, -1)], "float32", 1),
    "one row per matrix (512,128,512)[:,64:65]": ((512, 128, 512), [ALL, (64, 65, 1)], "float32", 1),
    "crop (32,64,112,112)[:,:,8:104,8:104]": ((32, 64, 112, 112), [ALL, ALL, (8, 104, 1), (8, 104, 1)], "float32", 1),
    "crop (1024,1024)[128:896,128:896]": ((1024, 1024), [(128, 896, 1)] * 2, "float32", 1),
    "few of many (2^26)[100:200]": ((2**26,), [(100, 200, 1)], "float32", 1),
}
TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "int64": TensorProto.INT64}
LISTS = ["shape", "starts", "ends", "axes", "steps"]


def lists(shape, spec):
    values = {"shape": list(shape), "axes": list(range(len(spec)))}
    values |= {name: [axis[i] for axis in spec] for i, name in enumerate(("starts", "ends", "steps"))}
    return [helper.make_tensor(name, TensorProto.INT64, [len(values[name])], values[name]) for name in LISTS]


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
        options.add_session_config_entry("custom_op.SliceGrad.domain", "com.microsoft")
        options.register_custom_ops_library(library)
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def runner(made, given, outputs):
    """Make a function that runs a session whose results stay in its own memory."""
    binding = made.io_binding()
    for name, array in given.items():
        binding.bind_cpu_input(name, array)
    for name in outputs:
        binding.bind_output(name, "cpu")
    return lambda: made.run_with_iobinding(binding)


def sliced_shape(shape, spec):
    axes = [slice(None if a == END else a, None if abs(b) == END else b, s) for a, b, s in spec]
    return np.empty(shape, np.int8)[tuple(axes)].shape


def graph(op, name, library, arguments):
    """Build the gradient's number of nodes, none of which the optimiser can join."""
    shape, spec, dtype, count = GRADIENTS[name]
    of_node = np.ones(shape if op == "Slice" else sliced_shape(shape, spec), dtype)
    given = {f"i{k}": of_node for k in range(count)}
    needed = [tensor for tensor in lists(shape, spec) if op == "SliceGrad" or tensor.name != "shape"]
    if arguments == "inputs":
        given |= {tensor.name: numpy_helper.to_array(tensor) for tensor in needed}
    domain = "" if op == "Slice" else "com.microsoft"
    names = [tensor.name for tensor in needed]
    nodes = [helper.make_node(op, [f"i{k}", *names], [f"o{k}"], domain=domain) for k in range(count)]
    outputs = [f"o{k}" for k in range(count)]
    return runner(session(nodes, given, [] if arguments == "inputs" else needed, outputs, library), given, outputs)


def best(calls, seconds=1.0):
    """Return the best time of each call, while they take turns."""
    times = [float("inf")] * len(calls)
    for call in calls:
        call()
        call()
    end, rounds = time.perf_counter() + seconds * len(calls), 0
    while rounds < 5 or time.perf_counter() < end:
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            times[i] = min(times[i], time.perf_counter() - start)
        rounds += 1
    return times


def measured(library, name, arguments):
    """Return the seconds per node: of ONNX Runtime's kernel, and of backslice's."""
    if name == "names":
        return {of: gradient[3] for of, gradient in GRADIENTS.items()}
    first = ("Slice" if name == "slice" else "SliceGrad", "")
    if name == "slice":
        name = "few (8,8)[2:6,2:6]"
    made = [graph(op, name, used, arguments) for op, used in (first, ("SliceGrad", library))]
    return [seconds / GRADIENTS[name][3] for seconds in best(made)]


print(json.dumps(measured(*sys.argv[1:])))
