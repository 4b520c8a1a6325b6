"""backslice's operators in ONNX Runtime's sessions, compared with the training wheel's kernel and with backslice's
own."""

import os
from typing import Any

import backslice as bs
import ml_dtypes
import numpy as np
import pytest
from cases import Cases, Spec, rotate
from compare import Comparison, brief, equal_bits
from numpy.typing import NDArray
from peer import Peer, Reply
from test_onnxruntime import DTYPES, REFUSED, TRAINING_TESTS, check_own_case, gradient_fault

COUNT = int(os.environ.get("BACKSLICE_ORACLE_CASES", "15000")) // 6


def gradient(cases: Cases, spec: Spec, dtype: str) -> NDArray[Any]:
    """Return a dY for a slice: mostly of its shape, sometimes flat, or with another number of elements."""
    try:
        shape = bs.Selection.from_onnx(spec.shape, **spec.integers).result_shape
    except bs.Error:
        return cases.elements(dtype, (1,))
    if cases.chance(0.2):
        shape = (int(np.prod(shape)),)
    elements = cases.elements(dtype, cases.wrong_shape(shape) if cases.chance(0.03) else shape)
    return texts(elements) if dtype == "object" else elements


def texts(array: NDArray[Any]) -> NDArray[Any]:
    """Return ONNX Runtime's strings: str instead of bytes."""
    return np.array([v.decode() for v in array.flat] + [None], object)[:-1].reshape(array.shape)


def test_random_gradients_equal_those_of_the_training_wheel(
    onnxruntime_with_backslice: Peer, onnxruntime_training: Peer
) -> None:
    cases, dtypes = Cases(seed=31), rotate(["float32", "float64"])
    counts = {"equal": 0, "both refuse": 0, "computed here alone": 0, "refused here alone": 0}
    for _ in range(COUNT):
        spec = cases.onnx()
        arrays = {"dY": gradient(cases, spec, next(dtypes)), "shape": np.array(spec.shape, np.int64), **spec.integers}
        ours = onnxruntime_with_backslice.call("slice_grad", arrays)
        assert not ours.crashed, arrays
        if has_as_many_elements(spec, arrays["dY"]):  # the peer writes others out of bounds
            counts[outcome(ours, onnxruntime_training.call("slice_grad", arrays), arrays)] += 1
        else:
            assert ours.error is not None, arrays
    print(counts)
    assert counts["equal"] > COUNT * 0.6 and counts["both refuse"] > 0


def test_a_negative_step_of_the_innermost_axis_is_computed(onnxruntime_with_backslice: Peer) -> None:
    integers = {
        "starts": np.array([4], np.int32),
        "ends": np.array([-100], np.int32),
        "steps": np.array([-2], np.int32),
    }
    arrays = {"dY": np.array([1, 2, 3], np.float32), "shape": np.array([5]), **integers}
    reply = onnxruntime_with_backslice.call("slice_grad", arrays)
    assert reply.array is not None and reply.array.tolist() == [3, 0, 2, 0, 1], reply


def has_as_many_elements(spec: Spec, dy: NDArray[Any]) -> bool:
    try:
        return bool(np.prod(bs.Selection.from_onnx(spec.shape, **spec.integers).result_shape) == dy.size)
    except bs.Error:
        return True  # both refuse it


def outcome(ours: Reply, theirs: Reply, arrays: dict[str, Any]) -> str:
    if ours.array is not None and theirs.array is not None:
        assert equal_bits(ours.array, theirs.array), (arrays, brief(ours.arrays), brief(theirs.arrays))
        return "equal"
    if ours.error is not None and theirs.error is not None:
        return "both refuse"
    if ours.error is not None:
        assert "steps" in ours.error and "non-zero" in ours.error, (arrays, ours.error)  # of an axis without elements
        return "refused here alone"
    assert gradient_fault(theirs) is not None, (arrays, theirs)
    return "computed here alone"


@pytest.mark.parametrize("are_constant", [False, True], ids=["inputs", "constants"])
def test_random_gradients_of_every_dtype(onnxruntime_with_backslice: Peer, are_constant: bool) -> None:
    """Slices with constant arguments are prepared when a session is made."""
    cases, comparison, dtypes = Cases(seed=32), Comparison(), rotate(DTYPES)
    count = COUNT // 4 if are_constant else COUNT  # each makes a session
    for _ in range(count):
        spec, dtype = cases.onnx(), next(dtypes)
        dy, shape = gradient(cases, spec, dtype), np.array(spec.shape, np.int64)
        arrays = {"dY": dy, "shape": shape, **spec.integers}
        reply = onnxruntime_with_backslice.call("slice_grad", arrays, are_constant=are_constant)
        comparison.add((dtype, spec), lambda dy=dy, shape=shape, spec=spec: expected(dy, shape, spec.integers), reply)
    comparison.report("SliceGrad in a session")
    assert onnxruntime_with_backslice.crashes == 0
    assert comparison.counts["equal"] > count * 0.6 and comparison.counts["both refuse"] > 0


def expected(dy: NDArray[Any], shape: Any, integers: dict[str, Any]) -> NDArray[Any]:
    """Return backslice's own gradient, with "" as the zero of strings."""
    dx = bs.onnx_slice_grad(dy, shape, **integers)
    return np.array([v or "" for v in dx.flat] + [None], object)[:-1].reshape(dx.shape) if dy.dtype == object else dx


# Types that NumPy lacks, or that ONNX Runtime does not accept from it, and the first tested version that lets custom
# operators have them.
UNPASSED = {
    "BFLOAT16": (ml_dtypes.bfloat16, (1, 17)),
    "FLOAT8E4M3FN": (ml_dtypes.float8_e4m3fn, (1, 17)),
    "FLOAT8E4M3FNUZ": (ml_dtypes.float8_e4m3fnuz, (1, 17)),
    "FLOAT8E5M2": (ml_dtypes.float8_e5m2, (1, 17)),
    "FLOAT8E5M2FNUZ": (ml_dtypes.float8_e5m2fnuz, (1, 17)),
    "INT4": (ml_dtypes.int4, (1, 31)),
    "UINT4": (ml_dtypes.uint4, (1, 31)),
}


@pytest.mark.parametrize("name", UNPASSED)
def test_types_without_arrays_go_through_a_session(onnxruntime_with_backslice: Peer, name: str) -> None:
    dtype, first = UNPASSED[name]
    version = onnxruntime_with_backslice.call("version", {}).array
    dy, shape = np.array([[1, 2, 3], [4, 6, 0], [2, 1, 4]], np.float32), np.array([5, 5])
    integers = {"starts": np.array([4, 0]), "ends": np.array([-100, 5]), "steps": np.array([-2, 2])}
    reply = onnxruntime_with_backslice.call("slice_grad", {"dY": dy, "shape": shape, **integers}, through=name)
    if tuple(version) < first:
        assert reply.error is not None
    else:
        assert reply.error is None, reply.error
        assert np.array_equal(reply.array, bs.onnx_slice_grad(dy.astype(dtype), [5, 5], **integers).astype(np.float32))


@pytest.mark.parametrize("name", TRAINING_TESTS)
def test_onnx_runtimes_own_cases(onnxruntime_with_backslice: Peer, name: str) -> None:
    check_own_case(onnxruntime_with_backslice, name)


OUR_WORDS = {
    "axis out of range": "axes[0] is 2, outside [-2,2) of shape [4,5]",
    "repeated axis": "axes[1] is -1: axis 1 is given twice",
    "step 0": "steps[0] must be non-zero (axis 0)",
    "unequal lengths": "ends has 2 entries, starts has 1",
    "axes of another length": "axes has 2 entries, starts has 1",
    "steps of another length": "steps has 2 entries, starts has 1",
}
BAD = {
    **{name: ({}, integers, OUR_WORDS[name]) for name, integers in REFUSED.items()},
    "dY larger than the slice": ({"dY": np.ones(40, np.float32)}, dict(starts=[0], ends=[1]), "dY has 40 elements"),
    "dY for an empty slice": ({"dY": np.ones(3, np.float32)}, dict(starts=[2], ends=[1]), "the slice has 0"),
    "a matrix as shape": ({"shape": np.array([[4, 5]])}, dict(starts=[0], ends=[1]), "shape has shape [1,2]"),
    "a matrix as starts": ({}, dict(starts=[[0]], ends=[1]), "starts has shape [1,1]"),
    "a scalar as ends": ({}, dict(starts=[0], ends=1), "ends has shape []"),
    "a negative extent": ({"shape": np.array([4, -5])}, dict(starts=[0], ends=[1]), "-5"),
    "too many elements": ({"shape": np.array([2**40, 2**40])}, dict(starts=[0], ends=[1]), "shape"),
    "too many axes": ({"shape": np.ones(33, np.int64)}, dict(starts=[0], ends=[1]), "32"),
    "more memory than there is": (
        {"shape": np.array([2**50])}, dict(starts=[0], ends=[4]), "has no room for the result of shape [11258999",
    ),
    "more bytes than can be counted": (
        {"shape": np.array([2**62])}, dict(starts=[0], ends=[4]), "more than 2**63 - 1 bytes",
    ),
    "nothing of too much": (  # ONNX Runtime's own operator crashes old versions
        {"shape": np.array([0, 2**62]), "dY": np.ones(0, np.float32)}, dict(starts=[0], ends=[4]), "[0,46116860184",
    ),
    "strings, more than there is memory for": (
        {"shape": np.array([2**50]), "dY": np.array(list("abcd"), object)}, dict(starts=[0], ends=[4]), "type string",
    ),
}  # fmt: skip


def test_dy_may_have_any_shape(onnxruntime_with_backslice: Peer) -> None:
    arrays = {"shape": np.array([4]), "starts": np.array([1]), "ends": np.array([3])}
    for shape in [(2,), (1, 2), (2, 1, 1), (1,) * 31 + (2,)]:
        reply = onnxruntime_with_backslice.call("slice_grad", {"dY": np.float32([1, 2]).reshape(shape), **arrays})
        assert reply.array is not None and reply.array.tolist() == [0, 1, 2, 0], reply


EXTREMES = {
    "the largest step": (dict(starts=[-(2**63)], ends=[2**63 - 1], steps=[2**63 - 1]), [1, 0, 0, 0]),
    "the smallest step": (dict(starts=[3], ends=[-(2**63)], steps=[-(2**63)]), [0, 0, 0, 1]),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_integers(onnxruntime_with_backslice: Peer, name: str) -> None:
    integers, expected_dx = EXTREMES[name]
    arrays = {k: np.array(v, np.int64) for k, v in integers.items()}
    reply = onnxruntime_with_backslice.call("slice_grad", {"dY": np.float32([1]), "shape": np.array([4]), **arrays})
    assert reply.array is not None and reply.array.tolist() == expected_dx, reply


@pytest.mark.parametrize("are_constant", [False, True], ids=["inputs", "constants"])
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_status_with_our_message(
    onnxruntime_with_backslice: Peer, name: str, are_constant: bool
) -> None:
    other, integers, words = BAD[name]
    arrays = {"dY": np.ones(4, np.float32), "shape": np.array([4, 5]), **other}
    arrays |= {k: np.array(v, np.int64) for k, v in integers.items()}
    reply = onnxruntime_with_backslice.call("slice_grad", arrays, are_constant=are_constant)
    assert reply.error is not None and words in reply.error, reply
    assert onnxruntime_with_backslice.crashes == 0
