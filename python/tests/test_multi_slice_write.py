"""multi_slice_write: a loop of assignments in one pass."""

import threading

import backslice as bs
import numpy as np
import pytest
from dtypes import ALL, same, sample, zero
from hypothesis import given
from hypothesis import strategies as st
from strategies import slices


def assigned(shape, many, dtype, filled=0):
    """The definition."""
    out = np.full(shape, filled, dtype)
    for index, dy in many:
        out[index] = dy
    return out


@given(st.data())
def test_later_ones_win(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 6), max_size=3)))
    many = []
    for number in range(data.draw(st.integers(1, 6))):
        index = tuple(data.draw(slices(extent)) for extent in shape)
        many.append((index, np.full(np.empty(shape)[index].shape, number + 1.0)))
    assert same(bs.multi_slice_write(shape, many), assigned(shape, many, float))
    base = np.full(shape, -1.0)
    assert same(bs.multi_slice_write(shape, [(..., base), *many]), assigned(shape, many, float, -1))
    out = np.ones(shape[::-1]).T
    assert bs.multi_slice_write(shape, many, out=out) is out and np.array_equal(out, assigned(shape, many, float))


@pytest.mark.parametrize("name", ALL)
def test_every_dtype(name):
    base, row, part = sample(name, (5, 6)), sample(name, (6,), 1), sample(name, (3, 2), 2)
    many = [(..., base), (1, row), (np.s_[::2, 1:5:3], part), (np.s_[1:2], row)]
    expected = base.copy()
    for index, dy in many:
        expected[index] = dy
    assert same(bs.multi_slice_write((5, 6), many), expected)
    if name == "float8_e8m0fnu":
        with pytest.raises(bs.DTypeError, match="no zero"):
            bs.multi_slice_write((5, 6), many[1:])
    else:
        gaps = bs.multi_slice_write((5, 6), many[1:])
        assert gaps[3, 3] == zero(name) and same(gaps[1], row)


def test_many_tiles_on_many_threads():
    x, row = np.arange(2000 * 700.0).reshape(2000, 700), np.ones(700)
    many = [(..., x), *((np.s_[t : t + 9], row * t) for t in range(0, 1990, 5)), (np.s_[:, 3::7], np.array(5.0))]
    expected = assigned(x.shape, many, float)
    found = [None] * 4

    def run(i):
        found[i] = bs.multi_slice_write(x.shape, many)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(same(one, expected) for one in found)


def test_numbers_and_no_slices():
    assert bs.multi_slice_write((3,), [(0, 1), (slice(0, 2), 2)], dtype="int8").tolist() == [2, 2, 0]
    out = np.ones(3, np.int16)
    assert bs.multi_slice_write((3,), [], out=out).tolist() == [0, 0, 0]
    assert bs.multi_slice_write((0, 3), [(..., np.ones((0, 3)))]).shape == (0, 3)
    assert bs.multi_slice_write((), [(..., 1.0), ((), 2.0)], dtype="f8").tolist() == 2


def test_refusals_change_nothing():
    x, ones = np.arange(4.0), np.ones(2)
    refused = [
        (bs.InvalidArgumentError, "shape", [("1:3", np.ones(3))]),
        (bs.InvalidArgumentError, "shares memory", [("1:3", x[1:3])]),
        (bs.DTypeError, "float32", [("1:3", ones), ("0", np.float32(1))]),
        (bs.OutOfRangeError, "7", [("7", 1.0)]),
    ]
    for error, words, many in refused:
        with pytest.raises(error, match=words):
            bs.multi_slice_write((4,), many, out=x)
    with pytest.raises(bs.InvalidArgumentError, match="slices is empty"):
        bs.multi_slice_write((4,), [])
    with pytest.raises(TypeError, match="accumulate"):
        bs.multi_slice_write((4,), [("1:3", ones)], accumulate=True)
    assert x.tolist() == [0, 1, 2, 3]
