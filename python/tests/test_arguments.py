"""Index-like arguments: the accepted forms of begin, starts, shape and the like."""

import backslice as bs
import dtypes
import numpy as np
import pytest

X = np.arange(10)


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
def test_strided_slice_takes_arrays_of_one_integer_type(dtype):
    begin, end, strides = (np.array([v], dtype) for v in (1, 9, 3))
    assert bs.strided_slice(X, begin, end, strides).tolist() == [1, 4, 7]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_strided_slice_grad_takes_arrays_of_one_integer_type(dtype):
    shape, begin, end, strides = (np.array([v], dtype) for v in (4, 1, 3, 1))
    assert bs.strided_slice_grad(shape, begin, end, strides, [5, 6]).tolist() == [0, 5, 6, 0]
    assert bs.strided_slice_grad([4], begin, [3], (1,), [5, 6]).tolist() == [0, 5, 6, 0]  # lists fit either


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_onnx_shape_has_a_type_of_its_own(dtype):
    starts, ends, axes, steps = (np.array([v], dtype) for v in (1, 3, 0, 1))
    for shape_type in ("int32", "int64"):
        dx = bs.onnx_slice_grad([5, 6], np.array([4], shape_type), starts, ends, axes, steps)
        assert dx.tolist() == [0, 5, 6, 0]


@pytest.mark.parametrize("shape", [(4,), [4], range(4, 5), np.array([4], np.uint8), 4, np.int16(4)], ids=repr)
def test_shapes_of_the_natural_forms(shape):
    assert bs.slice_grad([5, 6], shape, "1:3").tolist() == [0, 5, 6, 0]


def test_numpy_integers_are_integers():
    assert bs.slice(X, np.int8(3)) == 3
    assert bs.slice(X, np.array(3)) == 3
    assert bs.slice(X, slice(np.int64(1), np.uint8(3))).tolist() == [1, 2]
    assert bs.strided_slice(X, [np.int32(1)], [np.int64(3)], [1]).tolist() == [1, 2]
    assert bs.strided_slice(X, [1], [3], [1], np.int64(1)).tolist() == [0, 1, 2]


def test_bounds_past_int64_are_clamped_as_in_python():
    for index in (slice(-(10**30), 10**30), slice(None, None, -(10**30)), slice(10**30, None, -1)):
        assert bs.slice(X, index).tolist() == X[index].tolist()


def test_arrays_that_are_not_contiguous():
    table = np.array([[1, 9, 3], [0, 0, 0]]).T
    assert bs.strided_slice(X, table[:1, 0], table[1:2, 0], table[2:, 0]).tolist() == [1, 4, 7]


def test_arguments_have_the_documented_names():
    kwargs = dict(begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0, out=None)
    bs.strided_slice(input=X, begin=[1], end=[3], strides=[1], **kwargs)
    bs.strided_slice_grad(shape=[4], begin=[1], end=[3], strides=[1], dy=[1, 2], accumulate=False, **kwargs)
    bs.onnx_slice(data=X, starts=[1], ends=[3], axes=[0], steps=[1], out=None)
    bs.onnx_slice_grad(grad=[1, 2], shape=[4], starts=[1], ends=[3], axes=[0], steps=[1], out=None, accumulate=False)
    bs.slice(x=X, index=1, out=None)
    bs.slice_grad(dy=1, shape=4, index=1, out=None, accumulate=False, dtype="int8")
    bs.multi_slice_grad(shape=4, slices=[], out=None, accumulate=False, dtype="int8")
    bs.Selection.from_begin_size(shape=4, begin=[1], size=[2]).grad(dy=1, out=None, accumulate=False, dtype="int8")
    # TensorFlow's order of positions
    assert bs.strided_slice(X, [1], [3], [1], 1, 0, 0, 0, 0).tolist() == [0, 1, 2]
    assert bs.strided_slice_grad([4], [1], [3], [1], [1, 2, 3], 1, 0, 0, 0, 0).tolist() == [1, 2, 3, 0]


def test_index_arguments_from_other_libraries():
    jnp = pytest.importorskip("jax.numpy")

    assert bs.strided_slice(X, jnp.array([1]), jnp.array([3]), jnp.array([1])).tolist() == [1, 2]


@pytest.mark.parametrize("name", ["S5", "U3", "qint8", "bfloat16", "str objects"])
def test_index_arguments_must_be_integers(name):
    with pytest.raises(bs.DTypeError, match="begin has dtype"):
        bs.strided_slice(X, dtypes.sample(name, (1,)), [3], [1])


MASKED = np.ma.array([1.0, 2.0], mask=[True, False])
MASKED_CALLS = {
    "x": lambda: bs.slice(MASKED, ":"),
    "dy": lambda: bs.slice_grad(MASKED, (4,), ":2"),
    "out": lambda: bs.slice(np.ones(2), ":", out=MASKED),
    "values": lambda: bs.RaggedTensor(MASKED, [0, 2]),
    "value": lambda: bs.TensorArray(1, float).write(0, MASKED),
    "buffer": lambda: bs.GradBuffer((2,), float).add(":", MASKED),
    "begin": lambda: bs.strided_slice(X, np.ma.array([1], mask=[True]), [2], [1]),
}


@pytest.mark.parametrize("call", MASKED_CALLS.values(), ids=MASKED_CALLS)
def test_masks_are_not_lost_without_a_word(call):
    with pytest.raises(bs.DTypeError, match="masked array"):
        call()
    assert bs.slice(MASKED.filled(0), ":").tolist() == [0, 2]


def test_strides_are_ones_where_they_are_left_out():
    x = np.arange(12).reshape(3, 4)
    assert np.array_equal(bs.strided_slice(x, [1, 0], [3, 2]), x[1:3, 0:2])
    assert np.array_equal(bs.strided_slice(x, [1, 0], [3, 2], None), x[1:3, 0:2])
    assert bs.strided_slice(x, [0], [0], begin_mask=1, end_mask=1).shape == x.shape
    assert bs.strided_slice_grad([4], [1], [3], dy=[1, 2]).tolist() == [0, 1, 2, 0]
    assert bs.strided_slice_grad([4], [1], [3], None, [1, 2]).tolist() == [0, 1, 2, 0]
    assert bs.Selection.from_tf((3, 4), [1, 0], [3, 2]).to_index() == np.s_[1:3, 0:2]
    assert bs.strided_slice(x, np.array([1], "i2"), np.array([3], "i2")).shape == (2, 4)
    with pytest.raises(bs.InvalidArgumentError, match="begin has 1, end has 2 and strides has 1"):
        bs.strided_slice(x, [1], [3, 2])
    with pytest.raises(bs.InvalidArgumentError, match="strides has 0"):
        bs.strided_slice(x, [1], [3], [])


def test_shapes_are_reported_before_what_slices_them():
    for shape in ([-4], [1] * 40, [2**40, 2**40]):
        with pytest.raises(bs.InvalidArgumentError, match="shape"):
            bs.strided_slice_grad(shape, ["no"], [3], [1], [1, 2])
        with pytest.raises(bs.InvalidArgumentError, match="shape"):
            bs.onnx_slice_grad([1, 2], shape, [1], [3], axes=[7])
