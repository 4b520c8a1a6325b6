"""multi_slice_grad: the sum of the gradients of many slices."""

import re

import backslice as bs
import dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import slices


@st.composite
def lists_of_slices(draw):
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    index = st.tuples(*(slices(n) for n in shape))
    return shape, draw(st.lists(index, min_size=1, max_size=8))


@settings(max_examples=300)
@given(lists_of_slices(), st.integers(0, 2**32))
def test_is_the_sum_of_the_gradients(case, seed):
    shape, indices = case
    random = np.random.default_rng(seed)
    expected, pairs = np.zeros(shape, int), []
    for index in indices:
        dy = random.integers(-100, 100, expected[index].shape)
        expected[index] += dy
        pairs.append((index, dy))
    assert np.array_equal(bs.multi_slice_grad(shape, pairs), expected)
    out = random.integers(-100, 100, shape)
    before = out.copy()
    bs.multi_slice_grad(shape, pairs, out=out, accumulate=True)
    assert np.array_equal(out, before + expected)
    assert np.array_equal(bs.multi_slice_grad(shape, pairs, out=out), expected)


def test_mixed_ranks_and_dialects():
    pairs = [
        (np.s_[1], np.ones(5)),
        ("2:4, None, ::2", np.ones((2, 1, 3))),
        (bs.Selection.from_tf((4, 5), [0, 2], [0, 3], [1, 1], begin_mask=1, end_mask=1), np.ones((4, 1))),
        (bs.Selection.from_onnx((4, 5), [4], [-9], [1], [-2]), np.ones((4, 3))),
    ]
    expected = np.zeros((4, 5))
    expected[1] += 1
    expected[2:4, ::2] += 1
    expected[:, 2] += 1
    expected[:, ::2] += 1
    assert np.array_equal(bs.multi_slice_grad((4, 5), pairs), expected)


def test_sums_add_in_list_order_and_the_first_is_copied():
    big, one = np.array([2.0**60]), np.array([1.0])
    assert bs.multi_slice_grad(1, [(":", big), (":", one), (":", -big)])[0] == 0
    assert bs.multi_slice_grad(1, [(":", big), (":", -big), (":", one)])[0] == 1
    assert np.signbit(bs.multi_slice_grad(2, [("0:1", np.array([-0.0]))])).tolist() == [True, False]
    half = np.array([2048], np.float16)
    ones = [(":", np.ones(1, np.float16))] * 3
    assert bs.multi_slice_grad(1, [(":", half), *ones])[0] == 2048


def test_ten_thousand_slices():
    random = np.random.default_rng(0)
    starts = random.integers(0, 990, 10_000)
    expected = np.zeros((1000, 8), np.int64)
    pairs = []
    for start in starts:
        dy = random.integers(0, 9, (10, 8))
        expected[start : start + 10] += dy
        pairs.append((slice(start, start + 10), dy))
    assert np.array_equal(bs.multi_slice_grad((1000, 8), pairs), expected)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_do_not_depend_on_threads(threads):
    random = np.random.default_rng(1)
    pairs = [(np.s_[:, t : t + 9], random.random((20, 9, 300), np.float32)) for t in range(60)]
    before = bs.get_num_threads()
    try:
        bs.set_num_threads(threads)
        many = bs.multi_slice_grad((20, 70, 300), pairs)
    finally:
        bs.set_num_threads(before)
    expected = np.zeros((20, 70, 300), np.float32)
    for index, dy in pairs:
        expected[index] += dy
    assert many.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", dtypes.ALL)
def test_every_dtype_where_nothing_overlaps(name):
    dy = dtypes.sample(name, (2, 3))
    if name == "float8_e8m0fnu":
        with pytest.raises(bs.DTypeError, match="no zero"):
            bs.multi_slice_grad((6, 3), [("0:2", dy), ("3:5", dy)])
        assert bs.multi_slice_grad((4, 3), [("0:2", dy), ("2:4", dy)]).shape == (4, 3)
        return
    expected = np.full((6, 3), dtypes.zero(name), dy.dtype)
    expected[0:2], expected[5:3:-1] = dy, dy
    assert dtypes.same(bs.multi_slice_grad((6, 3), [("0:2", dy), ("5:3:-1", dy)]), expected)


@pytest.mark.parametrize("name", sorted(set(dtypes.ALL) - set(dtypes.ADDABLE)))
def test_what_cannot_be_added_must_not_overlap(name):
    dy = dtypes.sample(name, (2,))
    out = dtypes.sample(name, (4,), seed=3)
    before = out.copy()
    with pytest.raises(bs.DTypeError, match="overlap"):
        bs.multi_slice_grad(4, [("0:2", dy), ("1:3", dy)], out=out)
    assert dtypes.same(out, before)


ERRORS = [
    (lambda: bs.multi_slice_grad(4, []), bs.InvalidArgumentError, "nothing determines the dtype"),
    (lambda: bs.multi_slice_grad(4, 3), bs.DTypeError, r"slices is 3, expected a list of pairs \(index, dy\)"),
    (lambda: bs.multi_slice_grad(4, {"a": 1}), bs.DTypeError, r"slices\[0\] is 'a', expected a pair \(index, dy\)"),
    (lambda: bs.multi_slice_grad(4, [(1,)]), bs.InvalidArgumentError, r"slices\[0\] has 1 items, expected a pair"),
    (lambda: bs.multi_slice_grad(4, [("1:3", np.ones(3))]), bs.InvalidArgumentError, r"slices\[0\].dy was \[3\]"),
    (
        lambda: bs.multi_slice_grad(4, [(0, np.ones(())), (1, np.int64(1))]),
        bs.DTypeError,
        r"slices\[1\].dy has dtype int64",
    ),
    (lambda: bs.multi_slice_grad(4, [(7, 1.0)]), bs.OutOfRangeError, "index 7"),
    (lambda: bs.multi_slice_grad(4, [(0, 1.0)], accumulate=True), bs.InvalidArgumentError, "needs out"),
    (lambda: bs.multi_slice_grad(4, [(0, 1.0)], out=np.ones(5)), bs.InvalidArgumentError, r"\[5\] instead of \[4\]"),
    (lambda: bs.multi_slice_grad(4, [(0, "a"), (1, b"b")]), bs.DTypeError, "slices"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS, ids=[e[2] for e in ERRORS])
def test_errors_name_the_slice(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_out_must_not_share_memory_with_any_dy():
    memory = np.ones(6)
    with pytest.raises(bs.InvalidArgumentError, match=r"out shares memory with slices\[1\].dy"):
        bs.multi_slice_grad(4, [("0:2", np.ones(2)), ("2:4", memory[2:4])], out=memory[:4])


@pytest.mark.parametrize("dtype", ["object", "<U3", "|S3", ">f4"])
def test_elements_that_cannot_be_added_are_called_by_their_numpy_dtype(dtype):
    dy, out = np.array(["1", "2"]).astype(dtype), np.zeros(4, dtype)
    slices = [("0:2", dy), ("1:3", dy)]
    selection = bs.Selection.from_index((4,), "0:2")
    for call in (
        lambda: bs.multi_slice_grad((4,), slices),
        lambda: bs.multi_slice_grad((4,), slices, out=out),
        lambda: bs.multi_slice_grad((4,), slices[:1], out=out, accumulate=True),
        lambda: bs.slice_grad(dy, (4,), "0:2", out=out, accumulate=True),
        lambda: selection.prepare(dtype).accumulate(dy, out),
    ):
        with pytest.raises(bs.DTypeError, match=f"elements of dtype {re.escape(dtype)} cannot be added"):
            call()
