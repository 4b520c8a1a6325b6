"""RaggedTensor indexing; tests/oracle compares it with the live TensorFlow."""

import backslice as bs
import numpy as np
import pytest

FLAT = bs.RaggedTensor.from_list([[1, 2], [], [3, 4, 5], [6]], dtype="float64")
DEEP = bs.RaggedTensor.from_list([[[1, 2], [3]], [], [[], [4, 5, 6]]], dtype="float64")
PAIRS = bs.RaggedTensor(np.arange(12.0).reshape(6, 2), [0, 2, 2, 5, 6])


def listed(taken):
    return taken.to_list() if isinstance(taken, bs.RaggedTensor) else np.asarray(taken).tolist()


@pytest.mark.parametrize(
    ("rt", "index", "expected"),
    [
        (FLAT, np.s_[2, 1], 4),
        (FLAT, np.s_[-2, -1], 5),
        (FLAT, np.s_[2, 1:], [4, 5]),
        (FLAT, np.s_[2, ::-1], [5, 4, 3]),
        (FLAT, np.s_[:, 1:], [[2], [], [4, 5], []]),
        (FLAT, np.s_[:, -1:], [[2], [], [5], [6]]),
        (FLAT, np.s_[::-1, ::-2], [[6], [5, 3], [], [2]]),
        (FLAT, np.s_[..., :1], [[1], [], [3], [6]]),
        (FLAT, "::2, :2", [[1, 2], [3, 4]]),
        (FLAT, np.s_[None], [[[1, 2], [], [3, 4, 5], [6]]]),
        (FLAT, np.s_[2:, None], [[[3, 4, 5]], [[6]]]),
        (FLAT, np.s_[2:, :, None], [[[3], [4], [5]], [[6]]]),
        (FLAT, np.s_[0, None], [[1, 2]]),
        (DEEP, np.s_[2, 1], [4, 5, 6]),
        (DEEP, np.s_[2, 1, 0], 4),
        (DEEP, np.s_[None, 2], [[[], [4, 5, 6]]]),
        (DEEP, np.s_[0, :, :1], [[1], [3]]),
        (DEEP, np.s_[:, ::-1, 1:], [[[], [2]], [], [[5, 6], []]]),
        (PAIRS, np.s_[:, :, 0], [[0, 2], [], [4, 6, 8], [10]]),
        (PAIRS, np.s_[..., -1], [[1, 3], [], [5, 7, 9], [11]]),
        (PAIRS, np.s_[2, 0, 1], 5),
        (PAIRS, np.s_[::2, 1:, ::-1], [[[3, 2]], [[7, 6], [9, 8]]]),
    ],
)
def test_indices_take_what_nested_lists_have(rt, index, expected):
    taken = rt[index]
    assert listed(taken) == expected
    values = np.asarray(taken.values if isinstance(taken, bs.RaggedTensor) else taken)
    dy = np.random.default_rng(0).integers(1, 9, values.shape).astype(float)
    dx = rt.slice_grad(index, dy)
    assert dx.shape == rt.values.shape and np.sum(dx * rt.values) == np.sum(values * dy)
    assert np.count_nonzero(dx) == dy.size
    out = np.full_like(dx, 2)
    assert rt.slice_grad(index, dy, out=out, accumulate=True) is out and np.array_equal(out, dx + 2)
    if isinstance(taken, bs.RaggedTensor):
        assert np.array_equal(rt.slice_grad(index, bs.RaggedTensor(dy, taken.nested_row_splits)), dx)


@pytest.mark.parametrize(
    ("rt", "index", "error", "says"),
    [
        (FLAT, np.s_[:, 0], bs.InvalidArgumentError, "index 0 is for axis 1, which is ragged.* takes a slice"),
        (FLAT, "..., 0", bs.InvalidArgumentError, "index 0 is for axis 1, which is ragged"),
        (DEEP, np.s_[0, :, 0], bs.InvalidArgumentError, "index 0 is for axis 2, which is ragged"),
        (FLAT, np.s_[None, 0], bs.InvalidArgumentError, "put None after them"),
        (FLAT, np.s_[:, ::0], bs.InvalidArgumentError, "step cannot be zero"),
        (FLAT, np.s_[0, 2], bs.OutOfRangeError, "index 2 is out of bounds for axis 1 with size 2"),
        (FLAT, np.s_[4], bs.OutOfRangeError, "row 4 is out of bounds for 4 rows"),
        (FLAT, 2**70, bs.OutOfRangeError, "out of bounds"),
        (DEEP, np.s_[1, 0], bs.OutOfRangeError, "index 0 is out of bounds for axis 1: the row has 0 items"),
        (FLAT, np.s_[:, :, :], bs.OutOfRangeError, "has 2 axes, but 3 were indexed"),
        (FLAT, np.s_[..., ...], bs.OutOfRangeError, "single ellipsis"),
        (PAIRS, np.s_[:, :, 2], bs.OutOfRangeError, "index 2 is out of bounds for axis 2 with size 2"),
        (FLAT, np.s_[:, [0]], bs.UnimplementedError, "advanced indexing"),
        (FLAT, np.s_[:, np.array([True])], bs.UnimplementedError, "advanced indexing"),
        (FLAT, (None,) * 40, bs.InvalidArgumentError, "at most 32"),
        (FLAT, np.s_[:, 1.5:], bs.DTypeError, "not an integer"),
    ],
)
def test_what_cannot_be_indexed_is_said(rt, index, error, says):
    for call in (lambda: rt[index], lambda: rt.slice_grad(index, np.ones(4))):
        with pytest.raises(error, match=says):
            call()


@pytest.mark.parametrize("splits", ["int32", "int64"])
def test_strings_and_small_floats_move(splits):
    words = bs.RaggedTensor(np.array(["a", "bc", "d", "e"], object), np.array([0, 2, 2, 4], splits))
    assert words[::-1, ::-1].to_list() == [["e", "d"], [], ["bc", "a"]] and words[0, 1] == "bc"
    assert words[:, :1].nested_row_splits[0].dtype == splits
    with pytest.raises(bs.DTypeError, match="strings, which have no gradient"):
        words.slice_grad(np.s_[:, :1], np.array(["a", "d"], object))


def test_a_dense_tensor_stays_one_but_for_its_rows():
    dense = bs.RaggedTensor(np.arange(6).reshape(3, 2), [])
    assert isinstance(dense[1:, 0], bs.RaggedTensor) and dense[1:, 0].values.tolist() == [2, 4]
    assert dense[1, ::-1].tolist() == [3, 2] and dense[1, 0] == 2


def test_values_that_lie_together_are_shared():
    values = np.arange(6.0)
    rt = bs.RaggedTensor(values, [0, 2, 2, 5, 6])
    assert all(np.shares_memory(rt[i].values, values) for i in (np.s_[1:], np.s_[:, None], np.s_[..., None]))
    assert np.shares_memory(rt[2, 1:], values) and not rt[2, 1:].flags.writeable


def test_a_selection_of_the_rows_is_an_index():
    rows = bs.Selection.from_index((4,), "::-2")
    assert FLAT[rows] == FLAT[::-2]
    with pytest.raises(bs.InvalidArgumentError, match="not for shape"):
        FLAT[bs.Selection.from_index((3,), "::-2")]


def test_what_is_wrong_with_a_gradient_is_told_of_dy():
    rt = bs.RaggedTensor.from_list([[1.0, 2.0], [3.0]])
    with pytest.raises(bs.InvalidArgumentError, match=r"^shape of dy was \[2\] instead of \[1\], that of the slice's"):
        rt.slice_grad(np.s_[:, 1:], np.ones(2))
    with pytest.raises(bs.DTypeError, match=r"^dy has dtype float32, expected float64"):
        rt.slice_grad(np.s_[:, 1:], np.ones(1, np.float32))
    with pytest.raises(bs.InvalidArgumentError, match=r"^out shares memory with dy"):
        dy = np.ones(3)
        rt.slice_grad(np.s_[:], dy, out=dy)
