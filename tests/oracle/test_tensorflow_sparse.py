"""SparseSlice and SparseSliceGrad against the live TensorFlow, bit for bit."""

import os
from typing import Any

import backslice as bs
import numpy as np
import pytest
from cases import Cases, rotate
from compare import Comparison
from numpy.typing import NDArray
from peer import Peer, Reply

COUNT = int(os.environ.get("BACKSLICE_ORACLE_CASES", "15000")) // 5

# What both have; the quantised ones of the document have no kernel in TensorFlow.
GRADIENTS = [
    "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "complex64", "complex128",
]  # fmt: skip
SLICES = [*GRADIENTS, "bool", "object"]
EXTREME = [-(2**63), 2**63 - 1, 2**63 - 2, -(2**63) + 1]


class SparseCases(Cases):
    def indices(self, rows: int, rank: int, extent: int) -> NDArray[Any]:
        """Sorted or not, with few or many duplicates; now and then with extremes of int64."""
        matrix = self.random.integers(0, max(extent, 1), (rows, rank))
        if self.chance(0.05) and matrix.size:
            matrix.ravel()[self.pick(0, matrix.size - 1)] = self.random.choice(EXTREME)
        if self.chance(0.5) and rank:
            matrix = matrix[np.lexsort(matrix.T[::-1])]
        return np.ascontiguousarray(matrix)

    def arguments(self) -> tuple[NDArray[Any], list[int], list[int], list[int]]:
        rank, extent = self.pick(0, 8), self.pick(1, 5)
        indices = self.indices(self.pick(0, 25), rank, extent)
        start = [self.pick(-2, extent + 1) for _ in range(rank)]
        size = [self.pick(0, extent + 2) for _ in range(rank)]
        if rank and self.chance(0.05):
            start[self.pick(0, rank - 1)] = int(self.random.choice(EXTREME))
        return indices, [extent] * rank, start, size


def vector(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def wraps(start: list[int], size: list[int]) -> bool:
    """Where TensorFlow's start + size wraps, ours does not."""
    return any(s + z > 2**63 - 1 for s, z in zip(start, size, strict=False))


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
            start[0] = 0  # TensorFlow overlooks a negative size where the start is past the shape
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
        indices, shape, start, size = cases.arguments()
        dtype = next(dtypes)
        output = bs.sparse_slice(indices, np.zeros(len(indices)), shape, start, size)[0]
        if cases.chance(0.2):
            output = output[cases.random.permutation(len(output))]
        if cases.chance(0.1) and len(output):
            output = output[:-1]
        if cases.chance(0.05):
            output = cases.indices(cases.pick(0, len(indices) + 1), indices.shape[1], 4)
        grad = cases.elements(dtype, (len(output) + (1 if cases.chance(0.02) else 0),))
        arguments = {
            "backprop_val_grad": grad,
            "input_indices": indices,
            "input_start": vector(start + ([0] if cases.chance(0.02) else [])),
            "output_indices": np.ascontiguousarray(output),
        }
        theirs = tensorflow.call("sparse_slice_grad", arguments)
        overflows = len(start) == indices.shape[1] and any(
            not -(2**63) <= int(o) + s <= 2**63 - 1 for row in output for o, s in zip(row, start, strict=True)
        )

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
