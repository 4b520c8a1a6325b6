"""ONNX Slice compared with the live ONNX Runtime, and SliceGrad with the training wheel's, bit for bit."""

import os

import backslice as bs
import numpy as np
import pytest
from cases import Cases, rotate
from compare import Comparison
from peer import Peer, Reply

COUNT = int(os.environ.get("BACKSLICE_ORACLE_CASES", "15000"))

# The dtypes of ONNX Runtime's Slice on the CPU, found by trying each.
DTYPES = ["float32", "float64", "int32", "int64", "uint8", "int8", "float16", "bool", "object", "uint16", "int16",
          "uint32", "uint64"]  # fmt: skip


def test_random_slices(onnxruntime: Peer) -> None:
    cases, comparison, dtypes = Cases(seed=3), Comparison(), rotate(supported(onnxruntime))
    for _ in range(COUNT):
        spec, dtype = cases.onnx(), next(dtypes)
        x = cases.elements(dtype, spec.shape)
        if dtype == "object":
            x = np.array([v.decode() for v in x.flat] + [None], object)[:-1].reshape(x.shape)
        theirs = onnxruntime.call("slice", {"data": x, **spec.integers})
        comparison.add((dtype, spec), lambda x=x, spec=spec: bs.onnx_slice(x, **spec.integers), theirs)
    comparison.report("ONNX Runtime, Slice")
    assert comparison.counts["equal"] > COUNT * 0.8
    assert comparison.counts["both refuse"] > COUNT / 100


def supported(peer: Peer) -> list[str]:
    """Return the dtypes for which the peer has a kernel, and check that the common ones are among them."""
    found = []
    for dtype in DTYPES:
        x = np.array(["a", "b"], object) if dtype == "object" else np.ones(2, dtype)
        reply = peer.call("slice", {"data": x, "starts": np.array([0]), "ends": np.array([1])})
        if reply.array is not None:
            found.append(dtype)
    print("ONNX Runtime slices", *found)
    assert {"float32", "float64", "int32", "int64", "uint8", "bool", "object"} <= set(found)
    return found


def test_random_gradients(onnxruntime_training: Peer) -> None:
    cases, comparison, dtypes = Cases(seed=4), Comparison(), rotate(["float32", "float64"])
    for _ in range(COUNT):
        spec, dtype = cases.onnx(), next(dtypes)
        try:
            selection = bs.Selection.from_onnx(spec.shape, **spec.integers)
            grad_shape = selection.result_shape
        except bs.Error:
            selection, grad_shape = None, (1,)
        if selection is not None and cases.chance(0.2):  # any shape with as many elements
            grad_shape = (int(np.prod(grad_shape)),)
        grad = cases.elements(dtype, grad_shape)
        shape = np.array(spec.shape, np.int64)
        theirs = onnxruntime_training.call("slice_grad", {"dY": grad, "shape": shape, **spec.integers})
        comparison.add(
            (dtype, spec),
            lambda grad=grad, shape=shape, spec=spec: bs.onnx_slice_grad(grad, shape, **spec.integers),
            theirs,
            gradient_fault,
        )
    comparison.report("ONNX Runtime for training, SliceGrad")
    assert comparison.counts["equal"] > COUNT * 0.6


def gradient_fault(theirs: Reply) -> str | None:
    """Return whether a negative step on the innermost axis (of more than one element) makes the peer fail."""
    return "narrowing_error there" if theirs.error and "narrowing_error" in theirs.error else None


TRAINING_TESTS = {
    "two axes with steps": ([5, 7], [2, 4], dict(starts=[1, 0], ends=[2, 3], axes=[0, 1], steps=[1, 2])),
    "backwards": ([1, 2, 3, 4], [2, 2, 2, 2], dict(starts=[1, 1], ends=[0, 2], axes=[0, 1], steps=[-1, 1])),
    "middle axis": (range(1, 9), [1, 2, 2, 2, 2], dict(starts=[1], ends=[2**63 - 1], axes=[2])),
    "axes apart": ([1, 2, 3, 4], [1, 2, 2, 2, 2], dict(starts=[1, 1], ends=[2**63 - 1, 2], axes=[1, 3])),
}


def check_own_case(peer: Peer, name: str) -> None:
    grad, shape, integers = TRAINING_TESTS[name]
    arrays = {k: np.array(v, np.int64) for k, v in integers.items()}
    dy = np.array(grad, np.float32)
    theirs = peer.call("slice_grad", {"dY": dy, "shape": np.array(shape), **arrays})
    assert np.array_equal(theirs.array, bs.onnx_slice_grad(dy, shape, **arrays))


@pytest.mark.parametrize("name", TRAINING_TESTS)
def test_onnx_runtimes_own_cases(onnxruntime_training: Peer, name: str) -> None:
    check_own_case(onnxruntime_training, name)


REFUSED = {
    "axis out of range": dict(starts=[0], ends=[1], axes=[2]),
    "repeated axis": dict(starts=[0, 0], ends=[1, 1], axes=[1, -1]),
    "step 0": dict(starts=[0], ends=[1], axes=[0], steps=[0]),
    "unequal lengths": dict(starts=[0], ends=[1, 1]),
    "axes of another length": dict(starts=[0], ends=[1], axes=[0, 1]),
    "steps of another length": dict(starts=[0], ends=[1], axes=[0], steps=[1, 1]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_onnx_runtime_refuses_is_refused(onnxruntime: Peer, name: str) -> None:
    arrays = {k: np.array(v, np.int64) for k, v in REFUSED[name].items()}
    x = np.ones((4, 5), np.float32)
    assert onnxruntime.call("slice", {"data": x, **arrays}).error is not None
    with pytest.raises(bs.InvalidArgumentError):
        bs.onnx_slice(x, **arrays)
