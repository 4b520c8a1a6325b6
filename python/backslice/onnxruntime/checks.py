"""The self-test: small models, run with the operators."""

from typing import Any

import numpy as np

from .model_format import MICROSOFT, float_tensor, int64_list, model, node

RELU = model([node("Relu", ["x"], "y")], [float_tensor("x", [1])], [float_tensor("y", [1])])
PLAIN = model(
    [node("Gemm", ["x", "x"], "y"), node("Relu", ["y"], "z")], [float_tensor("x", [2, 2])], [float_tensor("z", [2, 2])]
)


def gradient(domain: str) -> bytes:
    """A model of dX, the gradient of the row x[1:2] of four."""
    lists = {"shape": [4, 2], "starts": [1], "ends": [2]}
    nodes = [node("SliceGrad", ["dY", *lists], "dX", domain)]
    constants = [int64_list(name, values) for name, values in lists.items()]
    return model(nodes, [float_tensor("dY", [1, 2])], [float_tensor("dX", [4, 2])], constants, domain)


def check_plain(runtime: Any, options: Any) -> None:
    """A model without our operators, which ONNX Runtime fuses to one node of its own, loads and computes the same."""
    x = np.array([[1, -2], [3, 4]], np.float32)
    _check(_run(runtime, PLAIN, options, x=x), _run(runtime, PLAIN, runtime.SessionOptions(), x=x))


def check_gradient(runtime: Any, options: Any, domain: str = "backslice") -> None:
    dy = np.array([[5, 6]], np.float32)
    expected = np.zeros((4, 2), np.float32)
    expected[1] = dy
    _check(_run(runtime, gradient(domain), options, dY=dy), expected)


def check_microsoft(runtime: Any, options: Any) -> None:
    check_gradient(runtime, options, MICROSOFT)


def load(runtime: Any, options: Any, serialized: bytes) -> Any:
    """Make a session without threads of its own."""
    options.intra_op_num_threads = 1
    return runtime.InferenceSession(serialized, options, providers=["CPUExecutionProvider"])


def _run(runtime: Any, serialized: bytes, options: Any, **feeds: Any) -> Any:
    return load(runtime, options, serialized).run(None, feeds)[0]


def _check(found: Any, expected: Any) -> None:
    if found.tobytes() != expected.tobytes():
        raise ArithmeticError(f"the result is {found.tolist()}, expected {expected.tolist()}")
