"""SparseSlice and SparseSliceGrad compared with the live TensorFlow, bit for bit."""

import os
from typing import Any

import backslice as bs
import numpy as np
import pytest
from cases import rotate
from compare import Comparison
from peer import Peer, Reply
from sparse_cases import SparseCases, vector, wraps

COUNT = int(os.environ.get("BACKSLICE_ORACLE_CASES", "15000")) // 5

# The dtypes of both. TensorFlow has no kernel for the quantised dtypes of its documentation.
GRADIENTS = [
    "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "complex64", "complex128",
]  # fmt: skip
SLICES = [*GRADIENTS, "bool", "object"]


def test_slices(tensorflow: Peer) -> None:
    cases, comparison, dtypes = SparseCases(seed=11), Comparison(), rotate(SLICES)
    for _ in range(COUNT):
        indices, shape, start, size = cases.arguments()
        dtype = next(dtypes)
        values = cases.elements(dtype, (len(indices) + (1 if cases.chance(0.02) else 0),))
        if cases.chance(0.02):
            size = [*size, 1]
        if size and cases.chance(0.02):
            size[0] = -1
            start[0] = 0  # TensorFlow ignores a negative size if the start is past the shape
        arguments = {
            "indices": indices, "values": values, "shape": vector(shape), "start": vector(start), "size": vector(size)
        }  # fmt: skip
        theirs = tensorflow.call("sparse_slice", arguments)
        wrapped = wraps(start, size)

        def fault(reply: Reply, wrapped: bool = wrapped) -> str | None:
            return "TensorFlow wraps start + size" if wrapped else None

        comparison.add((dtype, arguments), lambda a=arguments: bs.sparse_slice(**a), theirs, fault)  # type: ignore[misc]
    comparison.report("SparseSlice")
    assert comparison.counts["equal"] > COUNT * 0.8
    assert comparison.counts["both refuse"] > COUNT / 100


def test_gradients(tensorflow: Peer) -> None:
    cases, comparison, dtypes = SparseCases(seed=12), Comparison(), rotate(GRADIENTS)
    for _ in range(2 * COUNT):
        dtype = next(dtypes)
        arguments, overflows = cases.gradient_arguments(dtype)
        theirs = tensorflow.call("sparse_slice_grad", arguments)

        def fault(reply: Reply, overflows: bool = overflows) -> str | None:
            return "TensorFlow wraps index + start" if overflows else None

        comparison.add((dtype, arguments), lambda a=arguments: bs.sparse_slice_grad(**a), theirs, fault)  # type: ignore[misc]
    comparison.report("SparseSliceGrad")
    assert comparison.counts["equal"] > COUNT
    assert comparison.counts["both refuse"] > COUNT / 20


GOOD: dict[str, Any] = dict(
    backprop_val_grad=np.ones(2, "f4"),
    input_indices=np.array([[0], [1], [2]]),
    input_start=vector([0]),
    output_indices=np.array([[0], [1]]),
)
REFUSED = {
    "input indices not a matrix": dict(input_indices=vector([0, 1])),
    "output indices not a matrix": dict(output_indices=vector([0, 1])),
    "a scalar gradient": dict(backprop_val_grad=np.float32(1)),
    "other columns": dict(output_indices=np.array([[0, 0], [1, 1]])),
    "more output than input rows": dict(output_indices=np.array([[0]] * 4), backprop_val_grad=np.ones(4, "f4")),
    "gradients that disagree": dict(backprop_val_grad=np.ones(3, "f4")),
    "start not a vector": dict(input_start=np.array([[0]])),
    "start of another length": dict(input_start=vector([0, 0])),
    "start of another length with no rows": dict(
        input_start=vector([0, 0]), input_indices=np.zeros((0, 1), int), output_indices=np.zeros((0, 1), int),
        backprop_val_grad=np.ones(0, "f4"),
    ),
    "a gradient left over": dict(output_indices=np.array([[0], [7]])),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_both_refuse(tensorflow: Peer, case: str) -> None:
    arguments = GOOD | REFUSED[case]
    theirs = tensorflow.call("sparse_slice_grad", arguments)
    assert theirs.error is not None
    with pytest.raises(bs.Error):
        bs.sparse_slice_grad(**arguments)
