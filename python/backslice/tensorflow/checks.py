"""Self-tests: our kernels beside TensorFlow's own, on small inputs, before they are put in use.

TensorFlow computes constants while it builds a graph, on a device of its own: a tensor that is used as a shape becomes
the static shape of a result. So kernels run here without starting TensorFlow's runtime, whose devices and threads can
still be configured afterwards. Kernels that are registered under a label run only for nodes that ask for the label.
"""

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from ..self_test import SelfTest
from . import library, other_libraries

LABEL = "backslice"

Cases = Mapping[str, Callable[[], list[Any]]]
raw = tf.raw_ops


def _strided_slice_grad() -> list[Any]:
    lists = {"shape": [4, 5], "begin": [0, 4], "end": [3, 0], "strides": [1, -2]}
    texts = ["one", "a text of thirty-one characters"]
    return [
        raw.StridedSliceGrad(**lists, dy=[[1, 2], [3, 4], [5, 6]]),
        tf.strings.length(raw.StridedSliceGrad(shape=[3], begin=[1], end=[3], strides=[1], dy=texts)),
    ]


def _sparse_slice() -> list[Any]:
    indices, values = [[0, 1], [2, 0], [2, 3], [3, 3]], [5, 6, 7, 8]
    return list(raw.SparseSlice(indices=indices, values=values, shape=[4, 4], start=[2, 1], size=[9, 9]))


def _sparse_slice_grad() -> list[Any]:
    indices = {"input_indices": [[0], [2], [3]], "input_start": [2], "output_indices": [[0], [1]]}
    return [raw.SparseSliceGrad(backprop_val_grad=[5, 7], **indices)]


CASES: Cases = {
    "StridedSliceGrad": _strided_slice_grad,
    "SparseSlice": _sparse_slice,
    "SparseSliceGrad": _sparse_slice_grad,
}


def folded(cases: Cases, ops: Any = (), label: str = "") -> dict[str, list[int] | None]:
    """Return the numbers that each case results in; None if this TensorFlow does not compute them in advance.

    Nodes of `ops` ask for kernels with that label.
    """
    with tf.Graph().as_default() as graph:
        results = [tf.concat([tf.reshape(tf.cast(y, tf.int32), [-1]) for y in case()], 0) for case in cases.values()]
    definition = graph.as_graph_def()
    for node in definition.node:
        node.attr["_backslice_test"].b = True
        if node.op in ops:
            node.attr["_kernel"].s = label.encode()
    with tf.Graph().as_default():
        again = tf.graph_util.import_graph_def(definition, return_elements=[result.name for result in results])
        shapes = [tf.fill(result, 0).shape for result in again]
    return {name: list(shape) if shape.is_fully_defined() else None for name, shape in zip(cases, shapes, strict=True)}


def compare(cases: Cases, ops: Any) -> None:
    """Raise unless kernels with our label give what TensorFlow's own give. Skip those that were replaced."""
    cases = {name: case for name, case in cases.items() if name not in other_libraries.replaced(ops)}
    theirs, ours = folded(cases), folded(cases, ops, LABEL)
    for name in cases:
        if ours[name] != theirs[name]:
            raise ValueError(f"{name}: backslice gives {ours[name]}, TensorFlow {theirs[name]}")


def taken() -> set[str]:
    """Return the ops for which TensorFlow uses our kernels: their counts of test calls grow."""
    before = {op: library.calls(op, "test") for op in CASES}
    folded(CASES)
    return {op for op in CASES if library.calls(op, "test") > before[op]}


def _register_with_label() -> None:
    for op in library.OPS:
        library.register(op, LABEL)


def _compare_kernels(fast: bool) -> None:
    library.enable(fast)
    try:
        compare(CASES, CASES)
    finally:
        library.enable(False)


CHECKS = SelfTest(
    "backslice.tensorflow",
    "TensorFlow's own kernels stay in use",
    {
        "registration": _register_with_label,
        "fast kernels": lambda: _compare_kernels(fast=True),
        "plain kernels": lambda: _compare_kernels(fast=False),
    },
)
