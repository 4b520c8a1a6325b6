"""Gradients of slices of Dask arrays: equal to those in memory."""

import backslice as bs
import dask.array as da
import ml_dtypes
import numpy as np
import pytest
from backslice.dask import multi_slice_grad, onnx_slice_grad, slice_grad, strided_slice_grad
from backslice.dask.overlaps import overlap
from hypothesis import given, settings
from hypothesis import strategies as st
from test_dask_meetings import chunked_slices, chunkings

DY = np.arange(1.0, 13).reshape(4, 3)
INDEX = np.s_[1:5, ::-2]


def numbers(shape, dtype="float64"):
    return np.arange(1, 1 + int(np.prod(shape)), dtype=dtype).reshape(shape)


@settings(max_examples=100, deadline=None)
@given(chunked_slices())
def test_equal_to_the_gradient_in_memory(case):
    selection, dx_chunks, dy_chunks = case
    dy = numbers(selection.result_shape)
    lazy = slice_grad(da.from_array(dy, chunks=dy_chunks), selection.shape, selection, chunks=dx_chunks)
    assert lazy.chunks == dx_chunks and lazy.dtype == dy.dtype and type(lazy._meta) is np.ndarray
    computed = lazy.compute(scheduler="sync")
    assert np.array_equal(computed, bs.slice_grad(dy, selection.shape, selection))


@settings(max_examples=50, deadline=None)
@given(chunked_slices())
def test_accumulation_equals_that_in_memory(case):
    selection, dx_chunks, dy_chunks = case
    dy, onto = numbers(selection.result_shape), 1000 + numbers(selection.shape)
    onto = np.asarray(onto)
    lazy_onto = da.from_array(onto, chunks=dx_chunks)
    lazy = slice_grad(da.from_array(dy, chunks=dy_chunks), selection.shape, selection, onto=lazy_onto)
    expected = bs.slice_grad(dy, selection.shape, selection, out=onto.copy(), accumulate=True)
    assert lazy.chunks == dx_chunks
    assert np.array_equal(lazy.compute(scheduler="sync"), expected)
    assert np.array_equal(lazy_onto.compute(scheduler="sync"), 1000 + numbers(selection.shape))


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_many_slices_equal_those_in_memory(data):
    selection, dx_chunks, _ = data.draw(chunked_slices(max_rank=2))
    shape = selection.shape
    taken = [(selection, numbers(selection.result_shape))]
    for _ in range(data.draw(st.integers(0, 3))):
        index = tuple(slice(*sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))) for n in shape)
        taken.append((index, numbers(bs.Selection.from_index(shape, index).result_shape)))
    lazy = [(index, da.from_array(dy, chunks=data.draw(chunkings(dy.shape)))) for index, dy in taken]
    computed = multi_slice_grad(shape, lazy, chunks=dx_chunks).compute(scheduler="sync")
    assert np.array_equal(computed, bs.multi_slice_grad(shape, taken))


def test_additions_keep_the_order_of_the_list():
    """In float16, 2048 + 1 is 2048, so the order matters. The first contribution is a copy, which keeps minus zero."""
    values = [np.float16([x] * 6) for x in (2048, 1, 1, -2048)]
    lazy = [(slice(None), da.from_array(v, chunks=c)) for v, c in zip(values, (1, 2, 3, 4), strict=True)]
    expected = bs.multi_slice_grad((6,), [(slice(None), v) for v in values])
    assert np.array_equal(multi_slice_grad((6,), lazy, chunks=4).compute(), expected)
    zero = multi_slice_grad((2,), [("0:1", da.from_array(np.array([-0.0])))], chunks=1).compute()
    assert np.signbit(zero).tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "complex64", "S3", "U2", "bfloat16", "int4"])
def test_dtypes(dtype):
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    dy = np.array([1, 0, 1]).astype(dtype)
    lazy = slice_grad(da.from_array(dy, chunks=2), (9,), "::3", chunks=(4, 4, 1))
    assert lazy.dtype == dtype
    assert np.array_equal(lazy.compute(), bs.slice_grad(dy, (9,), "::3"))


def test_a_dtype_without_zero_is_computed_where_the_slice_takes_everything():
    dy = np.array([1, 2, 4, 8], ml_dtypes.float8_e8m0fnu)
    assert np.array_equal(slice_grad(da.from_array(dy, chunks=3), (4,), "::-1", chunks=3).compute(), dy[::-1])


def test_axes_of_chunks_are_counted_from_the_end_too():
    assert slice_grad(da.from_array(DY), (6, 6), INDEX, chunks={-1: 2}).chunks == ((6,), (2, 2, 2))


def test_dialects():
    dy = da.from_array(DY, chunks=2)
    expected = bs.slice_grad(DY, (6, 6), np.s_[1:5, :6:2])
    tf = strided_slice_grad([6, 6], [1, 0], [5, 0], [1, 2], dy=dy, end_mask=2, chunks=4)
    assert np.array_equal(tf.compute(), expected) and tf.chunks == ((4, 2), (4, 2))
    onnx = onnx_slice_grad(dy, [6, 6], starts=[1, 0], ends=[5, 6], steps=[1, 2], chunks=4)
    assert np.array_equal(onnx.compute(), expected)
    flat = onnx_slice_grad(da.from_array(DY.ravel(), chunks=5), [6, 6], starts=[1, 0], ends=[5, 6], steps=[1, 2])
    assert np.array_equal(flat.compute(), expected)


@pytest.mark.parametrize(
    ("grad_shape", "chunks", "shape", "ends"),
    [
        ((4, 3), 2, [2, 6], [2]), ((2, 6), 1, [3, 4], [3]), ((4, 5, 6), 2, [6, 5, 4], [6]),
        ((4, 5, 6), (1, 2, 3), [6, 5, 4], [6]), ((0,), ((0, 0),), [4, 3], [0]), ((0, 3), ((0, 0), 2), [4], [0]),
        ((12,), ((0, 5, 0, 7),), [3, 2, 2], [3]), ((2, 2, 1), 1, [4], [4]), ((1,), 1, [1, 1, 1], [1]),
    ],
)  # fmt: skip
def test_onnx_reads_a_gradient_of_any_shape_in_row_major_order(grad_shape, chunks, shape, ends):
    grad = numbers(grad_shape)
    lazy = onnx_slice_grad(da.from_array(grad, chunks=chunks), shape, [0], ends)
    assert np.array_equal(lazy.compute(), bs.onnx_slice_grad(grad, shape, [0], ends))


@settings(max_examples=50, deadline=None)
@given(chunked_slices(), st.data())
def test_onnx_reads_a_random_shape_in_row_major_order(case, data):
    shape = case[0].shape
    size = int(np.prod(shape))
    divisors = [n for n in range(1, size + 1) if size % n == 0]
    rows = data.draw(st.sampled_from(divisors)) if divisors else 0
    grad = numbers((rows, size // rows if rows else 3))
    lazy = da.from_array(grad, chunks=data.draw(chunkings(grad.shape)))
    starts, ends = [0] * len(shape), list(shape)
    computed = onnx_slice_grad(lazy, shape, starts, ends, chunks=case[1]).compute(scheduler="sync")
    assert np.array_equal(computed, grad.reshape(shape))


@pytest.mark.parametrize("dtype", ["bool", "S3", ">f4", "float8_e8m0fnu"])
def test_slices_that_do_not_overlap_need_no_addition(dtype):
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    parts = [("::2", np.ones(3).astype(dtype)), ("1:2", np.ones(1).astype(dtype)), ("5:2:-2", np.ones(2).astype(dtype))]
    lazy = multi_slice_grad((6,), [(index, da.from_array(dy, chunks=1)) for index, dy in parts], chunks=4)
    computed = lazy.compute()
    assert computed.dtype == dtype and np.array_equal(computed, bs.multi_slice_grad((6,), parts))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_slices_overlap_where_they_have_common_elements(data):
    shape = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=2))
    numbers_ = st.integers(-9, 9)
    slices = st.builds(slice, numbers_, numbers_, numbers_.filter(bool))
    indices = data.draw(st.lists(st.tuples(*(slices for _ in shape)), max_size=4))
    taken = np.zeros(shape, int)
    for index in indices:
        taken[index] += 1
    assert overlap([bs.Selection.from_index(shape, index) for index in indices]) == (taken > 1).any()


def test_an_array_in_memory_to_add_to_gets_the_chunks_that_are_asked_for():
    lazy = slice_grad(da.ones(2), (4,), ":2", chunks=2, onto=np.ones(4))
    assert lazy.chunks == ((2, 2),) and lazy.compute().tolist() == [2, 2, 1, 1]


def test_chunks_may_be_an_array():
    onto = da.ones((6, 6), chunks=3)
    assert slice_grad(da.from_array(DY), (6, 6), INDEX, chunks=np.array([3, 3]), onto=onto).chunks == onto.chunks


def test_dy_is_broadcast_and_converted():
    row = slice_grad(da.from_array(DY[0], chunks=2), (6, 3), "2:5", chunks=2)
    assert np.array_equal(row.compute(), bs.slice_grad(DY[0], (6, 3), "2:5"))
    plain = slice_grad(DY, (6, 6), INDEX, chunks=4)
    assert np.array_equal(plain.compute(), bs.slice_grad(DY, (6, 6), INDEX))


def test_no_slices():
    zeros = multi_slice_grad((4, 4), [], chunks=2, dtype="float32")
    assert zeros.dtype == "float32" and not zeros.compute().any()
    onto = da.ones((4, 4), chunks=2)
    assert multi_slice_grad((4, 4), [], onto=onto).compute().all()
    assert multi_slice_grad((4, 4), [], onto=np.ones((4, 4))).compute().all()
    assert multi_slice_grad((2,), [], dtype="bfloat16").compute().dtype == "bfloat16"


def test_a_gradient_in_one_chunk_is_writable():
    assert slice_grad(da.ones(0), (3,), "0:0").compute().flags.writeable
