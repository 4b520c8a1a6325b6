"""TensorArray from Python; the rules themselves are tested in src/containers/tensor_array_test.cc."""

import gc
import threading
import weakref

import backslice as bs
import dtypes
import numpy as np
import pytest


def test_copies_unless_told_not_to():
    value = np.ones(3)
    array = bs.TensorArray(2, "float64")
    array.write(0, value)
    array.write(1, value, copy=False)
    value[:] = 7
    assert array.read(0).tolist() == [1, 1, 1]
    held = array.read(1)
    assert held.tolist() == [7, 7, 7] and np.shares_memory(held, value)
    assert not held.flags.writeable


def test_neighbours_are_views():
    value = np.arange(12.0).reshape(4, 3)
    array = bs.TensorArray(4, "float64", clear_after_read=False)
    array.unstack(value, copy=False)
    assert np.shares_memory(array.stack(), value)
    assert np.shares_memory(array.gather([1, 2]), value)
    assert not np.shares_memory(array.gather([2, 1]), value)
    split = bs.TensorArray(2, "float64")
    split.split(value, [3, 1], copy=False)
    joined, lengths = split.concat()
    assert np.shares_memory(joined, value) and lengths.tolist() == [3, 1] and lengths.dtype == np.int64


def test_memory_is_released():
    value = np.ones(1000)
    alive = weakref.ref(value)
    array = bs.TensorArray(1, "float64")
    array.write(0, value, copy=False)
    del value
    gc.collect()
    assert alive() is not None
    held = array.read(0)
    array.close()
    gc.collect()
    assert alive() is not None and held[0] == 1
    del held
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("name", [n for n in dtypes.ALL if n not in ("float8_e8m0fnu", "big-endian")])
def test_every_dtype(name):
    value = dtypes.sample(name, (2, 3))
    array = bs.TensorArray(3, dtypes.ALL[name], (2, 3))
    array.write(0, value)
    array.write(2, value[::-1])
    stacked = array.stack()
    assert dtypes.same(np.ascontiguousarray(stacked[0]), value)
    assert dtypes.same(np.ascontiguousarray(stacked[2]), np.ascontiguousarray(value[::-1]))
    assert all(v == dtypes.zero(name) for v in stacked[1].flat)
    gradient = bs.TensorArray(1, dtypes.ALL[name]).grad("x")
    gradient.write(0, value)
    if name in dtypes.ADDABLE:
        gradient.write(0, value)
        sums = bs.multi_slice_grad((2, 3), [(":", value), (":", value)])
        assert dtypes.same(np.ascontiguousarray(gradient.read(0)), sums)
    elif dtypes.ALL[name].kind not in "SU":
        with pytest.raises(bs.DTypeError, match="cannot be added"):
            gradient.write(0, value)


def test_strings_of_any_length():
    array = bs.TensorArray(2, str, (1,))
    array.write(0, ["a long word"])
    assert array.stack().tolist() == [["a long word"], [""]]
    with pytest.raises(bs.DTypeError, match="mixes str and bytes"):
        bs.TensorArray(1, bytes).write(0, np.array(["a"], object))


def test_half_sums_round_after_each():
    gradient = bs.TensorArray(1, "float16").grad("x")
    for v in (2048, 1, 1, 1):
        gradient.write(0, np.array([v], np.float16))
    assert gradient.read(0)[0] == 2048


def test_lists_take_the_dtype_and_arrays_must_have_it():
    array = bs.TensorArray(2, "float32", name="n")
    array.write(0, [1, 2])
    assert array.read(0).dtype == np.float32
    with pytest.raises(bs.DTypeError, match="TensorArray n: dtype is float32 but a value of dtype float64"):
        array.write(1, np.ones(2))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda a: bs.TensorArray(-1, "f4"), bs.InvalidArgumentError, "Size should be >= 0"),
        (lambda a: bs.TensorArray([3], "f4"), bs.InvalidArgumentError, "size must be a scalar"),
        (lambda a: bs.TensorArray(2.5, "f4"), bs.DTypeError, "expected an int"),
        (lambda a: bs.TensorArray(2**40, "f4"), bs.InvalidArgumentError, "size"),
        (lambda a: bs.TensorArray(2, "f4", (-2,)), bs.InvalidArgumentError, "element_shape"),
        (lambda a: a.write([0], [1]), bs.InvalidArgumentError, "index must be a scalar"),
        (lambda a: a.write(np.array([0]), [1]), bs.InvalidArgumentError, "index must be a scalar"),
        (lambda a: a.write(2**70, [1]), bs.InvalidArgumentError, "Tried to write"),
        (lambda a: a.read(5), bs.InvalidArgumentError, "Tried to read from index 5 but array size is: 2"),
        (lambda a: a.gather([[0]]), bs.InvalidArgumentError, "1-D"),
        (lambda a: a.gather([]), bs.UnimplementedError, "element shape"),
        (lambda a: a.scatter([0], 3), bs.InvalidArgumentError, "scalar"),
        (lambda a: a.split([1.0, 2.0], [3, -1]), bs.InvalidArgumentError, "must be >= 0"),
        (lambda a: a.split([1.0, 2.0], [2**63 - 1, 1]), bs.InvalidArgumentError, "add up"),
        (lambda a: a.grad(3), bs.DTypeError, "source"),
        (lambda a: a.grad("x").grad("y"), bs.InvalidArgumentError, "Wrong input container"),
        (lambda a: a.grad_with_shape("x", [-1]), bs.InvalidArgumentError, "imension -1 must be >= 0"),
        (lambda a: a.grad_with_shape("x", 3), bs.InvalidArgumentError, "1-D"),
        (lambda a: bs.tensor_array_grad_with_shape(3, 0.0, [], "x"), bs.DTypeError, "expected a TensorArray"),
        (lambda a: bs.tensor_array_grad_with_shape(a, [0.0], [], "x"), bs.InvalidArgumentError, "flow_in"),
    ],
)
def test_refused(call, error, text):
    array = bs.TensorArray(2, "f4")
    with pytest.raises(error, match=text):
        call(array)
    array.unstack(np.ones((2, 1), "f4"))  # nothing had changed


def test_a_far_index_makes_no_slots():
    array = bs.TensorArray(0, "f4", dynamic_size=True)
    array.write(2**31 - 2, [1.0])
    assert array.size() == 2**31 - 1
    with pytest.raises(bs.ResourceExhaustedError):
        array.stack()


def test_tensorflow_shaped_function():
    array = bs.TensorArray(2, "f4", (3,), name="t")
    gradient, flow = bs.tensor_array_grad_with_shape(array, 0.0, [2], "x")
    assert gradient.name == "t@x" and gradient.read(0).shape == (2, 3)
    assert flow == 0 and flow.dtype == np.float32
    assert gradient == array.grad("x") and gradient != array.grad("y")


def test_container_finds_arrays_and_gradients():
    container = bs.TensorArrayContainer()
    a = container.create(2, "f4", name="steps")
    container.create(2, "f8", name="steps")
    assert container.names() == ["steps_0", "steps_1"]
    assert container.find("steps_1").dtype == np.float64
    assert container.find("steps_0@x") is None
    gradient = a.grad("x")
    assert container.find("steps_0@x") == gradient and container.find("steps_0@x").dtype == np.float32
    assert bs.TensorArrayContainer().find("steps_0") is None
    assert container.remove("steps_0") and not container.remove("steps_0")


def test_contiguous_arrays_stack_without_a_copy():
    array = bs.TensorArray(3, "f4", (2,), clear_after_read=False, contiguous=True)
    array.write(1, [1, 2])
    assert array.stack().tolist() == [[0, 0], [1, 2], [0, 0]]
    assert np.shares_memory(array.stack(), array.stack())
    with pytest.raises(bs.InvalidArgumentError, match="contiguous needs"):
        bs.TensorArray(3, "f4", contiguous=True)


def test_threads_with_the_gil_do_not_wait_for_ever():
    gradient = bs.TensorArray(4, "int64").grad("x")

    def work(start):
        for i in range(300):
            gradient.write((start + i) % 4, np.ones(5, np.int64), copy=i % 2 == 0)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
        assert not t.is_alive()
    assert gradient.stack().sum() == 4 * 300 * 5


def test_whole_operations_pair_up():
    random = np.random.default_rng(0)
    x, dy = random.random((4, 3)), random.random((4, 3))
    array = bs.TensorArray(4, "float64")
    array.unstack(x)
    gradient = array.grad("x")
    gradient.unstack(dy)  # backwards through stack
    assert np.array_equal(gradient.stack(), dy)  # backwards through unstack
    array = bs.TensorArray(2, "float64")
    array.split(x, [1, 3])
    gradient = array.grad("x")
    gradient.split(dy, [1, 3])
    assert np.array_equal(gradient.concat()[0], dy)
    array = bs.TensorArray(4, "float64", (3,), clear_after_read=False)
    array.unstack(x)
    gradient = array.grad("x")
    gradient.scatter([2, 2, 0], dy[:3])  # backwards through gather([2, 2, 0])
    expected = np.zeros((4, 3))
    np.add.at(expected, [2, 2, 0], dy[:3])
    assert np.array_equal(gradient.stack(), expected)
