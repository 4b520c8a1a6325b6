"""Gradients that broadcast to the slice's shape, Python numbers, and dtypes that nothing else determines."""

import backslice as bs
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

ROW = np.array([1.0, 2.0, 3.0], np.float32)


def expected(shape, index, dy):
    dx = np.zeros(shape, np.asarray(dy).dtype)
    dx[index] = dy
    return dx


@pytest.mark.parametrize("dy_shape", [(), (1,), (3,), (1, 3), (2, 1), (2, 3)], ids=str)
def test_slice_grad_broadcasts(dy_shape):
    dy = np.arange(1, 1 + np.prod(dy_shape, dtype=int), dtype=np.float32).reshape(dy_shape)
    index = np.s_[1:3, ::2]
    dx = expected((4, 6), index, dy)
    assert np.array_equal(bs.slice_grad(dy, (4, 6), index), dx)
    assert np.array_equal(bs.Selection.from_index((4, 6), index).grad(dy), dx)
    assert np.array_equal(bs.multi_slice_grad((4, 6), [(index, dy)]), dx)
    out = np.ones((4, 6), np.float32)
    assert np.array_equal(bs.slice_grad(dy, (4, 6), index, out=out, accumulate=True), 1 + dx)
    buffer = bs.GradBuffer((4, 6), "float32")
    buffer.write(index, dy)
    buffer.add(index, dy)
    assert np.array_equal(buffer.array, 2 * dx)


@given(st.data())
def test_numpys_rules(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=3)))
    dy = np.arange(1.0, 100)[: np.prod(dims := data.draw(st.lists(st.integers(0, 3), max_size=3)), dtype=int)]
    dy = dy.reshape(dims)
    try:
        dx = np.broadcast_to(dy, shape)
    except ValueError:
        with pytest.raises(bs.InvalidArgumentError, match=r"shape of dy was|does not broadcast"):
            bs.slice_grad(dy, shape, ...)
    else:
        assert np.array_equal(bs.slice_grad(dy, shape, ...), dx)


def test_a_row_of_another_length_is_not_asked_for_more_axes():
    row, window = np.ones(3), np.s_[1:3]
    says = r"dy of shape \[3\] does not broadcast to \[2,5\]: axis 0 has 3, expected 1 or 5"
    with pytest.raises(bs.InvalidArgumentError, match="^" + says):
        bs.slice_grad(row, (4, 5), window)
    with pytest.raises(bs.InvalidArgumentError, match="^" + says):
        bs.GradBuffer((4, 5), "f8").write(window, row)
    with pytest.raises(bs.InvalidArgumentError, match=r"^slices\[1\]\." + says):
        bs.multi_slice_grad((4, 5), [(window, 1), (window, row)], dtype="f8")


def test_large_gradients_broadcast_on_many_threads():
    dy = np.arange(2000, dtype=np.float32)
    dx = bs.slice_grad(dy, (3000, 2000), np.s_[500:2500])
    assert np.array_equal(dx, expected((3000, 2000), np.s_[500:2500], dy))
    total = bs.multi_slice_grad((3000, 2000), [(np.s_[500:2500], dy), (np.s_[1000:], np.float32(1))])
    dx[1000:] += 1
    assert np.array_equal(total, dx)


DIALECTS = [
    lambda dy: bs.strided_slice_grad([4], [1], [3], [1], dy),
    lambda dy: bs.onnx_slice_grad(dy, [4], [1], [3]),
    lambda dy: bs.Selection.from_index((4,), "1:3").prepare("float64").gradient(dy, np.zeros(4)),
]


@pytest.mark.parametrize("grad", DIALECTS)
def test_dialects_stay_exact(grad):
    with pytest.raises(bs.InvalidArgumentError):
        grad(np.ones(1))


def test_python_numbers_need_a_dtype():
    dx = bs.slice_grad(1, (4,), np.s_[1:3], dtype="float32")
    assert dx.dtype == np.float32 and dx.tolist() == [0, 1, 1, 0]
    assert bs.slice_grad(2.5, (2,), 0, dtype=ml_dtypes.bfloat16).tolist() == [2.5, 0]
    for number in (1, 1.5, True, 1j):
        with pytest.raises(bs.DTypeError, match=rf"dy is {number!r}, a Python number, .* pass dtype="):
            bs.slice_grad(number, (4,), np.s_[1:3])
        with pytest.raises(bs.DTypeError, match=r"slices\[1\].dy is .*, a Python number"):
            bs.multi_slice_grad((4,), [("1", np.float32(1)), ("2", number)])
    assert bs.slice_grad(np.float32(1), (2,), 0).dtype == np.float32
    assert bs.slice_grad(np.float64(1), (2,), 0).dtype == np.float64


def test_outputs_and_buffers_say_the_dtype():
    out = np.ones(4, np.float32)
    assert bs.slice_grad(2, (4,), "1:3", out=out, accumulate=True) is out and out.tolist() == [1, 3, 3, 1]
    assert bs.multi_slice_grad((4,), [("0", 1), ("0", 2.5)], out=out).tolist() == [3.5, 0, 0, 0]
    buffer = bs.GradBuffer((3,), "int8")
    buffer.write("1:", 5)
    assert buffer.array.tolist() == [0, 5, 5]
    with pytest.raises(bs.DTypeError, match="dy is of kind float, which is not converted to int8"):
        buffer.add("1:", 1.5)
    with pytest.raises(bs.InvalidArgumentError, match="dy holds 300, which does not fit int8"):
        buffer.add("1:", 300)


def test_numbers_lose_nothing():
    with pytest.raises(bs.DTypeError, match="dy is of kind float, which is not converted to int32"):
        bs.slice_grad(1.5, (4,), "1", dtype="int32")
    with pytest.raises(bs.DTypeError, match="out has dtype float32, but dtype is float64"):
        bs.slice_grad(1.5, (4,), "1", out=np.zeros(4, np.float32), dtype="float64")
    with pytest.raises(bs.DTypeError, match="dtype is 'f7'"):
        bs.slice_grad(1.5, (4,), "1", dtype="f7")


def test_dtype_converts_lists_and_checks_arrays():
    assert bs.slice_grad([1, 2], (4,), "1:3", dtype="float16").dtype == np.float16
    with pytest.raises(bs.DTypeError, match="dy has dtype float32, but dtype is float64; convert it first"):
        bs.slice_grad(ROW, (4,), "1:", dtype="float64")
    with pytest.raises(bs.DTypeError, match=r"slices\[0\].dy has dtype float32, but dtype is int8"):
        bs.multi_slice_grad((4,), [("1:", ROW)], dtype="int8")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "U3", [("qint8", "i1")]], ids=str)
def test_no_slices_are_zeros(dtype):
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype) if isinstance(dtype, str) else dtype)
    dx = bs.multi_slice_grad((2, 3), [], dtype=dtype)
    assert dx.dtype == dtype and dx.shape == (2, 3) and dx.tobytes() == bytes(dx.nbytes)
    out = np.ones((2, 3)).astype(dtype[0] if dtype.names else dtype).view(dtype)
    assert bs.multi_slice_grad((2, 3), [], out=out) is out and out.tobytes() == bytes(out.nbytes)


def test_no_slices_of_other_kinds():
    assert bs.multi_slice_grad((2,), [], dtype=object).tolist() == ["", ""]
    assert bs.multi_slice_grad((), (), dtype="int8").tolist() == 0
    out = np.ones(2)
    assert bs.multi_slice_grad(2, [], out=out, accumulate=True).tolist() == [1, 1]
    with pytest.raises(bs.DTypeError, match="float8_e8m0fnu has no zero"):
        bs.multi_slice_grad((2,), [], dtype=ml_dtypes.float8_e8m0fnu)
    with pytest.raises(bs.InvalidArgumentError, match="slices is empty, and nothing determines the dtype"):
        bs.multi_slice_grad((2,), [])
    with pytest.raises(bs.ResourceExhaustedError):
        bs.multi_slice_grad((2**45,), [], dtype="float64")


def test_any_iterable_of_slices():
    slices = {"0": ROW[0], "1:": ROW[1:]}
    for given_slices in (slices.items(), iter(slices.items()), ((i, dy) for i, dy in slices.items())):
        assert bs.multi_slice_grad((3,), given_slices).tolist() == [1, 2, 3]
    for wrong in (5, "ab", None, ROW, [5], [(1, 2, 3)]):
        with pytest.raises(bs.Error, match=r"^slices(\[0\])? .*, expected a .*pairs? \(index, dy\)"):
            bs.multi_slice_grad((3,), wrong)


def test_what_an_iterable_raises_is_passed_on():
    def slices():
        yield "0", ROW[0]
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        bs.multi_slice_grad((3,), slices())
