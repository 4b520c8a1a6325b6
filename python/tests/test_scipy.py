"""SciPy's COO, CSR and CSC arrays and matrices."""

import backslice as bs
import numpy as np
import pytest
from backslice.scipy import sparse_slice, sparse_slice_grad, sparse_slice_grad_by_size

sparse = pytest.importorskip("scipy.sparse")


@pytest.mark.parametrize("kind", ["coo_array", "coo_matrix", "csr_array", "csr_matrix", "csc_array", "csc_matrix"])
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
    entries = y.tocoo()
    shuffled = sparse.coo_array((y.data[moved], (entries.row[moved], entries.col[moved])), shape=y.shape)
    assert np.array_equal(sparse_slice_grad(shuffled, a, [2, 1], order="any").toarray(), expected)
    assert np.array_equal(sparse_slice_grad_by_size(y.data, a, [2, 1], [3, 5]).toarray(), expected)


@pytest.mark.parametrize("kind", ["csr_array", "csc_array"])
def test_duplicates_and_zeros_are_entries_of_their_own(kind):
    a = getattr(sparse, kind)(([1.0, 2.0, 0.0, 3.0], [1, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    y = sparse_slice(a, [0, 0], [2, 2])
    assert y.data.tolist() == [1, 2, 0, 3] and y.indices.tolist() == [1, 1, 0, 1] and y.indptr.tolist() == [0, 2, 4]
    assert sparse_slice_grad(y, a, [0, 0]).data.tolist() == [1, 2, 0, 3]


@pytest.mark.parametrize("kind", ["csr_array", "csc_array"])
def test_windows_of_nothing(kind):
    a = getattr(sparse, kind)(np.eye(3))
    y = sparse_slice(a, [0, 1], [1, 2])
    assert y.nnz == 0 and y.shape == (1, 2)
    assert sparse_slice_grad(y, a, [0, 1]).data.tolist() == [0, 0, 0]
    assert sparse_slice(a, [3, 3], [1, 1]).shape == (0, 0)


def test_vectors_in_rows():
    try:
        a = sparse.csr_array(np.array([0.0, 1, 2]))
    except ValueError:
        pytest.skip("this SciPy has no CSR vectors")
    y = sparse_slice(a, [1], [2])
    assert y.shape == (2,) and y.toarray().tolist() == [1, 2]
    assert sparse_slice_grad(y, a, [1]).toarray().tolist() == [0, 1, 2]


def test_refused():
    a = sparse.coo_array(np.eye(3))
    with pytest.raises(bs.DTypeError, match=r"a is of type lil_array, .* CSC array .*; convert it with a.tocsr\(\)$"):
        sparse_slice(a.tolil(), [0, 0], [1, 1])
    with pytest.raises(bs.DTypeError, match=r"is of type coo_array, expected an array; backslice\.scipy has"):
        bs.sparse_slice_grad(a, a.coords, [0, 0], a.coords)
    with pytest.raises(bs.InvalidArgumentError, match="start has 1 item,"):
        sparse_slice(a, [0], [1, 1])
    with pytest.raises(bs.InternalError, match="aren't all propagated"):
        sparse_slice_grad(sparse_slice(a, [1, 1], [2, 2]), a, [0, 1])
