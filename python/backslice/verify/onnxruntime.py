"""Random programs of slices for ONNX Runtime: Slice, and with the adapter SliceGrad."""

import random

from .cases import elements
from .program import Program, program

HEAD = """import numpy as np, onnx, onnxruntime, backslice as bs
from onnx import TensorProto, helper"""
MODEL = """info, names = helper.make_tensor_value_info, [{first!r}, *{extra}, *lists]
inputs = [info(n, TensorProto.FLOAT if n == {first!r} else TensorProto.INT64, None) for n in names]
node = helper.make_node({op!r}, names, ["y"], domain={domain!r})
graph = helper.make_graph([node], "g", inputs, [info("y", TensorProto.FLOAT, None)])
imports = [helper.make_opsetid("", 17)] + [helper.make_opsetid("backslice", 1)]
model = helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()"""
RUN = """session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
(found,) = session.run(None, feeds)"""


def random_program(rng: random.Random, with_adapter: bool) -> Program:
    shape = tuple(rng.randint(1, 6) for _ in range(rng.randint(1, 4)))
    axes = rng.sample(range(len(shape)), rng.randint(1, len(shape)))
    lists = {
        "starts": [rng.randint(-shape[a] - 2, shape[a] + 2) for a in axes],
        "ends": [rng.choice((2**63 - 1, rng.randint(-shape[a] - 2, shape[a] + 2))) for a in axes],
        "axes": [a - rng.choice((0, len(shape))) for a in axes],
        "steps": [rng.choice((1, 1, 2, 3, -1, -2)) for _ in axes],
    }
    head = [HEAD, f"shape, lists = {shape}, {lists}"]
    feeds = "**{n: np.array(v, np.int64) for n, v in lists.items()}"
    if with_adapter:
        return program(
            "SliceGrad",
            *head,
            MODEL.format(first="dY", extra=["shape"], op="SliceGrad", domain="backslice"),
            f"taken = bs.onnx_slice({elements(shape)}, **lists)",
            "dy = (np.arange(taken.size) % 5 - 2.0).astype(np.float32).reshape(taken.shape)",
            f"feeds = dict(dY=dy, shape=np.array(shape, np.int64), {feeds})",
            "from backslice.onnxruntime import session_options",
            "options = session_options()",
            RUN,
            "expected = bs.onnx_slice_grad(dy, list(shape), **lists)",
        )
    return program(
        "Slice",
        *head,
        MODEL.format(first="x", extra=[], op="Slice", domain=""),
        f"x = ({elements(shape)}).astype(np.float32)",
        f"feeds = dict(x=x, {feeds})",
        "options = onnxruntime.SessionOptions()",
        RUN,
        "expected = bs.onnx_slice(x, **lists)",
    )
