"""Models of the usual kinds, without any of our operators, as exporters write them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 13  # it has no LayerNormalization and no Gelu, so that ONNX Runtime fuses the nodes that compute them


class Graph:
    """Adds nodes one by one. Weights are random, and the same each time."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.random = np.random.default_rng(7)

    def op(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        names = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, values: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values), f"c{len(self.constants)}"))
        return str(self.constants[-1].name)

    def weights(self, *shape: int) -> str:
        return self.constant((self.random.normal(size=shape) / 8).astype(np.float32))

    def linear(self, x: str, n: int, m: int) -> str:
        return str(self.op("Add", self.op("MatMul", x, self.weights(n, m)), self.weights(m)))

    def normalized(self, x: str, n: int) -> str:
        """Layer normalisation."""
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1]))
        variance = self.op("ReduceMean", self.op("Pow", centred, self.constant(np.float32(2))), axes=[-1])
        deviation = self.op("Sqrt", self.op("Add", variance, self.constant(np.float32(1e-5))))
        scaled = self.op("Mul", self.op("Div", centred, deviation), self.weights(n))
        return str(self.op("Add", scaled, self.weights(n)))

    def gelu(self, x: str) -> str:
        error = self.op("Erf", self.op("Div", x, self.constant(np.float32(2**0.5))))
        product = self.op("Mul", x, self.op("Add", error, self.constant(np.float32(1))))
        return str(self.op("Mul", product, self.constant(np.float32(0.5))))

    def split_heads(self, x: str, batch: int, length: int, heads: int, n: int) -> str:
        shape = self.constant(np.array([batch, length, heads, n // heads]))
        return str(self.op("Transpose", self.op("Reshape", x, shape), perm=[0, 2, 1, 3]))

    def attention(self, x: str, batch: int, length: int, heads: int, n: int) -> str:
        q, k, v = (self.split_heads(self.linear(x, n, n), batch, length, heads, n) for _ in range(3))
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.op("Div", scores, self.constant(np.float32((n / heads) ** 0.5)))
        mixed = self.op("Transpose", self.op("MatMul", self.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        joined = self.op("Reshape", mixed, self.constant(np.array([batch, length, n])))
        return self.linear(joined, n, n)

    def block(self, x: str, batch: int, length: int, n: int) -> str:
        """A transformer's."""
        x = self.op("Add", x, self.attention(self.normalized(x, n), batch, length, 4, n))
        inner = self.gelu(self.linear(self.normalized(x, n), n, 4 * n))
        return str(self.op("Add", x, self.linear(inner, 4 * n, n)))

    def slice(self, x: str, start: int, end: int, axis: int) -> str:
        return str(self.op("Slice", x, *(self.constant(np.array([value])) for value in (start, end, axis))))

    def model(self, shape: list[int], result: str) -> Any:
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        y = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "graph", [x], [y], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def gemm_and_relu() -> Any:
    g = Graph()
    return g.model([4, 4], g.op("Relu", g.op("Gemm", "x", g.weights(4, 4), g.weights(4))))


def cnn() -> Any:
    g = Graph()
    x = g.op("Conv", "x", g.weights(16, 3, 3, 3), g.weights(16), pads=[1, 1, 1, 1])
    statistics = [g.weights(16), g.weights(16), g.weights(16), g.constant(np.ones(16, np.float32))]
    x = g.op("MaxPool", g.op("Relu", g.op("BatchNormalization", x, *statistics)), kernel_shape=[2, 2], strides=[2, 2])
    y = g.op("Relu", g.op("Conv", x, g.weights(16, 16, 3, 3), g.weights(16), pads=[1, 1, 1, 1]))
    y = g.op("Conv", y, g.weights(16, 16, 3, 3), g.weights(16), pads=[1, 1, 1, 1])
    y = g.op("Clip", g.op("Add", x, y), g.constant(np.float32(0)), g.constant(np.float32(6)))
    y = g.op("Flatten", g.op("GlobalAveragePool", y))
    return g.model([2, 3, 16, 16], g.op("Relu", g.op("Gemm", y, g.weights(16, 10), g.weights(10))))


def transformer() -> Any:
    g = Graph()
    return g.model([2, 8, 32], g.normalized(g.block(g.block("x", 2, 8, 32), 2, 8, 32), 32))


def lstm() -> Any:
    g = Graph()
    hidden, _, _ = g.op("LSTM", "x", g.weights(1, 64, 8), g.weights(1, 64, 16), g.weights(1, 128), outputs=3,
                        hidden_size=16)  # fmt: skip
    last = g.slice(hidden, -1, 2**31 - 1, 0)
    last = g.op("Reshape", last, g.constant(np.array([3, 16])))
    return g.model([5, 3, 8], g.op("Tanh", g.op("Gemm", last, g.weights(16, 4), g.weights(4))))


def swin() -> Any:
    """Shifted windows of 4 by 4 of an image of 8 by 8, and the merging of patches."""
    g = Graph()
    x = "x"
    for axis in (1, 2):
        x = g.op("Concat", g.slice(x, 2, 8, axis), g.slice(x, 0, 2, axis), axis=axis)
    x = g.op("Transpose", g.op("Reshape", x, g.constant(np.array([2, 4, 2, 4, 32]))), perm=[0, 2, 1, 3, 4])
    x = g.block(g.op("Reshape", x, g.constant(np.array([4, 16, 32]))), 4, 16, 32)
    x = g.op("Transpose", g.op("Reshape", x, g.constant(np.array([2, 2, 4, 4, 32]))), perm=[0, 2, 1, 3, 4])
    x = g.op("Reshape", x, g.constant(np.array([1, 8, 8, 32])))
    parts = [stepped(g, stepped(g, x, i, 1), j, 2) for j in (0, 1) for i in (0, 1)]
    merged = g.op("Concat", *parts, axis=-1)
    return g.model([1, 8, 8, 32], g.linear(g.normalized(merged, 128), 128, 64))


def stepped(g: Graph, x: str, start: int, axis: int) -> str:
    return str(g.op("Slice", x, *(g.constant(np.array([value])) for value in (start, 2**31 - 1, axis, 2))))


MODELS: dict[str, Callable[[], Any]] = {
    made.__name__: made for made in (gemm_and_relu, cnn, transformer, lstm, swin)
}  # fmt: skip


def saved(folder: Path) -> dict[str, Path]:
    """The models that PyTorch has exported."""
    return {path.stem: path for path in sorted(folder.glob("*.onnx"))}
