"""StridedSlice and StridedSliceGrad compared with the live TensorFlow, bit for bit."""

import os

import backslice as bs
import numpy as np
import pytest
from cases import Cases, Spec, rotate
from compare import Comparison
from peer import Peer

# The number of random specifications; raise it for a longer search.
COUNT = int(os.environ.get("BACKSLICE_ORACLE_CASES", "15000"))

DTYPES = [
    "float32", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float64", "complex64", "complex128", "float8_e5m2", "float8_e4m3fn", "qint8", "quint8", "qint32",
    "object",
]  # fmt: skip


def test_random_specs(tensorflow: Peer) -> None:
    cases, comparison, dtypes = Cases(seed=1), Comparison(), rotate(DTYPES)
    for _ in range(COUNT):
        spec, dtype = cases.tensorflow(), next(dtypes)
        compare_forward(cases, comparison, tensorflow, spec, dtype)
        compare_gradient(cases, comparison, tensorflow, spec, dtype)
    comparison.report("TensorFlow")
    assert comparison.counts["equal"] > COUNT
    assert comparison.counts["both refuse"] > COUNT / 50


def compare_forward(cases: Cases, comparison: Comparison, peer: Peer, spec: Spec, dtype: str) -> None:
    x = cases.elements(dtype, spec.shape)
    theirs = peer.call("strided_slice", {"input": x, **spec.integers}, **spec.masks)
    comparison.add(("forward", dtype, spec), lambda: bs.strided_slice(x, **spec.integers, **spec.masks), theirs)


def compare_gradient(cases: Cases, comparison: Comparison, peer: Peer, spec: Spec, dtype: str) -> None:
    dy_shape = cases.gradient_shape(spec)
    dy = cases.elements(dtype, dy_shape)
    shape = np.array(spec.shape, spec.integers["begin"].dtype)
    theirs = peer.call("strided_slice_grad", {"shape": shape, "dy": dy, **spec.integers}, **spec.masks)

    def ours() -> np.ndarray:
        # Strings are bytes on both sides, so the zeros of an empty gradient are bytes, too.
        result = bs.strided_slice_grad(shape, dy=dy, **spec.integers, **spec.masks)
        return np.where(result == "", b"", result) if dtype == "object" and dy.size == 0 else result

    comparison.add(("gradient", dtype, spec, dy_shape), ours, theirs)


def test_begin_and_size(tensorflow: Peer) -> None:
    cases, comparison = Cases(seed=7), Comparison()
    for _ in range(COUNT // 10):
        compare_begin_and_size(cases, comparison, tensorflow)
    comparison.report("TensorFlow")
    assert comparison.counts["equal"] > COUNT / 20
    assert comparison.counts["both refuse"] > COUNT / 200


def compare_begin_and_size(cases: Cases, comparison: Comparison, peer: Peer) -> None:
    shape = cases.shape(max_rank=4)
    begin = np.array([cases.pick(0 if cases.chance(0.95) else -2, n + cases.chance(0.05)) for n in shape], "int64")
    rest = [max(n - int(b), 0) for n, b in zip(shape, begin, strict=True)]
    size = np.array([cases.pick(-1, n + cases.chance(0.05)) for n in rest], "int64")
    if cases.chance(0.05):
        size = size[:-1]
    x = cases.elements("float32", shape)
    theirs = peer.call("slice", {"input": x, "begin": begin, "size": size})
    spec = (shape, begin.tolist(), size.tolist())
    comparison.add(spec, lambda: bs.Selection.from_begin_size(shape, begin, size).slice(x), theirs)


def masks(**given: int) -> dict[str, int]:
    names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    return {name: given.get(name, 0) for name in names}


def one(name: str) -> "np.ndarray":
    return np.array([1], name)


REFUSED = {
    "dy of another shape": dict(dy=np.ones(3, "f4")),
    "stride 0": dict(strides=[0]),
    "shrink out of bounds": dict(begin=[4], shrink_axis_mask=1),
    "shrink with a negative stride": dict(strides=[-1], shrink_axis_mask=1),
    "more entries than axes": dict(begin=[0, 0], end=[1, 1], strides=[1, 1]),
    "32 entries": dict(shape=[1] * 32, begin=[0] * 32, end=[1] * 32, strides=[1] * 32),
    "unequal lengths": dict(end=[1, 2]),
    "begin not 1-D": dict(begin=[[1]]),
    "two ellipses": dict(ellipsis_mask=3),
    "two ellipses past the length": dict(ellipsis_mask=96),
    "a negative dim": dict(shape=[-4]),
    "too many elements": dict(shape=[2**40, 2**40, 0]),
    "shape not 1-D": dict(shape=4),
    "too large to allocate": dict(shape=[2**50]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_tensorflow_refuses_is_refused(tensorflow: Peer, name: str) -> None:
    given = dict(shape=[4], begin=[1], end=[3], strides=[1], dy=np.ones(2, "f4")) | REFUSED[name]
    masks_given = masks(**{k: given.pop(k) for k in list(given) if k.endswith("_mask")})
    arrays = {k: v if k == "dy" else np.array(v, np.int64) for k, v in given.items()}
    theirs = tensorflow.call("strided_slice_grad", arrays, **masks_given)
    assert theirs.error is not None or theirs.crashed
    with pytest.raises(bs.Error) as caught:
        bs.strided_slice_grad(**arrays, **masks_given)
    print(f"{name}: {theirs.error}\n  ours: {caught.value}")


def test_mixed_index_types_are_refused_by_both(tensorflow: Peer) -> None:
    arrays = dict(shape=np.array([4]), begin=one("int32"), end=np.array([3]), strides=one("int64"), dy=np.ones(2, "f4"))
    assert tensorflow.call("strided_slice_grad", arrays, **masks()).error is not None
    with pytest.raises(bs.DTypeError):
        bs.strided_slice_grad(**arrays)


def test_a_dead_peer_is_recorded_and_restarted(tensorflow: Peer) -> None:
    """TensorFlow aborts on 254 axes and a new one, and is restarted for the next call. backslice refuses them."""
    before = tensorflow.crashes
    assert tensorflow.call("rank 254 and a new axis", {}).crashed
    assert tensorflow.crashes == before + 1
    lists = {name: one("int64") for name in ("begin", "end", "strides")}
    assert tensorflow.call("strided_slice", {"input": np.ones(3, "f4"), **lists}, **masks()).array is not None
    with pytest.raises(bs.InvalidArgumentError, match="254 axes; at most 32"):
        bs.strided_slice_grad([1] * 254, [0], [0], [1], np.ones(1), new_axis_mask=1)


def test_the_forward_takes_int16_indices_too(tensorflow: Peer) -> None:
    x = np.arange(20)
    lists = {"begin": np.array([-3], "i2"), "end": np.array([-32768], "i2"), "strides": np.array([-4], "i2")}
    theirs = tensorflow.call("strided_slice", {"input": x, **lists}, **masks())
    assert theirs.array is not None and np.array_equal(bs.strided_slice(x, **lists), theirs.array)


def test_rank_9_and_above_agree_with_numpy_where_tensorflow_is_wrong() -> None:
    cases = Cases(seed=2)
    for _ in range(3000):
        rank = cases.pick(9, 32)
        shape = tuple(cases.pick(1, 3) if cases.chance(0.2) else 1 for _ in range(rank))
        index = tuple(
            slice(cases.bound(n, "int64"), cases.bound(n, "int64"), cases.step("int64", zero=0))
            for n in shape[: cases.pick(0, 31)]
        )
        x = np.arange(int(np.prod(shape))).reshape(shape)
        spec = bs.Selection.from_index(shape, index).to_tf()
        assert np.array_equal(bs.strided_slice(x, **spec), x[index])
        dx = np.zeros_like(x)
        dx[index] = x[index]
        assert np.array_equal(bs.strided_slice_grad(shape, dy=x[index], **spec), dx)
