"""TensorArray from Python; src/tensor_array/tensor_array_test.cc tests the rules themselves."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

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
        (lambda a: bs.TensorArray(-1, "f4"), bs.InvalidArgumentError, "size is -1, must be >= 0"),
        (lambda a: bs.TensorArray([3], "f4"), bs.InvalidArgumentError, "size must be a scalar"),
        (lambda a: bs.TensorArray(2.5, "f4"), bs.DTypeError, "expected an int"),
        (lambda a: bs.TensorArray(2**40, "f4"), bs.InvalidArgumentError, "size"),
        (lambda a: bs.TensorArray(2, "f4", (-2,)), bs.InvalidArgumentError, "element_shape"),
        (lambda a: a.write([0], [1]), bs.InvalidArgumentError, "index must be a scalar"),
        (lambda a: a.write(np.array([0]), [1]), bs.InvalidArgumentError, "index must be a scalar"),
        (lambda a: a.write(2**70, [1]), bs.InvalidArgumentError, "Tried to write"),
        (lambda a: a.read(5), bs.InvalidArgumentError, "Tried to read from index 5, but the array has 2 elements"),
        (lambda a: a.gather([[0]]), bs.InvalidArgumentError, "1-D"),
        (lambda a: a.gather([]), bs.UnimplementedError, "element shape"),
        (lambda a: a.scatter([0], 3), bs.InvalidArgumentError, "scalar"),
        (lambda a: a.split([1.0, 2.0], [3, -1]), bs.InvalidArgumentError, "must be >= 0"),
        (lambda a: a.split([1.0, 2.0], [2**63 - 1, 1]), bs.InvalidArgumentError, "add up"),
        (lambda a: a.grad(3), bs.DTypeError, "source"),
        (lambda a: a.grad("x").grad("y"), bs.InvalidArgumentError, "a gradient of a gradient array cannot be made"),
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
    container = bs._core.TensorArrayContainer()
    a = container.create(2, "f4", name="steps")
    container.create(2, "f8", name="steps")
    assert container.names() == ["steps_0", "steps_1"]
    assert container.find("steps_1").dtype == np.float64
    assert container.find("steps_0@x") is None
    gradient = a.grad("x")
    assert container.find("steps_0@x") == gradient and container.find("steps_0@x").dtype == np.float32
    assert bs._core.TensorArrayContainer().find("steps_0") is None
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
    gradient.unstack(dy)  # the gradient of stack
    assert np.array_equal(gradient.stack(), dy)  # the gradient of unstack
    array = bs.TensorArray(2, "float64")
    array.split(x, [1, 3])
    gradient = array.grad("x")
    gradient.split(dy, [1, 3])
    assert np.array_equal(gradient.concat()[0], dy)
    array = bs.TensorArray(4, "float64", (3,), clear_after_read=False)
    array.unstack(x)
    gradient = array.grad("x")
    gradient.scatter([2, 2, 0], dy[:3])  # the gradient of gather([2, 2, 0])
    expected = np.zeros((4, 3))
    np.add.at(expected, [2, 2, 0], dy[:3])
    assert np.array_equal(gradient.stack(), expected)


OF_ANOTHER_KIND = {
    "int32": [1.5, [1, 2.5], True, "3", None, 1j],
    "float32": [1j, "3", None, [1, None], True],
    "bool": [1, 0.0, "True"],
    "complex64": ["1", True],
    "S3": ["abc", 1],
    "U3": [b"abc", 1],
    "qint8": [1.5],
    "int4": [1.5],
}


@pytest.mark.parametrize(("dtype", "value"), [(d, v) for d, values in OF_ANOTHER_KIND.items() for v in values])
def test_values_of_another_kind_are_refused(dtype, value):
    dtype = dtypes.ALL.get(dtype, dtype)
    calls = [
        lambda a: a.write(0, value),
        lambda a: a.unstack([value]),
        lambda a: a.scatter([0], [value]),
        lambda a: a.split([value], [1]),
    ]
    for call in calls:
        with pytest.raises(bs.DTypeError, match="is not converted to"):
            call(bs.TensorArray(1, dtype))


TOO_LARGE = {
    "int8": [300, [1, -129]],
    "uint8": [-1],
    "int64": [2**63],
    "uint64": [[2**64]],
    "int4": [8],
    "qint8": [128],
    "S3": [b"abcd"],
    "U3": [["a", "abcd"]],
}


@pytest.mark.parametrize(("dtype", "value"), [(d, v) for d, values in TOO_LARGE.items() for v in values])
def test_values_that_do_not_fit_are_refused(dtype, value):
    with pytest.raises(bs.InvalidArgumentError, match="value holds"):
        bs.TensorArray(1, dtypes.ALL.get(dtype, dtype)).write(0, value)


@pytest.mark.parametrize(
    ("dtype", "value", "stored"),
    [
        ("float32", 3, 3.0),
        ("float32", 1e300, np.inf),
        ("float32", np.float64(1.5), 1.5),
        ("float32", [], []),
        ("float64", [2**63, -1], [2.0**63, -1.0]),
        ("float64", 2**70, 2.0**70),
        ("complex64", 1.5, 1.5),
        ("bfloat16", 1.5, 1.5),
        ("int8", [-128, 127], [-128, 127]),
        ("uint64", 2**64 - 1, 2**64 - 1),
        ("int32", [[], []], [[], []]),
        ("int4", 7, 7),
        ("bool", True, True),
        ("S3", b"ab", b"ab"),
        (">f8", 2, 2.0),
        (str, "a long word", "a long word"),
    ],
)
def test_values_that_become_the_dtype(dtype, value, stored):
    array = bs.TensorArray(1, dtypes.ALL.get(dtype, dtype))
    array.write(0, value)
    assert array.read(0).tolist() == stored


def test_a_refused_write_does_not_decide_the_kind_of_strings():
    array = bs.TensorArray(1, object)
    with pytest.raises(bs.InvalidArgumentError, match="index 5"):
        array.write(5, np.array([b"x"], object))
    array.write(0, np.array(["s"], object))
    with pytest.raises(bs.DTypeError, match="mixes str and bytes"):
        array.grad("x").write(0, np.array([b"x"], object))
    assert array.read(0).tolist() == ["s"]


def test_str_and_bytes_from_many_threads():
    for _ in range(50):
        array, done = bs.TensorArray(8, object), []

        def work(i, array=array, done=done):
            word = np.array(["s" if i % 2 else b"b"], object)
            try:
                array.write(i, word)
                done.append(i % 2)
            except bs.DTypeError:
                pass

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(set(done)) == 1


def test_no_elements_need_no_other_shape():
    array = bs.TensorArray(0, "float32", element_shape=(3, 5))
    value, lengths = array.concat()
    assert value.shape == (0, 5) and value.dtype == np.float32 and lengths.tolist() == []
    assert array.gather([]).shape == (0, 3, 5) and array.stack().shape == (0, 3, 5)


def test_names_in_a_container_cannot_collide():
    container = bs._core.TensorArrayContainer()
    with pytest.raises(bs.InvalidArgumentError, match="has an '@'"):
        container.create(1, "int8", name="x_0@y")
    random = np.random.default_rng(0)
    arrays = []
    for i in range(200):
        name = "".join(random.choice(["x", "_0", "_", "1"], 3))
        forward = container.create(1, ["float64", "int8"][i % 2], name=name)
        arrays += [forward] + [forward.grad("".join(random.choice(["x", "_0", "@", "y"], 3))) for _ in range(3)]
    for array in arrays:
        found = container.find(array.name)
        assert found == array and found.dtype == array.dtype
    for text in ("\ud800", "x_0\0"):
        try:
            assert container.find(text) is None
        except bs.InvalidArgumentError as error:
            assert "surrogates" in str(error)


def test_a_container_in_many_threads():
    container = bs._core.TensorArrayContainer()

    def work():
        for _ in range(100):
            array = container.create(1, "float32", name="x")
            array.write(0, np.ones(3, "f4"), copy=False)
            gradient = array.grad("s@t")
            assert container.find(gradient.name) == gradient
            assert container.remove(array.name)

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(work) for _ in range(4)]:
            done.result(60)
    assert container.names() == []


def test_objects_that_were_never_initialised():
    for kind in (bs.TensorArray, bs.RaggedTensor, bs.VariantArray):
        empty = kind.__new__(kind)
        with pytest.raises(bs.DTypeError, match="expected a TensorArray"):
            bs.tensor_array_grad_with_shape(empty, 0.0, [], "x")
        assert bs.TensorArray(1, "f4") != empty and bs.RaggedTensor(np.ones(1), [0, 1]) != empty
        with pytest.raises(bs.DTypeError, match="expected a VariantArray"):
            bs.ragged_tensor_from_variant(empty, 0, 1)
    with pytest.raises(bs.DTypeError, match="never initialised"):
        bs.VariantArray([bs.RaggedTensor.__new__(bs.RaggedTensor)])


def test_nothing_can_be_joined_where_its_shape_is_known():
    with pytest.raises(bs.UnimplementedError, match=r"concat of no elements needs .* whose extents after the first"):
        bs.TensorArray(0, "f4").concat()
    assert bs.TensorArray(0, "f4", element_shape=(None, 3)).concat()[0].shape == (0, 3)
    with pytest.raises(bs.UnimplementedError, match="gather of no elements needs a fully defined element shape"):
        bs.TensorArray(0, "f4", element_shape=(None, 3)).gather([])


@pytest.mark.parametrize("other", [None, 3, "TensorArray", bs.TensorArray.__new__(bs.TensorArray)])
def test_an_array_equals_itself_alone(other):
    array = bs.TensorArray(1, np.float32)
    assert array == array and array != other and array != bs.TensorArray(1, np.float32)
