"""Slices of SciPy's COO, CSR and CSC arrays and their gradients, and CSR rows as ragged tensors.

SciPy is imported when a function is called.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import RaggedTensor
from .errors import DTypeError, InvalidArgumentError
from .suggestions import checked_keywords

_FORMATS = ("coo", "csr", "csc")


def _coo(a: Any, argument: str) -> Any:
    """Return the entries of `a` with all their coordinates, in the order of `a`."""
    import scipy.sparse

    if not (scipy.sparse.issparse(a) and a.format in _FORMATS):
        hint = f"; convert it with {argument}.tocsr()" if scipy.sparse.issparse(a) else ""
        raise DTypeError(
            f"{argument} is of type {type(a).__name__}, expected a COO, CSR or CSC array or matrix of SciPy{hint}"
        )
    return a.tocoo(copy=False)


def _coords(a: Any) -> tuple[NDArray[Any], ...]:
    return tuple(a.coords) if hasattr(a, "coords") else (a.row, a.col)


def _like(a: Any, data: NDArray[Any], coords: tuple[NDArray[Any], ...], shape: tuple[int, ...]) -> Any:
    """Return an array of the class of `a`, with entries in the order of that class. (SciPy's own conversions add
    duplicates.)"""
    if a.format == "coo":
        return type(a)((data, coords), shape=shape)
    *rows, columns = coords if a.format == "csr" else coords[::-1]
    lists = (shape[0] if a.format == "csr" else shape[1]) if rows else 1
    counts = np.bincount(rows[0], minlength=lists) if rows else [len(columns)]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(columns.dtype)
    return type(a)((data, columns, starts), shape=shape)


def _with_data(a: Any, data: NDArray[Any]) -> Any:
    """Return the entries of `a` with other values."""
    if a.format == "coo":
        return _like(a, data, _coords(a), a.shape)
    return type(a)((data, a.indices, a.indptr), shape=a.shape)


@checked_keywords
def sparse_slice(a: Any, start: Sequence[int], size: Sequence[int]) -> Any:
    """Slice a sparse array by a window.

    Parameters
    ----------
    a : sparse array or matrix
        The array to slice: COO, CSR or CSC. Its entries may be in any order.
    start : sequence of int
        The beginning of the window, one entry per axis.
    size : sequence of int
        The size of the window, one entry per axis.

    Returns
    -------
    sparse array or matrix
        The entries with ``start <= index < start + size``, in their order, as an array of the class of `a`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import coo_array
    >>> from backslice.scipy import sparse_slice
    >>> a = coo_array(np.diag([1.0, 2.0, 3.0]))
    >>> y = sparse_slice(a, start=[1, 1], size=[2, 2])
    >>> y.shape, y.data
    ((2, 2), array([2., 3.]))
    """
    entries = _coo(a, "a")
    coords, data, shape = _core.sparse_slice(_coords(entries), entries.data, a.shape, start, size)
    return _like(a, data, coords, tuple(shape.tolist()))


@checked_keywords
def sparse_slice_grad(
    grad: Any, a: Any, start: Sequence[int], *, order: Literal["in_order", "any"] = "in_order"
) -> Any:
    """Compute the gradient of :func:`sparse_slice` with respect to `a`.

    Parameters
    ----------
    grad : sparse array or matrix
        The gradient of the slice, COO, CSR or CSC, with the same entries as the slice.
    a : sparse array or matrix
        The array that was sliced.
    start : sequence of int
        The beginning of the window.
    order : {"in_order", "any"}, optional
        "any" if the entries of `grad` are no longer in the order of those of `a`, as when the formats differ.

    Returns
    -------
    sparse array or matrix
        The gradient, of the class of `a` and with all of its entries. Entries outside the window are stored zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import coo_array
    >>> from backslice.scipy import sparse_slice, sparse_slice_grad
    >>> a = coo_array(np.diag([1.0, 2.0, 3.0]))
    >>> dy = sparse_slice(a, start=[1, 1], size=[2, 2])
    >>> sparse_slice_grad(dy, a, start=[1, 1]).data
    array([0., 2., 3.])
    """
    entries, taken = _coo(a, "a"), _coo(grad, "grad")
    index_type = np.result_type(_coords(entries)[0], _coords(taken)[0])
    input_coords = tuple(c.astype(index_type, copy=False) for c in _coords(entries))
    output_coords = tuple(c.astype(index_type, copy=False) for c in _coords(taken))
    return _with_data(a, _core.sparse_slice_grad(taken.data, input_coords, start, output_coords, order=order))


@checked_keywords
def sparse_slice_grad_by_size(grad: Any, a: Any, start: Sequence[int], size: Sequence[int]) -> Any:
    """Compute the gradient of :func:`sparse_slice` from the gradients of the slice's values alone.

    Parameters
    ----------
    grad : array_like
        One gradient per entry of `a` inside the window, in their order.
    a : sparse array or matrix
        The array that was sliced: COO, CSR or CSC.
    start : sequence of int
        The beginning of the window.
    size : sequence of int
        The size of the window.

    Returns
    -------
    sparse array or matrix
        The gradient, of the class of `a` and with all of its entries.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import coo_array
    >>> from backslice.scipy import sparse_slice_grad_by_size
    >>> a = coo_array(np.diag([1.0, 2.0, 3.0]))
    >>> dx = sparse_slice_grad_by_size([5.0, 7.0], a, start=[1, 1], size=[2, 2])
    >>> dx.data
    array([0., 5., 7.])
    """
    entries = _coo(a, "a")
    values = np.asarray(grad)
    if values.ndim != 1:
        raise InvalidArgumentError(f"grad must be a vector of values, got shape {values.shape}")
    return _with_data(a, _core.sparse_slice_grad_by_size(values, _coords(entries), start, size))


@checked_keywords
def ragged_from_csr(a: Any) -> RaggedTensor:
    """Return the rows of a CSR array as a ragged tensor over the same data.

    Parameters
    ----------
    a : csr_array or csr_matrix
        Its data are shared, its `indptr` is copied.

    Returns
    -------
    RaggedTensor
        The stored values, row by row.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from backslice.scipy import ragged_from_csr
    >>> a = csr_array([[0.0, 1.0], [0.0, 0.0], [2.0, 3.0]])
    >>> ragged_from_csr(a).to_list()
    [[1.0], [], [2.0, 3.0]]
    """
    import scipy.sparse

    if not (scipy.sparse.issparse(a) and a.format == "csr"):
        raise DTypeError(f"a is of type {type(a).__name__}, expected a scipy.sparse.csr_array or csr_matrix")
    return RaggedTensor(a.data[: a.indptr[-1]], [a.indptr])


@checked_keywords
def csr_from_ragged(rt: RaggedTensor, indices: NDArray[Any], shape: tuple[int, int]) -> Any:
    """Return a CSR array over the values of a ragged tensor.

    Parameters
    ----------
    rt : RaggedTensor
        A tensor of ragged rank 1. Its values are shared.
    indices : ndarray
        The column of each value.
    shape : tuple of int
        The shape of the result.

    Returns
    -------
    csr_array

    Examples
    --------
    >>> import numpy as np
    >>> from backslice.ragged import from_list
    >>> from backslice.scipy import csr_from_ragged
    >>> rt = from_list([[1.0], [2.0, 3.0]])
    >>> csr_from_ragged(rt, np.array([1, 0, 1]), (2, 2)).toarray()
    array([[0., 1.],
           [2., 3.]])
    """
    import scipy.sparse

    (indptr,) = rt.nested_row_splits
    return scipy.sparse.csr_array((rt.values, indices, indptr), shape=shape, copy=False)
