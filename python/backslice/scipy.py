"""Slices of SciPy's COO, CSR and CSC arrays and matrices, and their gradients. Imports SciPy when it is used.

>>> import numpy as np
>>> from scipy.sparse import coo_array
>>> from backslice.scipy import sparse_slice, sparse_slice_grad
>>> a = coo_array((np.array([1.0, 2.0, 3.0]), ([0, 1, 2], [0, 1, 2])), shape=(3, 3))
>>> y = sparse_slice(a, start=[1, 1], size=[2, 2])
>>> y.data
array([2., 3.])
>>> sparse_slice_grad(y, a, start=[1, 1]).data
array([0., 2., 3.])
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _core
from .errors import DTypeError, InvalidArgumentError

_FORMATS = ("coo", "csr", "csc")


def _coo(a: Any, argument: str) -> Any:
    """The entries of `a` with all their coordinates, in the order in which it holds them."""
    import scipy.sparse

    if not (scipy.sparse.issparse(a) and a.format in _FORMATS):
        raise DTypeError(f"{argument} is a {type(a).__name__}, expected a COO, CSR or CSC array or matrix of SciPy")
    return a.tocoo(copy=False)


def _coords(a: Any) -> tuple[NDArray[Any], ...]:
    return tuple(a.coords) if hasattr(a, "coords") else (a.row, a.col)


def _like(a: Any, data: NDArray[Any], coords: tuple[NDArray[Any], ...], shape: tuple[int, ...]) -> Any:
    """An array of the class of `a`, of entries in the order of that class. (SciPy's own conversions add duplicates.)"""
    if a.format == "coo":
        return type(a)((data, coords), shape=shape)
    *rows, columns = coords if a.format == "csr" else coords[::-1]
    lists = (shape[0] if a.format == "csr" else shape[1]) if rows else 1
    counts = np.bincount(rows[0], minlength=lists) if rows else [len(columns)]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(columns.dtype)
    return type(a)((data, columns, starts), shape=shape)


def _with_data(a: Any, data: NDArray[Any]) -> Any:
    """The entries of `a` with other values."""
    if a.format == "coo":
        return _like(a, data, _coords(a), a.shape)
    return type(a)((data, a.indices, a.indptr), shape=a.shape)


def sparse_slice(a: Any, start: Sequence[int], size: Sequence[int]) -> Any:
    """The window of `a` with start <= index < start + size, as an array of the same class; entries keep their order."""
    entries = _coo(a, "a")
    coords, data, shape = _core.sparse_slice(_coords(entries), entries.data, a.shape, start, size)
    return _like(a, data, coords, tuple(shape.tolist()))


def sparse_slice_grad(
    grad: Any, a: Any, start: Sequence[int], *, order: Literal["in_order", "any"] = "in_order"
) -> Any:
    """The gradient with respect to `a`, on all of its entries (zeros are kept), from the gradient of its slice.

    `grad` is a COO, CSR or CSC array with the entries of the slice; order="any" if they have moved since, as they do
    from one format to another.
    """
    entries, taken = _coo(a, "a"), _coo(grad, "grad")
    index_type = np.result_type(_coords(entries)[0], _coords(taken)[0])
    input_coords = tuple(c.astype(index_type, copy=False) for c in _coords(entries))
    output_coords = tuple(c.astype(index_type, copy=False) for c in _coords(taken))
    return _with_data(a, _core.sparse_slice_grad(taken.data, input_coords, start, output_coords, order=order))


def sparse_slice_grad_by_size(grad: Any, a: Any, start: Sequence[int], size: Sequence[int]) -> Any:
    """The same from the values alone: `grad` has one for each entry of `a` in the window, in their order."""
    entries = _coo(a, "a")
    values = np.asarray(grad)
    if values.ndim != 1:
        raise InvalidArgumentError(f"grad must be a vector of values, got shape {values.shape}")
    return _with_data(a, _core.sparse_slice_grad_by_size(values, _coords(entries), start, size))


def ragged_from_csr(a: Any) -> Any:
    """The rows of a CSR array or matrix as a RaggedTensor over its data; the splits are a copy of indptr."""
    import scipy.sparse

    from ._core import RaggedTensor

    if not (scipy.sparse.issparse(a) and a.format == "csr"):
        raise DTypeError(f"a is a {type(a).__name__}, expected a scipy.sparse.csr_array or csr_matrix")
    return RaggedTensor(a.data[: a.indptr[-1]], [a.indptr])


def csr_from_ragged(rt: Any, indices: NDArray[Any], shape: tuple[int, int]) -> Any:
    """A csr_array of the values of a RaggedTensor (ragged rank 1), with these column indices, over the same memory."""
    import scipy.sparse

    (indptr,) = rt.nested_row_splits
    return scipy.sparse.csr_array((rt.values, indices, indptr), shape=shape, copy=False)
