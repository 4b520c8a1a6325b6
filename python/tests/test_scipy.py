"""SciPy's COO arrays and matrices."""

import backslice as bs
import numpy as np
import pytest
from backslice.scipy import sparse_slice, sparse_slice_grad, sparse_slice_grad_by_size

sparse = pytest.importorskip("scipy.sparse")


@pytest.mark.parametrize("kind", ["coo_array", "coo_matrix"])
def test_slice_and_gradient(kind):
    random = np.random.default_rng(0)
    dense = random.integers(0, 3, (7, 9)) * random.random((7, 9))
    a = getattr(sparse, kind)(dense)
    y = sparse_slice(a, [2, 1], [3, 5])
    assert type(y) is type(a)
    assert np.array_equal(y.toarray(), dense[2:5, 1:6])
    dx = sparse_slice_grad(y, a, [2, 1])
    expected = np.zeros_like(dense)
    expected[2:5, 1:6] = dense[2:5, 1:6]
    assert np.array_equal(dx.toarray(), expected)
    assert dx.nnz == a.nnz
    moved = random.permutation(y.nnz)
    shuffled = type(y)((y.data[moved], (y.row[moved], y.col[moved])), shape=y.shape)
    assert np.array_equal(sparse_slice_grad(shuffled, a, [2, 1], order="any").toarray(), expected)
    assert np.array_equal(sparse_slice_grad_by_size(y.data, a, [2, 1], [3, 5]).toarray(), expected)


def test_refused():
    a = sparse.coo_array(np.eye(3))
    with pytest.raises(bs.DTypeError, match="coo_array"):
        sparse_slice(a.tocsr(), [0, 0], [1, 1])
    with pytest.raises(bs.InvalidArgumentError, match="start has 1 items"):
        sparse_slice(a, [0], [1, 1])
    with pytest.raises(bs.InternalError, match="aren't all propagated"):
        sparse_slice_grad(sparse_slice(a, [1, 1], [2, 2]), a, [0, 1])
