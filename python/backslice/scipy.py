"""Slices of SciPy's sparse arrays and their gradients, and CSR rows as ragged tensors.

SciPy is imported when a function is called.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _core
from .errors import DTypeError, InvalidArgumentError


def _check(a: Any, argument: str) -> None:
    import scipy.sparse

    if not (scipy.sparse.issparse(a) and a.format == "coo"):
        raise DTypeError(f"{argument} is a {type(a).__name__}, expected a scipy.sparse.coo_array or coo_matrix")


def _coords(a: Any) -> tuple[NDArray[Any], ...]:
    return tuple(a.coords) if hasattr(a, "coords") else (a.row, a.col)


def _like(a: Any, data: NDArray[Any], coords: tuple[NDArray[Any], ...], shape: tuple[int, ...]) -> Any:
    return type(a)((data, coords), shape=shape)


def sparse_slice(a: Any, start: Sequence[int], size: Sequence[int]) -> Any:
    """Slice a sparse array by a window.

    Parameters
    ----------
    a : coo_array or coo_matrix
        The array to slice. Its entries may be in any order.
    start : sequence of int
        Where the window begins, one entry per axis.
    size : sequence of int
        The size of the window, one entry per axis.

    Returns
    -------
    coo_array or coo_matrix
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
    _check(a, "a")
    coords, data, shape = _core.sparse_slice(_coords(a), a.data, a.shape, start, size)
    return _like(a, data, coords, tuple(shape.tolist()))


def sparse_slice_grad(
    grad: Any, a: Any, start: Sequence[int], *, order: Literal["in_order", "any"] = "in_order"
) -> Any:
    """The gradient of :func:`sparse_slice` with respect to `a`.

    Parameters
    ----------
    grad : coo_array or coo_matrix
        The gradient of the slice, with the same entries as the slice.
    a : coo_array or coo_matrix
        The array that was sliced.
    start : sequence of int
        Where the window began.
    order : {"in_order", "any"}, optional
        "any" if the entries of `grad` are no longer in the order of those of `a`.

    Returns
    -------
    coo_array or coo_matrix
        The gradient, with all entries of `a`: those outside the window are stored zeros.

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
    _check(a, "a")
    _check(grad, "grad")
    index_type = np.result_type(_coords(a)[0], _coords(grad)[0])
    input_coords = tuple(c.astype(index_type, copy=False) for c in _coords(a))
    output_coords = tuple(c.astype(index_type, copy=False) for c in _coords(grad))
    data = _core.sparse_slice_grad(grad.data, input_coords, start, output_coords, order=order)
    return _like(a, data, _coords(a), a.shape)


def sparse_slice_grad_by_size(grad: Any, a: Any, start: Sequence[int], size: Sequence[int]) -> Any:
    """The gradient of :func:`sparse_slice`, from the gradients of the slice's values alone.

    Parameters
    ----------
    grad : array_like
        One gradient per entry of `a` inside the window, in their order.
    a : coo_array or coo_matrix
        The array that was sliced.
    start : sequence of int
        Where the window began.
    size : sequence of int
        The size of the window.

    Returns
    -------
    coo_array or coo_matrix
        The gradient, with all entries of `a`.

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
    _check(a, "a")
    values = np.asarray(grad)
    if values.ndim != 1:
        raise InvalidArgumentError(f"grad must be a vector of values, got shape {values.shape}")
    return _like(a, _core.sparse_slice_grad_by_size(values, _coords(a), start, size), _coords(a), a.shape)


def ragged_from_csr(a: Any) -> Any:
    """The rows of a CSR array as a ragged tensor over the same data.

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

    from ._core import RaggedTensor

    if not (scipy.sparse.issparse(a) and a.format == "csr"):
        raise DTypeError(f"a is a {type(a).__name__}, expected a scipy.sparse.csr_array or csr_matrix")
    return RaggedTensor(a.data[: a.indptr[-1]], [a.indptr])


def csr_from_ragged(rt: Any, indices: NDArray[Any], shape: tuple[int, int]) -> Any:
    """A CSR array over the values of a ragged tensor.

    Parameters
    ----------
    rt : RaggedTensor
        Of ragged rank 1. Its values are shared.
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
