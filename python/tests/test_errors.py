"""Errors for bad input: the right exception, a message with argument, axis and value, and nothing changed."""

import backslice as bs
import numpy as np
import pytest

DY = np.ones(2)


def grad(shape=(4,), begin=(1,), end=(3,), strides=(1,), dy=DY, **more):
    return bs.strided_slice_grad(shape, begin, end, strides, dy, **more)


INVALID = [
    (lambda: grad(dy=np.ones(3)), r"shape of dy was \[3\] instead of \[2\].*axis 0 has 3, expected 2"),
    (lambda: grad(strides=[0]), r"strides\[0\] must be non-zero \(axis 0\)"),
    (lambda: grad(begin=[4], shrink_axis_mask=1), "slice index 4 of dimension 0 out of bounds"),
    (lambda: grad(strides=[-1], shrink_axis_mask=1), "only stride 1 allowed on non-range indexing"),
    (lambda: grad(begin=[0, 0], end=[1, 1], strides=[1, 1]), "Index out of range using input dim 1"),
    (lambda: grad(begin=[0, 0]), "Expected begin, end, and strides to be 1D equal size"),
    (lambda: grad(begin=[0] * 32, end=[0] * 32, strides=[1] * 32), "fewer than 32"),
    (lambda: grad(ellipsis_mask=3), "Multiple ellipses"),
    (lambda: grad(ellipsis_mask=-1), "Multiple ellipses"),
    (lambda: grad(shape=[-4]), r"shape\[0\]: dimension -4 must be >= 0"),
    (lambda: grad(shape=[2**40, 2**40, 0]), "more than 2\\*\\*63 - 1 elements"),
    (lambda: grad(shape=4), r"shape must be 1-D, got shape.shape = \(\)"),
    (lambda: grad(shape=[[4]]), "shape must be 1-D"),
    (lambda: grad(shape=np.array([[4]])), r"shape must be 1-D, got shape.shape = \(1, 1\)"),
    (lambda: grad(begin=np.array(1)), r"begin must be 1-D, got begin.shape = \(\)"),
    (lambda: grad(shape=[1] * 33), "33 axes; at most 32"),
    (lambda: grad(begin_mask=2**31), "begin_mask is 2147483648, which does not fit int32"),
    (lambda: grad(end_mask=-(2**31) - 1), "end_mask"),
    (lambda: grad(begin=[2**63]), r"begin\[0\] is 9223372036854775808, which does not fit int64"),
    (lambda: grad(accumulate=True), "accumulate=True needs out"),
    (lambda: bs.onnx_slice_grad(DY, [4], [1], [4]), "grad has 2 elements.*the slice has 3"),
    (lambda: bs.onnx_slice_grad(DY, [[4]], [1], [3]), "shape must be 1-D"),
    (lambda: bs.onnx_slice_grad(DY, [4], [1], [3], [1]), r"axes\[0\] is 1, outside \[-1,1\)"),
    (lambda: bs.onnx_slice_grad(DY, [4, 4], [1, 1], [3, 3], [0, -2]), "axis 0 is given twice"),
    (lambda: bs.onnx_slice_grad(DY, [4], [1], [3], None, [0]), r"steps\[0\] must be non-zero"),
    (lambda: bs.onnx_slice_grad(DY, [4], [1], [3, 3]), "ends has 2 entries, starts has 1"),
    (lambda: bs.onnx_slice_grad(DY, [4], [1], [3], []), "axes has 0 entries, starts has 1"),
    (lambda: bs.onnx_slice(1.0, [], []), "Cannot slice scalars"),
    (lambda: bs.slice(DY, "::0"), "step cannot be zero"),
    (lambda: bs.slice(DY, "one"), 'item 0, "one"'),
    (lambda: bs.slice(DY, bs.Selection.from_index((3,), ":")), r"Selection for shape \[3\], not for shape \[2\]"),
    (lambda: bs.slice(DY, (None,) * 32), "33 axes"),
    (lambda: bs.slice_grad([[1], [1, 2]], (4,), ":"), "dy cannot be read as an array"),
    (lambda: bs.slice_grad(DY, 2**64, ":"), "does not fit int64"),
]


@pytest.mark.parametrize(("call", "message"), INVALID, ids=lambda v: v if isinstance(v, str) else "")
def test_invalid_arguments(call, message):
    with pytest.raises(bs.InvalidArgumentError, match=message):
        call()


OUT_OF_RANGE = [
    (lambda: bs.slice(DY, 2), "index 2 is out of bounds for axis 0 with size 2"),
    (lambda: bs.slice(DY, -3), "index -3"),
    (lambda: bs.slice(DY, 10**30), "index 1000000000000000000000000000000"),
    (lambda: bs.slice(DY, (0, 0)), "too many indices"),
    (lambda: bs.slice(DY, (..., ...)), "single ellipsis"),
]


@pytest.mark.parametrize(("call", "message"), OUT_OF_RANGE, ids=lambda v: v if isinstance(v, str) else "")
def test_out_of_range(call, message):
    with pytest.raises(bs.OutOfRangeError, match=message):
        call()


DTYPE = [
    (lambda: grad(begin=[1.0]), r"begin\[0\] is 1.0, expected an int"),
    (lambda: grad(begin=[True]), r"begin\[0\] is True"),
    (lambda: grad(begin=np.array([1.0])), "begin has dtype float64, expected integers"),
    (lambda: grad(begin=np.array([1], np.int16)), "begin has dtype int16, expected int32 or int64"),
    (lambda: grad(begin=np.array([1], np.uint64)), "begin has dtype uint64"),
    (lambda: grad(begin=np.array([1], "i4"), end=np.array([3], "i8")), "end has dtype int64, but begin has int32"),
    (lambda: grad(shape=np.array([4], "i4"), end=np.array([3], "i8")), "end has dtype int64, but shape has int32"),
    (lambda: bs.strided_slice(DY, np.array([1], "i2"), np.array([2], "i4"), [1]), "end has dtype int32, but begin"),
    (lambda: bs.onnx_slice(DY, np.array([0], "i4"), np.array([2], "i8")), "ends has dtype int64, but starts"),
    (lambda: bs.onnx_slice(DY, np.array([0], "i2"), np.array([2], "i2")), "starts has dtype int16"),
    (lambda: grad(begin=None), "begin is None"),
    (lambda: grad(begin="1"), "begin is '1'"),
    (lambda: grad(begin_mask=1.0), "begin_mask is 1.0, expected an int"),
    (lambda: grad(begin_mask=None), "begin_mask is None"),
    (lambda: grad(accumulate=1), "accumulate is 1, expected True or False"),
    (lambda: grad(dy=None), "dy is None, expected an array"),
    (lambda: grad(dy=object()), "dy is of type object, expected an array"),
    (lambda: grad(dy=np.array([None])), "dy is an object array with an element of type NoneType"),
    (lambda: grad(out=[0] * 4), "out is a list, expected a NumPy array"),
    (lambda: bs.slice(DY, 1.5), "index item 1.5"),
    (lambda: bs.slice(DY, slice(1.5)), "slice bound 1.5"),
    (lambda: bs.GradBuffer((4,), "f7"), "dtype is 'f7', which NumPy does not know: data type 'f7' not understood"),
    (lambda: bs.GradBuffer((4,), "\ud800"), r"dtype is '\\ud800'"),
    (lambda: bs.GradBuffer((4,), object()), "dtype is <object object"),
    (lambda: bs.TensorArray(1, ["f8", 3]), "dtype is .*, which NumPy does not know"),
]


@pytest.mark.parametrize(("call", "message"), DTYPE, ids=lambda v: v if isinstance(v, str) else "")
def test_dtype_errors(call, message):
    with pytest.raises(bs.DTypeError, match=message):
        call()


@pytest.mark.parametrize("index", [[0], np.array([0]), True, np.True_, ([0],), (True, 0)], ids=repr)
def test_advanced_indexing_is_unimplemented(index):
    with pytest.raises(bs.UnimplementedError, match="advanced indexing"):
        bs.slice(DY, index)


@pytest.mark.parametrize("n", [2**45, 2**62, 2**63 - 1])
def test_too_large_to_allocate(n):
    with pytest.raises(bs.ResourceExhaustedError):
        grad(shape=[n])
    with pytest.raises(bs.ResourceExhaustedError):
        bs.slice_grad(np.array(["a", "b"], object), (n,), "1:3")


def test_shapes_that_numpy_cannot_hold():
    with pytest.raises(bs.ResourceExhaustedError, match="NumPy cannot make"):
        bs.slice_grad(np.ones(0), (0, 2**40, 2**22), np.s_[:, 0, 0])


def test_arguments_are_checked_before_memory_is_asked_for():
    with pytest.raises(bs.InvalidArgumentError, match="shape of dy"):
        grad(shape=[2**45], dy=np.ones(3))


def test_exceptions_are_what_python_programmers_expect():
    expected = {
        bs.InvalidArgumentError: ValueError,
        bs.OutOfRangeError: IndexError,
        bs.DTypeError: TypeError,
        bs.UnimplementedError: NotImplementedError,
        bs.ResourceExhaustedError: MemoryError,
        bs.FailedPreconditionError: RuntimeError,
        bs.InternalError: RuntimeError,
    }
    for error, builtin in expected.items():
        assert issubclass(error, builtin) and issubclass(error, bs.Error)


def test_legal_extremes():
    assert grad(begin=[-(2**63)], end=[2**63 - 1], strides=[2**63 - 1], dy=np.ones(1)).tolist() == [1, 0, 0, 0]
    assert grad(begin_mask=-1, end_mask=-1, dy=np.ones(4)).tolist() == [1, 1, 1, 1]
    empty = bs.strided_slice_grad([0, 2**40, 2**20], [], [], [], np.ones((0, 2**40, 2**20), np.int8))
    assert empty.shape == (0, 2**40, 2**20)
