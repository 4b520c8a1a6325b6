"""Slices of sparse tensors and their gradients."""

import backslice as bs
import dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

NO_STRINGS = [n for n, d in dtypes.ALL.items() if d.kind not in "SUO" and n != "float8_e8m0fnu"]


def window(indices, start, size):
    """Return the rows in the window."""
    start, size = np.asarray(start), np.asarray(size)
    return np.all((indices >= start) & (indices < start + size), axis=1)


@st.composite
def sparse_cases(draw):
    rank = draw(st.integers(0, 8))
    rows = draw(st.integers(0, 20))
    shape = [draw(st.integers(1, 4)) for _ in range(rank)]
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    indices = np.stack([random.integers(0, n, rows) for n in shape], 1) if rank else np.zeros((rows, 0), int)
    start = [draw(st.integers(-1, n)) for n in shape]
    size = [draw(st.integers(0, n + 1)) for n in shape]
    return indices, shape, start, size, random


@settings(max_examples=300)
@given(sparse_cases())
def test_gradient_is_the_adjoint_of_the_slice(case):
    indices, shape, start, size, random = case
    x = random.integers(-9, 9, len(indices))
    found, y, y_shape = bs.sparse_slice(indices, x, shape, start, size)
    inside = window(indices, np.array(start, int), np.array(size, int))
    assert np.array_equal(found, indices[inside] - np.array(start, int))
    assert np.array_equal(y, x[inside])
    assert y_shape.dtype == np.int64
    dy = random.integers(-9, 9, y.shape)
    for dx in (
        bs.sparse_slice_grad(dy, indices, start, found),
        bs.sparse_slice_grad(dy, indices, start, found, order="any"),
        bs.sparse_slice_grad_by_size(dy, indices, start, size),
    ):
        assert y @ dy == x @ dx
    # Double backward: the gradient of the gradient with respect to dy is the slice of the values.
    ddx = random.integers(-9, 9, x.shape)
    assert (
        ddx @ bs.sparse_slice_grad(dy, indices, start, found)
        == bs.sparse_slice(indices, ddx, shape, start, size)[1] @ dy
    )


@pytest.mark.parametrize("name", NO_STRINGS)
@pytest.mark.parametrize("inner", [(), (3,), (2, 2)])
def test_every_dtype(name, inner):
    grad = dtypes.sample(name, (2, *inner))
    indices = np.array([[0], [1], [2], [3]])
    expected = np.zeros((4, *inner), dtypes.ALL[name])
    expected[[1, 3]] = grad
    assert dtypes.same(bs.sparse_slice_grad(grad, indices, [1], [[0], [2]]), expected)
    assert dtypes.same(bs.sparse_slice_grad(grad, indices, [1], [[2], [0]], order="any")[[3, 1]], grad)
    assert dtypes.same(bs.sparse_slice_grad_by_size(grad[:1], indices, [1], [1])[1:2], grad[:1])
    values = bs.sparse_slice(indices, expected, [4], [1], [1])[1]
    assert dtypes.same(values, expected[1:2])


@pytest.mark.parametrize("name", ["S5", "U3", "str objects", "bytes objects"])
def test_strings_are_sliced_and_have_no_gradient(name):
    words = dtypes.sample(name, 3)
    assert dtypes.same(bs.sparse_slice([[0], [1], [2]], words, [3], [1], [2])[1], words[1:])
    with pytest.raises(bs.DTypeError, match="strings have no gradient"):
        bs.sparse_slice_grad(words, [[0], [1], [2]], [0], [[0], [1], [2]])


def test_no_zero_is_refused_only_where_one_is_needed():
    grad = dtypes.sample("float8_e8m0fnu", 2)
    assert dtypes.same(bs.sparse_slice_grad(grad, [[0], [1]], [0], [[0], [1]]), grad)
    with pytest.raises(bs.DTypeError, match="no zero"):
        bs.sparse_slice_grad(grad, [[0], [1], [2]], [0], [[0], [1]])


@pytest.mark.parametrize("order", ["in_order", "any"])
def test_out_and_accumulate(order):
    indices, output, grad = np.array([[0], [1], [2]]), np.array([[0], [1]]), np.array([1.0, 2.0])
    out = np.full(3, 7.0)
    assert bs.sparse_slice_grad(grad, indices, [1], output, order=order, out=out) is out
    assert out.tolist() == [0, 1, 2]
    bs.sparse_slice_grad(grad, indices, [1], output, order=order, out=out, accumulate=True)
    assert out.tolist() == [0, 2, 4]
    bs.sparse_slice_grad_by_size(grad, indices, [0], [2], out=out, accumulate=True)
    assert out.tolist() == [1, 4, 4]
    strided = np.full(6, 7.0)
    bs.sparse_slice_grad(grad, indices, [1], output, order=order, out=strided[::2])
    assert strided.tolist() == [0, 7, 1, 7, 2, 7]
    before = strided.copy()
    for bad in (
        lambda: bs.sparse_slice_grad(grad, indices, [5], output, order=order, out=strided[::2]),
        lambda: bs.sparse_slice_grad_by_size(grad, indices, [0], [3], out=strided[::2]),
        lambda: bs.sparse_slice_grad(grad, indices, [1], output, out=np.zeros(4)),
        lambda: bs.sparse_slice_grad(grad, indices, [1], output, out=np.zeros(3, "f4")),
        lambda: bs.sparse_slice_grad(grad, indices, [1], output, accumulate=True),
    ):
        with pytest.raises(bs.Error):
            bad()
    assert np.array_equal(strided, before)


def test_out_may_not_share_memory_with_indices():
    memory = np.arange(6)
    with pytest.raises(bs.InvalidArgumentError, match="shares memory with input_indices"):
        bs.sparse_slice_grad(np.ones(3, int), memory[:3, None], [0], memory[:3, None].copy(), out=memory[:3])


def test_indices_of_any_strides_and_columns():
    rows = np.array([[0, 1], [1, 0], [1, 2], [3, 1]])
    wide = np.zeros((8, 6), int)
    wide[::2, 1:6:3] = rows
    expected = [0, 5, 7, 0]
    for indices in (rows, np.asfortranarray(rows), wide[::2, 1:6:3], rows[::-1][::-1], tuple(rows.T), rows.tolist()):
        assert bs.sparse_slice_grad([5, 7], indices, [1, 0], [[0, 0], [0, 2]]).tolist() == expected
    found = bs.sparse_slice(tuple(rows.T), np.arange(4), [4, 3], [1, 0], [2, 3])[0]
    assert isinstance(found, tuple)
    assert [c.tolist() for c in found] == [[0, 0], [0, 2]]


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"input_indices": np.zeros(4, int)}, bs.InvalidArgumentError, "must be a matrix"),
        ({"output_indices": np.zeros((2, 1, 1), int)}, bs.InvalidArgumentError, "must be a matrix"),
        ({"input_indices": np.zeros((4, 1))}, bs.DTypeError, "expected int64 or int32"),
        ({"input_indices": np.zeros((4, 1), "i4")}, bs.DTypeError, "int32"),
        ({"backprop_val_grad": 3.0}, bs.InvalidArgumentError, "scalar"),
        ({"input_start": [[0]]}, bs.InvalidArgumentError, "1-D"),
        ({"input_start": [0.5]}, bs.DTypeError, "expected an int"),
        ({"order": "sideways"}, bs.InvalidArgumentError, "in_order"),
        ({"input_indices": (np.zeros(4, int), np.zeros(3, int))}, bs.InvalidArgumentError, "has 3 items"),
    ],
)
def test_refused(change, error, text):
    arguments = {
        "backprop_val_grad": np.ones(2),
        "input_indices": np.arange(4)[:, None],
        "input_start": [0],
        "output_indices": np.arange(2)[:, None],
    }
    with pytest.raises(error, match=text):
        bs.sparse_slice_grad(**(arguments | change))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_same_for_any_number_of_threads(threads):
    random = np.random.default_rng(0)
    indices = np.stack([np.sort(random.integers(0, 300, 200_000)), random.integers(0, 300, 200_000)], 1)
    inside = window(indices, [0, 50], [300, 100])
    output, grad = indices[inside] - [0, 50], random.random(int(inside.sum()))
    expected = np.zeros(len(indices))
    expected[inside] = grad
    before = bs.get_num_threads()
    try:
        bs.set_num_threads(threads)
        assert np.array_equal(bs.sparse_slice_grad(grad, indices, [0, 50], output), expected)
        assert np.array_equal(bs.sparse_slice_grad_by_size(grad, indices, [0, 50], [300, 100]), expected)
        assert np.array_equal(bs.sparse_slice(indices, expected, [300, 300], [0, 50], [300, 100])[1], grad)
    finally:
        bs.set_num_threads(before)
