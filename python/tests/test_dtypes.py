"""Every dtype in every operation."""

import itertools

import backslice as bs
import dtypes
import ml_dtypes
import numpy as np
import pytest


@pytest.mark.parametrize("name", dtypes.ALL)
def test_every_dtype_moves_in_every_operation(name):
    x = dtypes.sample(name, (4, 6))
    y = x[1:3, ::-2].copy()
    forward = [
        bs.slice(x, np.s_[1:3, ::-2]),
        bs.strided_slice(x, [1, 0], [3, 0], [1, -2], begin_mask=2, end_mask=2),
        bs.onnx_slice(x, [1, 5], [3, -9], None, [1, -2]),
    ]
    assert all(dtypes.same(result, y) for result in forward)

    gradients = [
        lambda: bs.slice_grad(y, (4, 6), np.s_[1:3, ::-2]),
        lambda: bs.strided_slice_grad([4, 6], [1, 0], [3, 0], [1, -2], y, begin_mask=2, end_mask=2),
        lambda: bs.onnx_slice_grad(y, [4, 6], [1, 5], [3, -9], None, [1, -2]),
    ]
    if name == "float8_e8m0fnu":
        for gradient in gradients:
            with pytest.raises(bs.DTypeError, match="float8_e8m0fnu has no zero"):
                gradient()
        return
    dx = np.full((4, 6), dtypes.zero(name), x.dtype)
    dx[1:3, ::-2] = y
    assert all(dtypes.same(gradient(), dx) for gradient in gradients)


@pytest.mark.parametrize("name", dtypes.ALL)
def test_every_dtype_fills_out(name):
    x = dtypes.sample(name, (5,))
    out = dtypes.sample(name, (5,), seed=1)
    assert bs.slice(x, "::-1", out=out) is out
    assert dtypes.same(out, x[::-1])
    backwards = dtypes.sample(name, (5,), seed=2)[::-1]
    assert bs.slice_grad(x, (5,), "::-1", out=backwards) is backwards
    assert dtypes.same(backwards, x[::-1])


@pytest.mark.parametrize("name", dtypes.ADDABLE)
def test_accumulate_adds_as_the_dtype_does(name):
    """All pairs of 8-bit values, random pairs of wider ones: added in float32 (or the type itself) and rounded once."""
    dtype = dtypes.ALL[name]
    if dtype.itemsize == 1:
        values = np.arange(2 ** dtypes.BITS.get(name, 8), dtype=np.uint8).view(dtype)
        a, b = (v.ravel() for v in np.meshgrid(values, values))
    else:
        random = np.random.default_rng(0)
        bits = random.integers(0, 256, (2, 40000 * dtype.itemsize), dtype=np.uint8)
        a, b = bits[0].view(dtype), bits[1].view(dtype)
    out = a.copy()
    with np.errstate(all="ignore"):
        if "float" in name and dtype.itemsize <= 2:
            expected = (a.astype(np.float32) + b.astype(np.float32)).astype(dtype)
        else:
            expected = a + b
    assert bs.slice_grad(b, out.shape, ":", out=out, accumulate=True) is out
    if "float" in name or "complex" in name:
        wide = np.complex128 if "complex" in name else np.float64
        nan = np.isnan(expected.astype(wide))
        assert np.array_equal(np.isnan(out.astype(wide)), nan)
        assert out[~nan].tobytes() == expected[~nan].tobytes()
    else:
        assert out.tobytes() == expected.tobytes()


def test_half_sums_stick_at_2048():
    out = np.array([2048], np.float16)
    for _ in range(3):
        bs.slice_grad(np.ones(1, np.float16), (1,), ":", out=out, accumulate=True)
    assert out[0] == 2048


@pytest.mark.parametrize("name", sorted(set(dtypes.ALL) - set(dtypes.ADDABLE)))
def test_what_cannot_be_added_says_so(name):
    out = dtypes.sample(name, (3,))
    before = out.copy()
    with pytest.raises(bs.DTypeError, match="cannot be added"):
        bs.slice_grad(dtypes.sample(name, (2,)), (3,), "1:", out=out, accumulate=True)
    assert dtypes.same(out, before)


def test_e8m0_works_wherever_no_zero_is_written():
    x = dtypes.sample("float8_e8m0fnu", (2, 3))
    assert dtypes.same(bs.slice_grad(x, (2, 3), "::-1"), x[::-1])
    out = dtypes.sample("float8_e8m0fnu", (4, 3))
    bs.slice_grad(x, (4, 3), "1:3", out=out, accumulate=True)
    assert bs.slice(x, "1").dtype == ml_dtypes.float8_e8m0fnu
    empty = bs.slice_grad(x[:0], (0, 3), ":")
    assert empty.shape == (0, 3)


@pytest.mark.parametrize(
    "dtype",
    ["M8[s]", "m8[s]", np.longdouble, np.clongdouble, "V4", [("a", "i4"), ("b", "f4")], [("qint8", "i2")]],
    ids=str,
)
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(bs.DTypeError, match="dy has dtype"):
        bs.slice_grad(np.zeros(2, dtype), (4,), "1:3")
    with pytest.raises(bs.DTypeError, match="x has dtype"):
        bs.slice(np.zeros(2, dtype), ":")


def test_numpy_variable_width_strings_are_refused():
    if not hasattr(np.dtypes, "StringDType"):
        assert np.lib.NumpyVersion(np.__version__) < "2.0.0"
        return
    with pytest.raises(bs.DTypeError, match="dy has dtype StringDType"):
        bs.slice_grad(np.array(["a"], np.dtypes.StringDType()), (4,), "1:2")


@pytest.mark.parametrize("items", [["a", b"b"], ["a", 1], [None, "a"], [np.str_("a"), 2.5]], ids=str)
def test_object_arrays_hold_only_str_or_only_bytes(items):
    array = np.array(items, object)
    for call in (lambda: bs.slice(array, ":"), lambda: bs.slice_grad(array, (4,), "1:3")):
        with pytest.raises(bs.DTypeError, match="object array"):
            call()


def test_empty_object_arrays_have_str_zeros():
    assert bs.slice_grad(np.empty(0, object), (2,), "1:1").tolist() == ["", ""]


def test_every_pair_of_out_and_dy_dtypes_must_match():
    for a, b in itertools.permutations(["float32", "int32", "qint32", "bfloat16", "float16", "S5", "big-endian"], 2):
        with pytest.raises(bs.DTypeError, match="out has dtype"):
            bs.slice_grad(dtypes.sample(a, (2,)), (4,), "1:3", out=dtypes.sample(b, (4,)))
