"""The six operations, on plain cases."""

import backslice as bs
import numpy as np
import pytest


def test_slice_grad_puts_dy_where_x_was_taken():
    dx = bs.slice_grad(np.array([[1.0, 2, 3], [4, 5, 6]]), (4, 5), np.s_[1:3, ::2])
    assert dx.tolist() == [[0, 0, 0, 0, 0], [1, 0, 2, 0, 3], [4, 0, 5, 0, 6], [0, 0, 0, 0, 0]]


@pytest.mark.parametrize("index", [np.s_[1:3, ::2], "1:3, ::2", bs.Selection.from_index((4, 5), "1:3, ::2")])
def test_an_index_is_a_tuple_its_text_or_a_selection(index):
    x = np.arange(20).reshape(4, 5)
    assert np.array_equal(bs.slice(x, index), x[1:3, ::2])
    assert np.array_equal(bs.slice_grad(bs.slice(x, index), (4, 5), index)[1:3, ::2], x[1:3, ::2])


def test_all_dialects_say_the_same_slice():
    x = np.arange(20).reshape(4, 5)
    y = x[3:0:-2, 1:]
    assert np.array_equal(bs.strided_slice(x, [3, 1], [0, 0], [-2, 1], end_mask=2), y)
    assert np.array_equal(bs.onnx_slice(x, [1, 3], [5, 0], [1, 0], [1, -2]), y)
    assert np.array_equal(bs.slice(x, np.s_[3:0:-2, 1:]), y)
    dx = np.zeros_like(x)
    dx[3:0:-2, 1:] = y
    assert np.array_equal(bs.strided_slice_grad(x.shape, [3, 1], [0, 0], [-2, 1], y, end_mask=2), dx)
    assert np.array_equal(bs.onnx_slice_grad(y, x.shape, [1, 3], [5, 0], [1, 0], [1, -2]), dx)
    assert np.array_equal(bs.slice_grad(y, x.shape, np.s_[3:0:-2, 1:]), dx)


def test_results_are_new_writable_contiguous_arrays():
    x = np.arange(6.0)
    y = bs.slice(x, "...")
    assert not np.shares_memory(x, y)
    assert y.flags.writeable and y.flags.c_contiguous and y.flags.aligned


def test_scalars_lists_and_shapes_as_numpy_takes_them():
    assert bs.slice_grad(7.0, 3, 1, dtype="float64").tolist() == [0, 7, 0]
    assert bs.slice_grad([1, 2], np.array([4], np.uint8), np.s_[1:3]).tolist() == [0, 1, 2, 0]
    assert bs.slice_grad(np.float32(3), (), ()).dtype == np.float32


def test_no_index_selects_all():
    x = np.arange(6).reshape(2, 3)
    for index in ((), "", ...):
        assert np.array_equal(bs.slice(x, index), x)
    assert bs.slice(x, None).shape == (1, 2, 3)


@pytest.mark.parametrize("rank", [9, 16, 31, 32])
def test_high_ranks_work(rank):
    shape = (2,) * 9 + (1,) * (rank - 9)
    x = np.arange(512).reshape(shape)
    dy = x[0:1]
    dx = bs.strided_slice_grad(shape, [0], [1], [1], dy)
    assert np.array_equal(dx[0:1], dy) and not dx[1:].any()
    index = (slice(None, None, -1),) * rank
    assert np.array_equal(bs.slice(x, index), x[index])


def test_inputs_of_any_layout_are_read_in_place():
    base = np.arange(240.0).reshape(8, 30)
    packed = np.zeros(9 * 4 + 1, np.uint8)[1:].view([("f", "<f4")])["f"]
    packed[:] = np.arange(9)
    readonly = np.arange(4.0)
    readonly.flags.writeable = False
    for dy in (base[::-2, ::-3], base.T, np.broadcast_to(np.float32(2), (3, 4)), packed, readonly, base[:0]):
        before = dy.copy()
        index = np.s_[1:-1] if dy.ndim == 1 else np.s_[1:-1, 2:]
        shape = tuple(n + 2 for n in dy.shape)
        expected = np.zeros(shape, dy.dtype)
        expected[index] = dy
        assert np.array_equal(bs.slice_grad(dy, shape, index), expected)
        assert np.array_equal(dy, before)


def test_onnx_reads_grad_of_equal_count_in_row_major_order():
    grad = np.arange(1, 7).reshape(2, 3).T  # not contiguous
    dx = bs.onnx_slice_grad(grad, [8], [1], [7])
    assert dx.tolist() == [0, 1, 4, 2, 5, 3, 6, 0]


def test_double_backward_is_the_forward_slice():
    dy = np.arange(6.0).reshape(2, 3)
    dx = bs.slice_grad(dy, (4, 5), "1:3, ::2")
    assert np.array_equal(bs.slice(dx, "1:3, ::2"), dy)
