"""Slices of sparse tensors and their gradients."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .types import Array, Indices, Ints, Output, SupportsExtents

def sparse_slice(
    indices: Indices, values: Array, shape: Ints | SupportsExtents, start: Ints, size: Ints
) -> tuple[Any, NDArray[Any], NDArray[np.int64]]:
    """Slice a sparse (COO) tensor, as TensorFlow's SparseSlice does.

    Parameters
    ----------
    indices : array_like or tuple of array_like
        The positions of the entries: a matrix of shape (entries, rank) of
        int32 or int64, or a tuple with one column per axis, as SciPy has
        them.
    values : array_like
        The entries: an array of shape (entries,) or (entries, ...), of any
        dtype.
    shape : sequence of int or tf.TensorShape
        The dense shape of the tensor.
    start : sequence of int
        The beginning of the slice, one entry per axis.
    size : sequence of int
        The extent of the slice, one per axis. What lies beyond the tensor
        is left out.

    Returns
    -------
    indices : ndarray or tuple of ndarray
        The positions of the entries with ``start <= index < start + size``,
        less `start`, in the form of the input.
    values : ndarray
        Their values.
    shape : ndarray of int64
        The dense shape of the slice.

    Raises
    ------
    InvalidArgumentError
        The arguments have different numbers of entries or axes, or a size
        is negative.
    DTypeError
        The indices are not int32 or int64, or the values are of a dtype
        that backslice does not move.

    See Also
    --------
    sparse_slice_grad, sparse_slice_grad_by_size : The gradient with respect to the values.

    Examples
    --------
    >>> entries = np.array([[0, 1], [1, 0], [2, 2]])
    >>> indices, values, shape = bs.sparse_slice(
    ...     entries, [5.0, 6.0, 7.0], shape=[3, 3], start=[1, 0], size=[2, 3]
    ... )
    >>> indices.tolist(), values.tolist(), shape.tolist()
    ([[0, 0], [1, 2]], [6.0, 7.0], [2, 3])
    """

def sparse_slice_grad(
    backprop_val_grad: Array,
    input_indices: Indices,
    input_start: Ints,
    output_indices: Indices,
    *,
    order: Literal["in_order", "any"] = "in_order",
    out: Output | None = None,
    accumulate: bool = False,
) -> NDArray[Any]:
    """Compute TensorFlow's SparseSliceGrad: the gradient of `sparse_slice` with respect to the values.

    Parameters
    ----------
    backprop_val_grad : array_like
        The gradient of the slice's values: an array of numbers with one row
        per row of `output_indices`.
    input_indices : array_like or tuple of array_like
        The positions of the entries that were sliced: a matrix of shape
        (entries, rank), or a tuple with one column per axis.
    input_start : sequence of int
        The beginning of the slice, one entry per axis.
    output_indices : array_like or tuple of array_like
        The positions of the slice's entries, as `sparse_slice` returned
        them.
    order : {"in_order", "any"}, default: "in_order"
        How rows of the slice find the rows they came from. "in_order": each
        goes to the first matching input row after the one before it, as in
        TensorFlow. "any": the n-th row with an index goes to the n-th input
        row with that index, wherever they are.
    out : ndarray or other writable array with DLPack, optional
        Where to write the gradient: an array with one row per input entry
        and the dtype of `backprop_val_grad`, which shares no memory with
        the arguments.
    accumulate : bool, default: False
        Add the gradient to `out`. Where Ctrl-C or an error ends the call, the
        exception's attribute `output_written` says whether some was added; if
        so, calling again would add that twice.

    Returns
    -------
    ndarray
        A new array with one row per input entry, or `out`; zero for entries
        outside the slice.

    Raises
    ------
    InvalidArgumentError
        The arguments have different numbers of entries or axes, arrays
        overlap, or `accumulate` is given without `out`.
    InternalError
        A row of the gradient matches no input entry, as in TensorFlow.
    DTypeError
        The indices are not int32 or int64, or the gradient is not one of
        numbers.

    See Also
    --------
    sparse_slice_grad_by_size : The same from the size of the slice, without `output_indices`.

    Examples
    --------
    >>> entries = np.array([[0, 1], [1, 0], [2, 2]])
    >>> bs.sparse_slice_grad([1.0, 2.0], entries, [1, 0], [[0, 0], [1, 2]])
    array([0., 1., 2.])
    """

def sparse_slice_grad_by_size(
    grad: Array,
    input_indices: Indices,
    start: Ints,
    size: Ints,
    *,
    out: Output | None = None,
    accumulate: bool = False,
) -> NDArray[Any]:
    """Compute the gradient of `sparse_slice` with respect to the values, from its start and size.

    Parameters
    ----------
    grad : array_like
        The gradient of the slice's values: an array of numbers with one row
        per entry in the slice, in their order.
    input_indices : array_like or tuple of array_like
        The positions of the entries that were sliced: a matrix of shape
        (entries, rank), or a tuple with one column per axis.
    start, size : sequence of int
        What `sparse_slice` was given, one per axis.
    out : ndarray or other writable array with DLPack, optional
        Where to write the gradient: an array with one row per input entry
        and the dtype of `grad`, which shares no memory with the arguments.
    accumulate : bool, default: False
        Add the gradient to `out`. Where Ctrl-C or an error ends the call, the
        exception's attribute `output_written` says whether some was added; if
        so, calling again would add that twice.

    Returns
    -------
    ndarray
        A new array with one row per input entry, or `out`; zero for entries
        outside the slice.

    Raises
    ------
    InvalidArgumentError
        `grad` has another number of rows than the slice has entries, the
        arguments have different numbers of axes, arrays overlap, or
        `accumulate` is given without `out`.
    DTypeError
        The indices are not int32 or int64, or the gradient is not one of
        numbers.

    Examples
    --------
    >>> entries = np.array([[0, 1], [1, 0], [2, 2]])
    >>> bs.sparse_slice_grad_by_size([1.0, 2.0], entries, start=[1, 0], size=[2, 3])
    array([0., 1., 2.])
    """
