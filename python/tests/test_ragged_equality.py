"""Equality of ragged tensors follows the rule of C++: the same dtype, rows and values, bit for bit."""

import backslice as bs
import dtypes
import ml_dtypes
import numpy as np
import pytest

SPLITS = [0, 2, 2, 3]
NAN = np.float32("nan")


def ragged(values, splits=SPLITS, dtype=None):
    return bs.RaggedTensor(np.array(values, dtype), splits)


@pytest.mark.parametrize("name", dtypes.ALL)
def test_equal_where_nothing_differs(name):
    values = dtypes.sample(name, (3,))
    assert bs.RaggedTensor(values, SPLITS) == bs.RaggedTensor(values.copy(), SPLITS)
    assert bs.RaggedTensor(values, SPLITS) != bs.RaggedTensor(values[:2], [0, 2, 2, 2])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (ragged([1, 2, 3]), ragged([1, 2, 3], np.array(SPLITS, np.int32))),
        (ragged([1, NAN, 3]), ragged([1, NAN, 3])),
        (ragged([1, 2, 3]), bs.RaggedTensor(np.array([3, 2, 1])[::-1], SPLITS)),
        (ragged(["a", "b", "c"], dtype=object), ragged(["a", "b", "c"], dtype=object)),
        (ragged([], [0], object), ragged([], [0], object)),
    ],
    ids=["splits of another dtype", "NaN", "other strides", "strings", "no strings"],
)
def test_equal(a, b):
    assert a == b and b == a


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (ragged([1, 2, 3], dtype="i4"), ragged([1, 2, 3], dtype="i8")),
        (ragged([1, 2, 3], dtype="f4"), ragged([1, 2, 3], dtype=">f4")),
        (ragged([0, 0, 0], dtype=">f4"), ragged([0, 0, 0], dtype=">i4")),
        (ragged(["", "", ""], dtype="S4"), ragged(["", "", ""], dtype="U1")),
        (ragged([0.0, 2, 3]), ragged([-0.0, 2, 3])),
        (ragged([1, 2, 3], dtype="f2"), ragged([1, 2, 3], dtype=ml_dtypes.bfloat16)),
        (ragged(["a", "b", "c"], dtype=object), ragged([b"a", b"b", b"c"], dtype=object)),
        (ragged([1, 2, 3]), ragged([1, 2, 4])),
        (ragged([1, 2, 3]), ragged([1, 2, 3], [0, 1, 2, 3])),
        (ragged([1, 2, 3]), ragged([1, 2, 3], [[0, 3], SPLITS])),
        (ragged([[1, 2]], [0, 1]), ragged([[1], [2]], [0, 2])),
    ],
    ids=["dtype", "byte order", "dtype of the other byte order", "width", "sign of zero", "kind of float",
         "str and bytes", "value", "rows", "ragged rank", "inner shape"],
)  # fmt: skip
def test_not_equal(a, b):
    assert a != b and b != a


@pytest.mark.parametrize("other", [None, 3, [[1, 2], [], [3]], np.arange(3), bs.RaggedTensor.__new__(bs.RaggedTensor)])
def test_nothing_else_is_equal(other):
    rt = ragged([1, 2, 3])
    assert rt != other
