"""Ways to make a RaggedTensor: lists, lengths, splits, and values in memory of any kind."""

import subprocess
import sys
import threading

import backslice as bs
import numpy as np
import pytest
from backslice.ragged import from_list, from_row_lengths


def test_lists_and_lengths():
    assert from_list([[[1, 2], []], [[3]]]).to_list() == [[[1, 2], []], [[3]]]
    assert bs.RaggedTensor.from_list([[1.5], []], "float32").dtype == np.float32
    assert bs.RaggedTensor.from_row_lengths([1, 2, 3], [1, 1], [2, 1]).to_list() == [[[1, 2]], [[3]]]
    assert from_list([["a"], ["b", "c"]]).to_list() == [["a"], ["b", "c"]]
    assert from_list([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1).shape == (2, None, 2)
    assert from_row_lengths(np.arange(3), [2, 0, 1]).to_list() == [[0, 1], [], [2]]
    with pytest.raises(bs.InvalidArgumentError, match="negative"):
        from_row_lengths(np.arange(3), [4, -1])
    with pytest.raises(bs.InvalidArgumentError, match="not regular"):
        from_list([[[1, 2], [3]]], ragged_rank=1)
    with pytest.raises(TypeError):
        hash(from_list([[1]]))
    assert "2 more rows" in repr(from_list([[i] for i in range(10)]))
    assert from_list([[1], []]) == from_list([[1], []]) and from_list([[1], []]) != from_list([[], [1]])


@pytest.mark.parametrize(
    "arguments, error, says",
    [
        (([[1]], None, 1.0), bs.DTypeError, "ragged_rank is 1.0, expected an int"),
        (([[1]], None, "1"), bs.DTypeError, "ragged_rank is '1', expected an int"),
        (([[1]], None, -1), bs.InvalidArgumentError, "ragged_rank is -1, expected 0 to 1000"),
        (([[1]], None, 10**30), bs.InvalidArgumentError, "expected 0 to 1000"),
        (([[1]], "nope"), bs.DTypeError, "dtype is 'nope', which NumPy does not know"),
        (([[1]], 3), bs.DTypeError, "dtype is 3, which NumPy does not know"),
        (([[1]], "f4,nope"), bs.DTypeError, "which NumPy does not know"),
        ((3,), bs.DTypeError, "rows is 3, expected nested lists"),
        (("abc",), bs.DTypeError, "rows is 'abc', expected nested lists"),
        ((iter([[1]]),), bs.DTypeError, "expected nested lists"),
        (([[1], ["a"]],), bs.DTypeError, "rows hold int and str, which have no dtype in common"),
        (([[1], [b"a"]],), bs.DTypeError, "rows hold bytes and int, which have no dtype in common"),
    ],
)
def test_lists_that_are_no_ragged_tensor(arguments, error, says):
    with pytest.raises(error, match=says):
        bs.RaggedTensor.from_list(*arguments)


@pytest.mark.parametrize(
    "lengths, says",
    [
        ([[1], [1, 2]], "row lengths 0 must be a list of int"),
        ([2**63], "add up to more than int64 holds"),
        ([2**62, 2**62], "add up to more than int64 holds"),
        (np.array([2**31 - 1, 1], np.int32), "add up to more than int32 holds"),
    ],
)
def test_lengths_that_are_no_rows(lengths, says):
    with pytest.raises(bs.InvalidArgumentError, match=says):
        bs.RaggedTensor.from_row_lengths([1, 2], lengths)


def test_the_module_of_ragged_tensors_comes_with_the_package():
    program = "import backslice as bs; print(bs.ragged.from_list([[1]]).to_list())"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[[1]]\n"


def test_splits_belong_to_the_tensor():
    splits = np.array([0, 2, 4])
    rt = bs.RaggedTensor(np.arange(4.0), splits)
    splits[:] = [0, 2, 2**30]
    assert rt[::-1].to_list() == [[2, 3], [0, 1]]
    (own,) = rt.nested_row_splits
    assert own.tolist() == [0, 2, 4] and not own.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        own.flags.writeable = True


def test_splits_that_change_while_they_are_read():
    values, good, stop = np.arange(4000.0), np.arange(0, 4001, 2), threading.Event()
    splits = good.copy()

    def change():
        while not stop.is_set():
            splits[1:-1] = 2**40
            splits[:] = good

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(300):
            try:
                rt = bs.RaggedTensor(values, splits)
            except bs.InvalidArgumentError:
                continue
            assert rt[::-1].values.sum() == values.sum()
            bs.ragged_tensor_to_variant_gradient(bs.VariantArray([None]), good[:2], [2], Tvalues=float)
    finally:
        stop.set()
        thread.join()


class Lies(np.ndarray):
    """An array whose methods report that it is empty."""

    def ravel(self, *_):
        return np.array([], object)

    def tolist(self, *_):
        return []

    def __len__(self):
        return 10**9

    shape = (10**9,)
    dtype = np.dtype("f8")
    strides = (1,)


def test_subclasses_cannot_lie_about_their_memory():
    words = np.array(["a", "bc"], object).view(Lies)
    assert bs.RaggedTensor(words, [0, 1, 2]).to_list() == [["a"], ["bc"]]
    assert bs.VariantArray([words])[0].tolist() == ["a", "bc"]
    array = bs.TensorArray(1, object)
    array.write(0, words)
    assert array.read(0).tolist() == ["a", "bc"]


def test_elements_of_object_arrays_in_any_layout():
    words = np.array([["a", "b", "c"], ["d", "e", "f"]], object)
    for view in (words.T, words[::-1, ::2], words[:, 1], np.broadcast_to(words[0], (4, 3))):
        assert bs.RaggedTensor(view, []).values.tolist() == view.tolist()
    record = np.zeros(2, np.dtype([("x", "i1"), ("s", object)]))
    record["s"] = ["p", "q"]
    assert bs.RaggedTensor(record["s"], [0, 2]).to_list() == [["p", "q"]]
    for bad in (np.array([1, "a"], object), np.empty(2, object), np.array(["\ud800"], object)):
        with pytest.raises((bs.DTypeError, bs.InvalidArgumentError)):
            bs.RaggedTensor(bad, [0, len(bad)])


def test_strings_of_one_array_are_of_one_kind():
    with pytest.raises(bs.DTypeError, match=r"elements\[2\] holds bytes, but elements\[1\] holds str"):
        bs.VariantArray([None, np.array(["a"], object), np.array([b"\xff"], object)])
    nothing, some = np.array([], object), np.array([b"\xff"], object)
    out = bs.ragged_tensor_to_variant_gradient(bs.VariantArray([nothing, some, None]), [0, 0, 1, 2], [2])
    assert out.tolist() == [b"\xff", b""]


def test_rows_of_no_elements_may_be_huge():
    huge = np.zeros((2**62, 0), "i1")
    rt = bs.RaggedTensor(huge, [])
    assert rt[::2].values.shape == (2**61, 0) and rt[5].shape == (0,)
    with pytest.raises(bs.InvalidArgumentError, match="more than"):
        bs.ragged_tensor_from_variant(bs.VariantArray([huge, huge]), 0, 1)


def test_lists_that_do_not_become_the_dtype():
    assert from_list([[1, 2], []], "float32").values.tolist() == [1, 2]
    with pytest.raises(bs.DTypeError, match="rows is of kind float, which is not converted to int64"):
        from_list([[1.5], [2]], int)
    with pytest.raises(bs.InvalidArgumentError, match="holds 300"):
        from_list([[300]], "int8")
    endless: list = []
    endless.append(endless)
    with pytest.raises(bs.InvalidArgumentError, match="hold themselves"):
        from_list(endless)
