"""Containers with NumPy, DLPack, copy and pickle."""

import copy
import pickle

import backslice as bs
import dtypes
import ml_dtypes
import numpy as np
import pytest

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
WAYS = [
    *(pytest.param(lambda x, p=p: pickle.loads(pickle.dumps(x, p)), id=f"pickle {p}") for p in PROTOCOLS),
    pytest.param(copy.copy, id="copy"),
    pytest.param(copy.deepcopy, id="deepcopy"),
]


def buffer_of(index, dy, shape=(4, 3)):
    buffer = bs.GradBuffer(shape, dy.dtype)
    buffer.write(index, dy)
    return buffer


def same_elements(a, b):
    for x, y in zip(a, b, strict=True):
        assert (x is None) == (y is None)
        if isinstance(x, bs.RaggedTensor):
            assert x == y
        elif x is not None:
            assert x.dtype == y.dtype and np.array_equal(x, y)


@pytest.mark.parametrize("again", WAYS)
def test_grad_buffers_are_made_again(again):
    for dtype in ("f4", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, "U3", ">i4"):
        buffer = buffer_of(np.s_[1:3], np.arange(6).reshape(2, 3).astype(dtype))
        other = again(buffer)
        assert other.dtype == buffer.dtype and other.shape == buffer.shape and repr(other) == repr(buffer)
        assert other.array.tobytes() == buffer.array.tobytes()
        other.write(np.s_[:1], np.ones((1, 3)).astype(dtype))
        assert other.array[1:].tobytes() == np.zeros((3, 3), dtype).tobytes()
        assert buffer.array[1:3].tobytes() == np.arange(6).astype(dtype).tobytes()
    buffer = buffer_of(np.s_[1:3], np.ones((2, 3)))
    buffer.add(np.s_[:, 1], np.ones(4))  # two overlapping regions
    assert again(buffer).array.tobytes() == buffer.array.tobytes()
    zero = again(bs.GradBuffer((2,), "f4"))
    assert zero.array.tolist() == [0, 0] and "all zero" in repr(zero)


@pytest.mark.parametrize("again", WAYS)
@pytest.mark.parametrize("name", dtypes.ALL)
def test_ragged_tensors_of_every_dtype_are_made_again(again, name):
    rt = bs.RaggedTensor(dtypes.sample(name, 6), np.array([0, 2, 2, 6], "i4"))
    other = again(rt)
    assert other == rt and other.dtype == rt.dtype and other.nested_row_splits[0].dtype == "i4"


@pytest.mark.parametrize("again", WAYS)
def test_ragged_tensors_of_any_rank_are_made_again(again):
    for rt in (bs.RaggedTensor(np.ones((2, 3)), []), bs.RaggedTensor.from_list([[[1], []], []])):
        assert again(rt) == rt
    for words in (["a", "", "ü"], [b"a", b"\0", b""]):
        rt = bs.RaggedTensor(np.array(words, object), [0, 1, 3])
        assert again(rt) == rt and again(rt).to_list() == rt.to_list()


def test_a_deep_copy_shares_no_values():
    values = np.arange(4.0)
    rt = bs.RaggedTensor(values, [0, 2, 4])
    assert np.shares_memory(copy.copy(rt).values, values)
    assert not np.shares_memory(copy.deepcopy(rt).values, values)


@pytest.mark.parametrize("again", WAYS)
def test_variant_arrays_are_made_again(again):
    rt = bs.RaggedTensor.from_list([[[1.0, 2.0]], [], [[3.0], []], [[4.0]]])
    words = bs.RaggedTensor(np.array(["a", "b"], object), [0, 2])
    for array in (
        bs.ragged_tensor_to_variant(rt),
        bs.ragged_tensor_to_variant(rt).reshape((2, 2)),
        bs.ragged_tensor_to_variant(rt, False),
        bs.VariantArray([None, np.ones(2, "f4"), rt, None], (2, 2)),
        bs.VariantArray([words, None]),
        bs.VariantArray([], (0, 3)),
    ):
        other = again(array)
        assert other.shape == array.shape and repr(other) == repr(array)
        same_elements(other, array)


def read_all(array):
    return [np.asarray(array.read(i)).tolist() for i in range(array.size())]


@pytest.mark.parametrize("again", WAYS)
def test_tensor_arrays_are_made_again(again):
    array = bs.TensorArray(3, "f4", element_shape=(None,), dynamic_size=True, name="steps")
    array.write(0, [1, 2])
    array.write(4, [3])
    other = again(array)
    assert other != array and repr(other) == repr(array) and other.element_shape == (None,)
    assert other.read(0).tolist() == [1, 2] and other.read(4).tolist() == [3] and other.size() == 5
    with pytest.raises(bs.InvalidArgumentError, match="cleared"):
        again(other).read(0)
    other.write(7, [9])
    assert array.size() == 5 and array.read(0).tolist() == [1, 2]


@pytest.mark.parametrize("again", WAYS)
def test_tensor_arrays_keep_what_was_read_and_written(again):
    array = bs.TensorArray(2, "f4", clear_after_read=False)
    array.write(0, [1, 2])
    array.read(0)
    other = again(array)
    assert other.read(0).tolist() == [1, 2]
    with pytest.raises(bs.InvalidArgumentError, match="already been read"):
        other.write(0, [1, 2])
    other.write(1, [5])
    block = bs.TensorArray(2, "f8", element_shape=(2,), contiguous=True)
    block.write(1, [1, 2])
    other = again(block)
    other.write(0, [3, 4])
    assert other.stack().tolist() == [[3, 4], [1, 2]] and block.stack().tolist() == [[0, 0], [1, 2]]


@pytest.mark.parametrize("again", WAYS)
@pytest.mark.parametrize("words", [["a", "ü"], [b"a", b"\0"]])
def test_tensor_arrays_of_strings_are_made_again(again, words):
    array = bs.TensorArray(2, type(words[0]))
    array.write(0, np.array(words, object))
    other = again(array)
    with pytest.raises(bs.DTypeError):
        other.write(1, np.array([1], object))
    assert other.read(0).tolist() == words


@pytest.mark.parametrize("again", WAYS)
def test_gradients_of_tensor_arrays_are_made_again_with_what_was_added(again):
    array = bs.TensorArray(2, "f4")
    array.write(0, [1.0])
    array.write(1, [1.0])
    gradient = array.grad("loss")
    gradient.write(0, np.array([0.25], "f4"))
    gradient.write(0, np.array([0.5], "f4"))
    other = again(gradient)
    other.write(0, np.array([1.0], "f4"))
    assert other.name == "@loss" and read_all(other) == [[1.75], [0]] and read_all(gradient) == [[0.75], [0]]


def test_contents_that_lie_are_refused():
    array = bs.TensorArray(1, "f4")
    array.write(0, np.ones(2, "f4"))
    making, is_gradient, all_read, ((_, _, value, *flags),) = array._contents()
    restored = bs.TensorArray._restore((making, is_gradient, all_read, ((0, (10**6,), value, *flags),)))
    assert restored.read(0).shape == (2,)
    for bad in (
        None,
        (),
        (making, False, False, None),
        (making, False, False, ((1, (2,), value, *flags),)),
        (making, False, False, ((-1, (2,), value, *flags),)),
        (making, False, False, ((0, (2,), value.astype("f8"), *flags),)),
        (making[:-1], False, False, ()),
    ):
        with pytest.raises(bs.Error):
            bs.TensorArray._restore(bad)


def test_a_closed_array_and_a_container_say_why_they_are_not_pickled():
    array = bs.TensorArray(1, "f4")
    array.close()
    with pytest.raises(bs.InvalidArgumentError, match="closed"):
        pickle.dumps(array)
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"TensorArrayContainer: .* pickle the arrays"):
            call(bs._core.TensorArrayContainer())


@pytest.mark.parametrize("again", WAYS)
def test_slices_are_made_again(again):
    selection = bs.Selection.from_index((4, 5), np.s_[1:3, ::-2, None])
    assert again(selection) == selection
    prepared = again(selection.prepare("f4"))
    assert (
        prepared.selection == selection and prepared.dtype == "f4" and repr(prepared) == repr(selection.prepare("f4"))
    )


def test_a_grad_buffer_is_an_array():
    buffer = buffer_of(np.s_[1:3, 0], np.array([1.0, 2.0], "f4"))
    view = np.asarray(buffer)
    assert np.shares_memory(view, buffer.array) and not view.flags.writeable
    assert np.asarray(buffer, dtype="f4") is not None and np.shares_memory(np.asarray(buffer, dtype="f4"), view)
    assert np.asarray(buffer, "f8").dtype == "f8" and (buffer + np.float32(0)).sum() == 3
    copied = np.array(buffer)
    assert copied.flags.writeable and not np.shares_memory(copied, view) and np.array_equal(copied, view)
    assert buffer.__array__(copy=True).flags.writeable
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        buffer.__array__("f8", copy=False)
    assert bs.slice(buffer, np.s_[1:3]).tolist() == [[1, 0, 0], [2, 0, 0]]
    assert np.asarray(buffer_of(..., np.ones((4, 3), ml_dtypes.bfloat16))).dtype == ml_dtypes.bfloat16


def test_arrays_of_containers_go_through_dlpack():
    for container in (buffer_of(..., np.ones((4, 3))), bs.RaggedTensor(np.ones((4, 3)), [])):
        assert container.__dlpack_device__() == (1, 0)
        there = np.from_dlpack(container)
        assert np.array_equal(there, np.ones((4, 3))) and np.shares_memory(there, np.asarray(container))
        assert not there.flags.writeable


def test_only_a_tensor_that_is_not_ragged_is_an_array():
    dense = bs.RaggedTensor(np.arange(4.0), [])
    assert np.shares_memory(np.asarray(dense), dense.values)
    ragged = bs.RaggedTensor(np.arange(4.0), [0, 1, 4])
    for call in (np.asarray, np.from_dlpack, lambda rt: bs.slice(rt, ...)):
        with pytest.raises((bs.DTypeError, bs.InvalidArgumentError), match=r"rows may differ in length.*\.to_list\(\)"):
            call(ragged)


def test_a_pickle_of_a_buffer_holds_what_was_written():
    buffer = bs.GradBuffer((1000, 1000), "f8")
    buffer.write(np.s_[5], 1.0)
    assert len(pickle.dumps(buffer)) < 2 * 8000


def test_several_arrays_are_not_one_array():
    array = bs.TensorArray(2, "f4")
    rows = bs.ragged_tensor_to_variant(bs.RaggedTensor(np.arange(4.0), [0, 1, 4]))
    for container, advice in ((array, r"\.stack\(\)"), (rows, r"list\(a\)")):
        for call in (np.asarray, np.array, lambda c: bs.slice(c, ...)):
            with pytest.raises((bs.DTypeError, bs.InvalidArgumentError), match="is not one array: use .*" + advice):
                call(container)


def test_variant_arrays_take_partial_indices_and_slices():
    rows = [np.array([float(k)]) for k in range(6)]
    array = bs.VariantArray([*rows[:5], None], (2, 3))
    assert array[1].shape == (3,) and array[1][0].tolist() == [3] and array[1][2] is None
    assert array[:, 1].shape == (2,) and [e.tolist() for e in array[:, 1]] == [[1], [4]]
    assert array[::-1, ::2].shape == (2, 2) and array[::-1, ::2][0, 0].tolist() == [3]
    assert array[..., 0].shape == (2,) and array[None].shape == (1, 2, 3) and array[()].shape == (2, 3)
    assert array["1, 1"].tolist() == [4] and array[2:].shape == (0, 3)
    batch = bs.ragged_tensor_to_variant(bs.RaggedTensor(np.arange(6.0), [0, 2, 2, 5, 6]))
    assert [e.tolist() for e in batch[1:3]] == [[], [2, 3, 4]] and [e.tolist() for e in batch[::-2]] == [[5], []]
    assert bs.ragged_tensor_from_variant(batch[2:], 0, 1).to_list() == [[2, 3, 4], [5]]
    for index, error in ((2, bs.OutOfRangeError), ((0, 0, 0), bs.OutOfRangeError), ([0], bs.UnimplementedError)):
        with pytest.raises(error):
            array[index]


def test_representations_tell_what_is_inside():
    buffer = bs.GradBuffer((4, 3), "f4")
    assert repr(buffer) == "GradBuffer(shape (4, 3), dtype float32, all zero)"
    buffer.add(np.s_[1:3], np.ones((2, 3), "f4"))
    assert repr(buffer) == "GradBuffer(shape (4, 3), dtype float32, zero outside [1:3, :])"
    for k in range(4):
        buffer.add(np.s_[k, k % 3], np.float32(1))
    assert "zero outside" in repr(buffer)
    buffer.writable()
    assert repr(buffer) == "GradBuffer(shape (4, 3), dtype float32)"
    array = bs.TensorArray(2, "f4", (3,), name="steps")
    assert repr(array) == "TensorArray(name 'steps', size 2, dtype float32, element shape [3])"
    mixed = bs.VariantArray([np.ones(2), None, bs.RaggedTensor(np.ones(1, "f4"), [0, 1])])
    assert repr(mixed) == "VariantArray(shape (3,), several dtypes, ragged ranks 0 to 1, 1 missing)"
    rows = bs.ragged_tensor_to_variant(bs.RaggedTensor(np.ones(3), [0, 1, 3]))
    assert repr(rows) == "VariantArray(shape (2,), dtype float64, ragged rank 0, 0 missing)"
    assert repr(bs.VariantArray([None])) == "VariantArray(shape (1,), 1 missing)"
