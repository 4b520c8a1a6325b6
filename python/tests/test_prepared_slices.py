"""Selection.slice, Selection.grad, and prepared slices, which run often."""

import gc
import sys

import backslice as bs
import dtypes
import numpy as np
import pytest
from hypothesis import given
from strategies import shapes_and_indices

CROP = bs.Selection.from_index((4, 6), "1:3, ::2")
X = np.arange(24, dtype=np.float32).reshape(4, 6)
DY = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


@given(shapes_and_indices())
def test_methods_of_a_selection_do_what_the_functions_do(shape_and_index):
    shape, index = shape_and_index
    selection = bs.Selection.from_index(shape, index)
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    y = selection.slice(x)
    assert dtypes.same(y, bs.slice(x, index))
    assert dtypes.same(selection.grad(y), bs.slice_grad(y, shape, index))


@given(shapes_and_indices())
def test_a_prepared_slice_does_what_the_functions_do(shape_and_index):
    shape, index = shape_and_index
    selection = bs.Selection.from_index(shape, index)
    prepared = selection.prepare("int64")
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    y = prepared.forward(x, np.full(selection.result_shape, -1))
    assert dtypes.same(y, bs.slice(x, index))
    dx = prepared.gradient(y, np.full(shape, -1))
    assert dtypes.same(dx, bs.slice_grad(y, shape, index))
    assert dtypes.same(prepared.accumulate(y, dx.copy()), 2 * dx)


@pytest.mark.parametrize("name", [name for name in dtypes.ALL if name != "float8_e8m0fnu"])
def test_every_dtype(name):
    selection = bs.Selection.from_index((4, 3), "::-2, 1:")
    x = dtypes.sample(name, (4, 3))
    y = selection.slice(x)
    assert dtypes.same(y, x[::-2, 1:])
    prepared = selection.prepare(x.dtype)
    assert prepared.dtype == x.dtype
    assert dtypes.same(prepared.forward(x, np.empty_like(y)), y)
    expected = bs.slice_grad(y, x.shape, "::-2, 1:")
    assert dtypes.same(selection.grad(y), expected)
    assert dtypes.same(prepared.gradient(y, x.copy()), expected)
    if name in dtypes.ADDABLE:
        assert dtypes.same(prepared.accumulate(y, expected.copy()), selection.grad(y, expected.copy(), True))
    else:
        with pytest.raises(bs.Error, match="added"):
            prepared.accumulate(y, expected)


def test_outputs_are_filled_and_returned():
    out = np.full((2, 3), -1, np.float32)
    assert CROP.slice(X, out=out) is out and np.array_equal(out, X[1:3, ::2])
    dx = np.full((4, 6), -1, np.float32)
    assert CROP.grad(DY, out=dx) is dx and dx.sum() == DY.sum()
    assert CROP.grad(DY, out=dx, accumulate=True) is dx and dx.sum() == 2 * DY.sum()
    with pytest.raises(bs.InvalidArgumentError, match="accumulate=True needs out"):
        CROP.grad(DY, accumulate=True)


def test_a_prepared_slice_tells_what_it_is():
    prepared = CROP.prepare("<f4")
    assert prepared.selection == CROP and prepared.dtype == np.float32
    assert repr(prepared) == repr(CROP) + ".prepare(dtype('float32'))"


def test_strides_of_axes_with_one_index_do_not_matter():
    row = np.lib.stride_tricks.as_strided(X, (1, 6), (4096, 4))
    prepared = bs.Selection.from_index((1, 6), ":, 1:").prepare("float32")
    assert prepared.forward(row, np.empty((1, 5), np.float32)).tolist() == [[1, 2, 3, 4, 5]]


def read_only(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda p: p.forward(X.astype("f8"), DY.copy()), bs.DTypeError, "x has dtype float64, but the slice was pr"),
        (lambda p: p.forward(X.astype(">f4"), DY.copy()), bs.DTypeError, "x has dtype >f4, but the slice was prepared"),
        (lambda p: p.forward(X.astype(object), DY.copy()), bs.DTypeError, "x has dtype object, but the slice was"),
        (lambda p: p.forward(X, DY.astype("f8")), bs.DTypeError, "out has dtype float64, expected float32, that of x"),
        (lambda p: p.forward(X, read_only(DY.copy())), bs.InvalidArgumentError, "out is read-only"),
        (lambda p: p.forward(X, None), bs.DTypeError, "out is a NoneType, expected a NumPy array"),
        (lambda p: p.forward(X, DY.tolist()), bs.DTypeError, "out is a list, expected a NumPy array"),
        (lambda p: p.forward(X, np.ma.array(DY)), bs.DTypeError, "out is a masked array"),
        (lambda p: p.forward(X, X[:2, :3].T), bs.InvalidArgumentError, r"out has shape \[3,2\] and byte strides"),
        (
            lambda p: p.forward(X, X[:2, :3]),
            bs.InvalidArgumentError,
            r"out has .* byte strides \[24,4\], but the",
        ),
        (lambda p: p.forward(X[:3], DY.copy()), bs.InvalidArgumentError, r"x has shape \[3,6\] .* for shape \[4,6\]"),
        (lambda p: p.forward(np.asfortranarray(X), DY.copy()), bs.InvalidArgumentError, r"x has .* strides \[4,16\]"),
        (lambda p: p.gradient(DY[::-1], X.copy()), bs.InvalidArgumentError, r"dy has .* byte strides \[-12,4\]"),
        (lambda p: p.gradient(DY, read_only(X.copy())), bs.InvalidArgumentError, "out is read-only"),
        (lambda p: p.accumulate(DY.astype("i4"), X.copy()), bs.DTypeError, "dy has dtype int32, but the slice was"),
        (lambda p: p.accumulate(np.ma.array(DY), X.copy()), bs.DTypeError, "dy is a masked array"),
    ],
)
def test_refused(call, error, says):
    before = X.copy(), DY.copy()
    with pytest.raises(error, match=says):
        call(CROP.prepare("float32"))
    assert np.array_equal(X, before[0]) and np.array_equal(DY, before[1])


@pytest.mark.parametrize("method", ["gradient", "accumulate"])
def test_an_output_may_not_overlap_the_input(method):
    memory = np.ones(30, np.float32)
    dx, dy = memory[:24].reshape(4, 6), memory[20:26].reshape(2, 3)
    with pytest.raises(bs.InvalidArgumentError, match="out shares memory with dy"):
        getattr(CROP.prepare("float32"), method)(dy, dx)
    assert memory.all()
    with pytest.raises(bs.InvalidArgumentError, match="shares memory"):
        CROP.grad(dy, out=dx, accumulate=method == "accumulate")
    assert memory.all()


def test_an_output_may_not_overlap_itself():
    once = np.zeros(1, np.float32)
    everywhere = np.lib.stride_tricks.as_strided(once, (4, 6), (0, 0))
    with pytest.raises(bs.InvalidArgumentError):
        CROP.prepare("float32").gradient(DY, everywhere)
    with pytest.raises(bs.InvalidArgumentError, match="overlaps itself"):
        CROP.grad(DY, out=everywhere)
    assert once[0] == 0


@pytest.mark.parametrize("dtype", ["M8[s]", "V3", "longdouble", "no dtype", object()])
def test_dtypes_that_do_not_move(dtype):
    with pytest.raises(bs.DTypeError, match="dtype"):
        CROP.prepare(dtype)


@pytest.mark.parametrize("x", [X[:3], X.reshape(6, 4), X.ravel()], ids=lambda x: str(x.shape))
def test_a_selection_slices_the_shape_it_was_made_for(x):
    with pytest.raises(bs.InvalidArgumentError, match=r"x .*\[4,6\]"):
        CROP.slice(x)


def test_references_of_objects_are_counted():
    words = np.array([f"word {i}" for i in range(4)], object)
    marker = words[1]
    before = sys.getrefcount(marker)
    prepared = bs.Selection.from_index((4,), "1:3").prepare(object)
    out = np.array(["old", "old"], object)
    for _ in range(50):
        prepared.forward(words, out)
        dx = prepared.gradient(out, np.full(4, "?", object))
    assert dx.tolist() == ["", "word 1", "word 2", ""]
    assert sys.getrefcount(marker) == before + 2  # out and dx
    del out, dx
    gc.collect()
    assert sys.getrefcount(marker) == before


@pytest.mark.parametrize("values", [["a", b"b", "c", "d"], [1, 2, 3, 4], [None] * 4])
def test_objects_that_are_no_strings_are_refused(values):
    out = np.array(["p", "q"], object)
    with pytest.raises(bs.DTypeError, match="object array"):
        bs.Selection.from_index((4,), "1:3").prepare(object).forward(np.array(values, object), out)
    assert out.tolist() == ["p", "q"]


def test_an_instance_that_was_never_made_is_refused():
    empty = bs.PreparedSlice.__new__(bs.PreparedSlice)
    with pytest.raises(TypeError, match="never initialised"):
        empty.forward(X, DY.copy())
    with pytest.raises(TypeError, match=r"use Selection\.prepare"):
        bs.PreparedSlice()
