"""out= of tensor arrays and ragged tensors: filled and returned, or refused without any change."""

import re

import backslice as bs
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided


def filled_array(dtype="float64", **options):
    array = bs.TensorArray(3, dtype, element_shape=(2,), **options)
    array.unstack(np.arange(6).reshape(3, 2).astype(dtype))
    return array


# Each reading operation, its arguments, and its result for filled_array().
READINGS = {
    "read": ((1,), [2, 3]),
    "gather": (([2, 0],), [[4, 5], [0, 1]]),
    "stack": ((), [[0, 1], [2, 3], [4, 5]]),
    "concat": ((), [0, 1, 2, 3, 4, 5]),
}


def run(array, name, out):
    result = getattr(array, name)(*READINGS[name][0], out=out)
    if name != "concat":
        return result
    assert result[1].tolist() == [2, 2, 2] and result[1].dtype == np.int64
    return result[0]


@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize("name", READINGS)
def test_reading_fills_out_and_returns_it(name, contiguous):
    expected = np.array(READINGS[name][1], "float64")
    out = np.full(expected.shape, -1.0)
    assert run(filled_array(contiguous=contiguous), name, out) is out
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("name", READINGS)
def test_reading_fills_out_of_any_strides(name):
    expected = np.array(READINGS[name][1], "float64")
    memory = np.full([2 * n for n in expected.shape], -1.0)
    out = memory[tuple(slice(None, None, -2) for _ in expected.shape)]
    assert run(filled_array(), name, out) is out
    assert np.array_equal(out, expected)
    assert (memory == -1).sum() == memory.size - expected.size


@pytest.mark.parametrize("name", READINGS)
def test_reading_fills_strings(name):
    expected = np.array(READINGS[name][1]).astype(str).astype(object)
    array = bs.TensorArray(3, object, element_shape=(2,))
    array.unstack(np.arange(6).reshape(3, 2).astype(str).astype(object))
    out = np.full(expected.shape, "before", object)
    assert run(array, name, out) is out
    assert np.array_equal(out, expected)


def read_only(shape):
    out = np.ones(shape)
    out.flags.writeable = False
    return out


@pytest.mark.parametrize("name", READINGS)
def test_other_outputs_are_refused_and_the_elements_stay(name):
    array = filled_array()
    shape = np.shape(READINGS[name][1])
    for out, error, message in [
        (np.ones((*shape, 1)), bs.InvalidArgumentError, "rank"),
        (np.ones([n + 1 for n in shape]), bs.InvalidArgumentError, "shape of out was"),
        (np.ones(shape, "f4"), bs.DTypeError, "out has dtype float32, expected float64, that of the array"),
        (read_only(shape), bs.InvalidArgumentError, "out is read-only"),
        (as_strided(np.ones(1), shape, [0] * len(shape)), bs.InvalidArgumentError, "out overlaps itself"),
        ([0.0], bs.DTypeError, "out is a list, expected a NumPy array"),
        (np.ma.ones(shape), bs.DTypeError, "masked array"),
    ]:
        with pytest.raises(error, match=message):
            run(array, name, out)
    out = np.zeros(shape)
    run(array, name, out)
    assert np.array_equal(out, READINGS[name][1])


def test_strings_that_do_not_fit_stay_in_the_array():
    array = bs.TensorArray(1, str)
    array.write(0, ["a", "b"])
    for out in [np.full(3, "", object), as_strided(np.full(1, "", object), (2,), (0,))]:
        with pytest.raises(bs.InvalidArgumentError):
            array.read(0, out=out)
    with pytest.raises(bs.DTypeError):
        array.read(0, out=np.full(2, "", "U1"))
    assert array.read(0, out=np.full(2, "", object)).tolist() == ["a", "b"]


def test_out_that_shares_memory_with_an_element_is_refused():
    memory = np.arange(4.0)
    array = bs.TensorArray(2, "float64")
    array.unstack(memory.reshape(2, 2), copy=False)
    with pytest.raises(bs.InvalidArgumentError, match="out shares memory with an element"):
        array.stack(out=memory.reshape(2, 2))
    with pytest.raises(bs.InvalidArgumentError, match="out shares memory with an element"):
        array.read(1, out=memory[1:3])
    assert array.read(1, out=memory[:2]).tolist() == [2, 3]


def test_sums_are_written_into_out():
    gradient = bs.TensorArray(2, "float32", element_shape=(2,)).grad("loss")
    for term in ([1, 2], [10, 20], [100, 200]):
        gradient.write(1, np.array(term, "float32"))
    out = np.empty((2, 2), "float32")
    gradient.stack(out=out)
    assert out.tolist() == [[0, 0], [111, 222]]


SPLITS = [0, 2, 2, 5, 6]


def pieces(dtype="float64"):
    return bs.VariantArray([np.array([1, 2], dtype), None, np.array([3, 4, 5], dtype), None])


def gradient(out, dtype="float64", **more):
    return bs.ragged_tensor_to_variant_gradient(pieces(dtype), SPLITS, [6], out=out, **more)


def test_the_ragged_gradient_fills_out_or_adds_to_it():
    out = np.full(6, -1.0)
    assert gradient(out) is out
    assert out.tolist() == [1, 2, 3, 4, 5, 0]
    gradient(out, accumulate=True)
    assert out.tolist() == [2, 4, 6, 8, 10, 0]
    memory = np.full(12, -1.0)
    gradient(memory[::-2])
    assert memory[::-2].tolist() == [1, 2, 3, 4, 5, 0] and (memory[::2] == -1).all()


def test_the_ragged_gradient_of_rows_is_copied_into_out():
    rt = bs.RaggedTensor(np.arange(6.0), SPLITS)
    out = np.full((6, 1), -1.0)
    bs.ragged_tensor_to_variant_gradient(bs.ragged_tensor_to_variant(rt), SPLITS, [6, 1], out=out)
    assert out[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(bs.InvalidArgumentError, match="out shares memory with a piece"):
        values = np.arange(6.0)
        rows = bs.ragged_tensor_to_variant(bs.RaggedTensor(values, SPLITS))
        bs.ragged_tensor_to_variant_gradient(rows, SPLITS, [6], out=values)


def test_the_ragged_gradient_fills_strings():
    words = bs.VariantArray([np.array(["a", "b"], object), None])
    out = np.full(3, "before", object)
    bs.ragged_tensor_to_variant_gradient(words, [0, 2, 3], [3], out=out)
    assert out.tolist() == ["a", "b", ""]
    with pytest.raises(bs.DTypeError, match="accumulate"):
        bs.ragged_tensor_to_variant_gradient(words, [0, 2, 3], [3], out=out, accumulate=True)
    with pytest.raises(bs.InvalidArgumentError, match="shape"):
        bs.ragged_tensor_to_variant_gradient(words, [0, 2, 3], [3], out=np.full(2, "", object))


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.ones(5), bs.InvalidArgumentError, r"shape of out was \[5\] instead of \[6\]"),
        (np.ones(6, "f4"), bs.DTypeError, "out has dtype float32, expected float64, that of the pieces"),
        (read_only(6), bs.InvalidArgumentError, "out is read-only"),
        (as_strided(np.ones(1), (6,), (0,)), bs.InvalidArgumentError, "out overlaps itself"),
    ],
)
def test_the_ragged_gradient_refuses_other_outputs(out, error, message):
    with pytest.raises(error, match=message):
        gradient(out)
    assert (out == 1).all()


def test_accumulate_needs_out():
    with pytest.raises(bs.InvalidArgumentError, match="accumulate=True needs out"):
        gradient(None, accumulate=True)


def test_the_gradient_of_ragged_rows_fills_out_or_adds_to_it():
    rt = bs.RaggedTensor(np.arange(6.0), SPLITS)
    grad = np.array([1.0, 2.0, 3.0, 4.0])
    expected = rt.slice_grad("2:", grad)
    out = np.full(6, -1.0)
    assert rt.slice_grad("2:", grad, out=out) is out
    assert np.array_equal(out, expected)
    rt.slice_grad("2:", grad, out=out, accumulate=True)
    assert np.array_equal(out, 2 * expected)
    with pytest.raises(bs.InvalidArgumentError, match="shape of out"):
        rt.slice_grad("2:", grad, out=np.ones(5))
    with pytest.raises(bs.InvalidArgumentError, match="out shares memory with dy"):
        memory = np.ones(6)
        rt.slice_grad(":", memory, out=memory)


def test_items_of_no_bytes_go_into_out():
    items = np.zeros(4, np.dtype([("p", "i8"), ("a", "S0"), ("b", "i8")]))["a"]
    out = items[0:4:3]
    encoded = bs.VariantArray([items[1:2], items[2:3]])
    assert bs.ragged_tensor_to_variant_gradient(encoded, [0, 1, 2], (2,), out=out) is out


@pytest.mark.parametrize("step", [1, 2])
def test_accumulating_touches_only_what_is_added_to(step):
    encoded = bs.VariantArray([np.array([1.0]), None])
    out = np.full(2 * step, -0.0)[::step]
    bs.ragged_tensor_to_variant_gradient(encoded, [0, 1, 2], (2,), out=out, accumulate=True)
    assert out.tolist() == [1, 0] and np.signbit(out).tolist() == [False, True]
    rt = bs.RaggedTensor(np.arange(3.0), [[0, 1, 3]])
    out = np.full(3 * step, -0.0)[::step]
    rt.slice_grad(0, np.array([1.0]), out=out, accumulate=True)
    assert out.tolist() == [1, 0, 0] and np.signbit(out).tolist() == [False, True, True]


def test_strings_in_shapes_that_numpy_cannot_make():
    encoded = bs.VariantArray([np.empty(0, object)])
    shape = (0, 2**40, 2**40)
    with pytest.raises(bs.ResourceExhaustedError, match="shape"):
        bs.ragged_tensor_to_variant_gradient(encoded, [0, 0], shape)
    with pytest.raises(bs.InvalidArgumentError, match="shape of out was"):
        bs.ragged_tensor_to_variant_gradient(encoded, [0, 0], shape, out=np.empty(3, object))


@pytest.mark.parametrize("dtype", [">f8", "S1", "U2"])
def test_errors_name_the_dtype_as_numpy_does(dtype):
    value = np.ones(2).astype(dtype)
    message = re.escape(f"elements of dtype {value.dtype} cannot be added")
    encoded = bs.VariantArray([value])
    with pytest.raises(bs.DTypeError, match=message):
        bs.ragged_tensor_to_variant_gradient(encoded, [0, 2], (2,), out=value.copy(), accumulate=True)
    buffer = bs.GradBuffer((2,), dtype)
    buffer.add(":", value)
    with pytest.raises(bs.DTypeError, match=message):
        buffer.add(":", value)


@pytest.mark.parametrize("dtype", [">f8", "S1", "object"])
def test_second_writes_to_gradients_name_the_dtype_as_numpy_does(dtype):
    value = np.array(["1", "2"]).astype(dtype)
    array = bs.TensorArray(1, dtype).grad("loss")
    array.write(0, value)
    with pytest.raises(bs.DTypeError, match=re.escape(f"elements of dtype {value.dtype} cannot be added")):
        array.write(0, value)
