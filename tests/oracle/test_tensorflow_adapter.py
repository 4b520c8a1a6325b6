"""The kernels that backslice.tensorflow installs, compared with TensorFlow's own by the same calls."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import Cases, rotate
from compare import brief, equal_bits
from peer import Peer, Reply
from sparse_cases import SparseCases, vector, wraps
from test_tensorflow import DTYPES, REFUSED, masks
from test_tensorflow_sparse import GRADIENTS, SLICES

COUNT = int(os.environ.get("BACKSLICE_ORACLE_CASES", "15000")) // 10
CONFORMANCE = Path(__file__).parents[1] / "conformance"
Arrays = dict[str, Any]


def words(error: str) -> tuple[str, str]:
    """Return an error's class and message, without its location and without numbers.

    TensorFlow counts entries after it has expanded the ellipsis, backslice counts the caller's entries.
    """
    name, _, text = error.partition(": ")
    text = re.sub(r" \[Op:\w+\].*", "", re.sub(r"^\{\{.*?\}\} ", "", text), flags=re.S)
    return name, re.sub(r"-?\d+", "#", re.sub(r" on /job.*", "", text)).rstrip(".")


class Pair:
    """TensorFlow without and with backslice's kernels. Every call must have the same outcome."""

    def __init__(self, without: Peer, with_backslice: Peer) -> None:
        self.peers = without, with_backslice
        self.counts: Counter[str] = Counter()
        self.differences: list[str] = []

    def call(self, op: str, arrays: Arrays, is_wrong: bool = False, **options: Any) -> Reply:
        """Return the answer of backslice's kernel. `is_wrong`: TensorFlow's own answer is known to be wrong."""
        theirs, ours = (peer.call(op, arrays, **options) for peer in self.peers)
        if is_wrong:
            self.counts["TensorFlow is wrong"] += 1
        elif self.are_equal(theirs, ours):
            self.counts["refused" if ours.error else "equal"] += 1
        else:
            shown = [reply.error or brief(reply.arrays) for reply in (ours, theirs)]
            self.differences.append(f"{op} {arrays} {options}\n  ours: {shown[0]}\n  TensorFlow's: {shown[1]}")
        return ours

    @staticmethod
    def are_equal(theirs: Reply, ours: Reply) -> bool:
        if theirs.error is not None and ours.error is not None:
            (name, text), (our_name, our_text) = words(theirs.error), words(ours.error)
            return name == our_name and text in our_text
        if theirs.arrays is None or ours.arrays is None:
            return False
        return all(map(equal_bits, ours.arrays, theirs.arrays))


@pytest.fixture
def pair(tensorflow: Peer, tensorflow_with_backslice: Peer) -> Iterator[Pair]:
    pair = Pair(tensorflow, tensorflow_with_backslice)
    yield pair
    print(dict(pair.counts))
    assert not pair.differences, "\n".join(pair.differences[:5])
    assert tensorflow_with_backslice.crashes == 0


def test_random_gradients(pair: Pair) -> None:
    cases, dtypes = Cases(seed=21), rotate(DTYPES)
    for _ in range(COUNT):
        spec, dtype = cases.tensorflow(), next(dtypes)
        dy = cases.elements(dtype, cases.gradient_shape(spec))
        shape = np.array(spec.shape, spec.integers["begin"].dtype)
        pair.call("strided_slice_grad", {"shape": shape, "dy": dy, **spec.integers}, **spec.masks)
    assert pair.counts["equal"] > COUNT * 0.8 and pair.counts["refused"] > COUNT / 100


def test_random_sparse_slices(pair: Pair) -> None:
    cases, dtypes = SparseCases(seed=22), rotate(SLICES)
    for _ in range(COUNT // 4):
        indices, shape, start, size = cases.arguments()
        values = cases.elements(next(dtypes), (len(indices) + cases.chance(0.02),))
        arrays = {"indices": indices, "values": values, "shape": vector(shape), "start": vector(start)}
        pair.call("sparse_slice", {**arrays, "size": vector(size)}, is_wrong=wraps(start, size))
    assert pair.counts["equal"] > COUNT / 5 and pair.counts["refused"] > COUNT / 400


def test_random_sparse_gradients(pair: Pair) -> None:
    cases, dtypes = SparseCases(seed=23), rotate(GRADIENTS)
    for _ in range(COUNT // 4):
        arrays, overflows = cases.gradient_arguments(next(dtypes))
        pair.call("sparse_slice_grad", arrays, is_wrong=overflows)
    assert pair.counts["equal"] > COUNT / 8 and pair.counts["refused"] > COUNT / 400


@pytest.mark.parametrize("name", REFUSED)
def test_errors_keep_their_class_and_words(pair: Pair, name: str) -> None:
    given = dict(shape=[4], begin=[1], end=[3], strides=[1], dy=np.ones(2, "f4")) | REFUSED[name]
    options = masks(**{k: given.pop(k) for k in list(given) if k.endswith("_mask")})
    pair.call("strided_slice_grad", {k: v if k == "dy" else np.array(v, np.int64) for k, v in given.items()}, **options)
    assert pair.counts["refused"] == 1


SLICE = dict(indices=[[0, 0], [1, 1]], values=[1.0, 2.0], shape=[2, 2], start=[0, 0], size=[1, 1])
SPARSE_REFUSED: dict[str, dict[str, Any]] = {
    "indices a vector": dict(indices=[0, 1]), "values a matrix": dict(values=[[1.0, 2.0]]),
    "shape a matrix": dict(shape=[[2, 2]]), "too few values": dict(values=[1.0]),
    "columns unlike the shape": dict(indices=[[0], [1]]), "start a scalar": dict(start=0),
    "size a scalar": dict(size=1),
    "start too short": dict(start=[0]), "size too short": dict(size=[1]), "a negative extent": dict(shape=[2, -2]),
    "too many elements": dict(shape=[2**40, 2**40]), "a negative size": dict(size=[1, -1]),
}  # fmt: skip
GRADIENT = dict(backprop_val_grad=[1.0], input_indices=[[0, 0], [1, 1]], input_start=[0, 0], output_indices=[[0, 0]])
SPARSE_GRADIENTS_REFUSED: dict[str, dict[str, Any]] = {
    "input_indices a vector": dict(input_indices=[0]), "output_indices a vector": dict(output_indices=[0]),
    "grad a matrix": dict(backprop_val_grad=[[1.0]]), "grad a scalar": dict(backprop_val_grad=1.0),
    "columns that differ": dict(output_indices=[[0]]),
    "more rows than there were": dict(output_indices=[[0, 0]] * 3, backprop_val_grad=[1.0] * 3),
    "too many gradients": dict(backprop_val_grad=[1.0, 2.0]), "start a matrix": dict(input_start=[[0, 0]]),
    "start too short": dict(input_start=[0]), "a gradient left over": dict(output_indices=[[5, 5]]),
}  # fmt: skip


def sparse_arrays(given: Arrays) -> Arrays:
    return {k: np.array(v, "f4" if k in ("values", "backprop_val_grad") else "i8") for k, v in given.items()}


@pytest.mark.parametrize("name", SPARSE_REFUSED)
def test_sparse_errors_keep_their_class_and_words(pair: Pair, name: str) -> None:
    pair.call("sparse_slice", sparse_arrays(SLICE | SPARSE_REFUSED[name]))
    assert pair.counts["refused"] == 1


@pytest.mark.parametrize("name", SPARSE_GRADIENTS_REFUSED)
def test_sparse_gradient_errors_keep_their_class_and_words(pair: Pair, name: str) -> None:
    pair.call("sparse_slice_grad", sparse_arrays(GRADIENT | SPARSE_GRADIENTS_REFUSED[name]))
    assert pair.counts["refused"] == 1


def conformance(name: str, *ops: str) -> list[Any]:
    return [case for case in json.loads((CONFORMANCE / name).read_text()) if case["op"] in ops]


@pytest.mark.parametrize("case", conformance("dense_slices.json", "strided_slice_grad"), ids=lambda c: c["name"])
def test_conformance_of_gradients(tensorflow_with_backslice: Peer, case: Any) -> None:
    lists = {k: np.array(v, np.int64) for k, v in case["args"].items() if not k.endswith("_mask")}
    options = masks(**{k: v for k, v in case["args"].items() if k.endswith("_mask")})
    for dtype in ("int64", "float32", "complex128"):
        dy = np.array(case["input"]["values"], dtype).reshape(case["input"]["shape"])
        arrays = {"shape": np.array(case["shape"], np.int64), "dy": dy, **lists}
        check(case, tensorflow_with_backslice.call("strided_slice_grad", arrays, **options))


@pytest.mark.parametrize(
    "case", conformance("sparse_slices.json", "sparse_slice", "sparse_slice_grad"), ids=lambda c: c["name"]
)
def test_conformance_of_sparse_slices(tensorflow_with_backslice: Peer, case: Any) -> None:
    arguments = {k: v for k, v in case["args"].items() if k != "order"}
    if len(arguments) < len(case["args"]):
        pytest.skip("TensorFlow matches rows in order alone")
    values = "values" if case["op"] == "sparse_slice" else "backprop_val_grad"
    check(case, tensorflow_with_backslice.call(case["op"], sparse_arrays({values: case["values"], **arguments})))


def check(case: Any, reply: Reply) -> None:
    if "error" in case:
        assert reply.error is not None and words(reply.error)[0] == case["error"]["code"] + "Error"
        return
    assert reply.arrays is not None, reply
    expected, found = case["result"], [array.tolist() for array in reply.arrays]
    if case["op"] == "sparse_slice":
        assert found == [expected["indices"], expected["values"], expected["shape"]]
    else:
        assert np.ravel(found[0]).tolist() == expected["values"]
