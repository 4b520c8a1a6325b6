"""Gradients of slices of sparse (COO) tensors whose rows lie in partitions.

Partition p of the slice holds the entries that come from partition p of the input, as slicing each partition gives
them. The selected entries depend on data, so Dask may not know the row counts of a slice. Any other partitions would
first need every partition of the input.
"""

import math
from collections.abc import Mapping, Set
from operator import index
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from ..errors import DTypeError, InvalidArgumentError
from ..suggestions import checked_keywords
from . import arguments, blocks
from .arguments import known
from .layer import SparseGradientLayer

if TYPE_CHECKING:
    from .._core.types import Ints


@checked_keywords
def sparse_slice_grad(backprop_val_grad: Any, input_indices: Any, input_start: "Ints", output_indices: Any) -> Any:
    """Compute TensorFlow's SparseSliceGrad for row partitions of Dask arrays, lazily.

    Each partition of the result depends on the same partition of the three
    arrays. The rows of the slice are in the order of the input's, as
    slicing partition by partition leaves them.

    Parameters
    ----------
    backprop_val_grad : dask.array.Array
        The gradient of the slice's values, one row per row of
        `output_indices`.
    input_indices : dask.array.Array
        The positions of the entries that were sliced: a matrix of shape
        (entries, rank) of int32 or int64.
    input_start : sequence of int
        The beginning of the slice, one entry per axis.
    output_indices : dask.array.Array
        The positions of the slice's entries. Partition p has those that
        come from partition p of `input_indices`. Their number may be
        unknown to Dask.

    Returns
    -------
    dask.array.Array
        One row per input entry, in the partitions of `input_indices`; zero
        for entries outside the slice.

    Raises
    ------
    InvalidArgumentError
        The arrays have different numbers of partitions, axes or, where they
        are known, rows.
    DTypeError
        The indices are not int32 or int64, or the gradient is not one of
        numbers.

    Examples
    --------
    >>> import dask.array as da
    >>> from backslice.dask import sparse_slice_grad
    >>> entries = da.from_array(np.array([[0], [2], [3], [5]]), chunks=2)
    >>> taken = da.from_array(np.array([[0], [1]]), chunks=1)  # the entries of 2:5
    >>> sparse_slice_grad(da.ones(2, chunks=1), entries, [2], taken).compute()
    array([0., 1., 1., 0.])
    """
    indices = _indices("input_indices", input_indices)
    taken = _indices("output_indices", output_indices)
    arguments.same_dtype("output_indices", taken.dtype, indices.dtype, "input_indices")
    start = _ints("input_start", input_start, indices.shape[1])
    if taken.shape[1] != indices.shape[1]:
        raise InvalidArgumentError(f"output_indices has {taken.shape[1]} columns, expected {indices.shape[1]}")
    grad = _gradient_rows("backprop_val_grad", backprop_val_grad, indices)
    _same_partitions("output_indices", taken, indices)
    _same_rows("backprop_val_grad", grad, taken)
    _no_more_rows("output_indices", taken, indices)
    return _partition_by_partition("sparse_slice_grad", blocks.sparse_gradient, indices, [taken], grad, start=start)


@checked_keywords
def sparse_slice_grad_by_size(grad: Any, input_indices: Any, start: "Ints", size: "Ints") -> Any:
    """Compute the gradient of a sparse slice from its start and size, for row partitions of Dask arrays, lazily.

    Parameters
    ----------
    grad : dask.array.Array
        The gradient of the slice's values. Partition p has one row per
        entry of partition p of `input_indices` that lies in the slice.
    input_indices : dask.array.Array
        The positions of the entries that were sliced: a matrix of shape
        (entries, rank) of int32 or int64.
    start, size : sequence of int
        The window, one per axis.

    Returns
    -------
    dask.array.Array
        One row per input entry, in the partitions of `input_indices`.

    Raises
    ------
    InvalidArgumentError
        The arrays have different numbers of partitions or axes.
    DTypeError
        The indices are not int32 or int64, or the gradient is not one of
        numbers.

    Examples
    --------
    >>> import dask.array as da
    >>> from backslice.dask import sparse_slice_grad_by_size
    >>> entries = da.from_array(np.array([[0], [2], [3], [5]]), chunks=2)
    >>> dy = da.ones(2, chunks=1)
    >>> sparse_slice_grad_by_size(dy, entries, start=[2], size=[3]).compute()
    array([0., 1., 1., 0.])
    """
    indices = _indices("input_indices", input_indices)
    window = {name: _ints(name, value, indices.shape[1]) for name, value in (("start", start), ("size", size))}
    rows = _gradient_rows("grad", grad, indices)
    _no_more_rows("grad", rows, indices)
    return _partition_by_partition(
        "sparse_slice_grad_by_size", blocks.sparse_gradient_by_size, indices, [], rows, **window
    )


def _indices(argument: str, value: Any) -> Any:
    array = arguments.numpy_blocks(argument, value)
    if array.ndim != 2 or math.isnan(array.shape[1]):
        raise InvalidArgumentError(f"{argument} has shape {array.shape}, expected (entries, rank)")
    if array.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise DTypeError(f"{argument} has dtype {array.dtype}, expected int32 or int64")
    return array if array.numblocks[1] == 1 else array.rechunk({1: -1})


def _ints(argument: str, value: Any, rank: int) -> tuple[int, ...]:
    known(argument, value)
    try:
        if isinstance(value, Mapping | Set):  # the order of its items is not the order of axes
            raise TypeError
        found = tuple(map(index, value))
    except TypeError:
        raise DTypeError(f"{argument} is {value!r}, expected a sequence of {rank} int") from None
    if len(found) != rank:
        raise InvalidArgumentError(
            f"{argument} has {len(found)} entries, expected {rank}, one per column of the indices"
        )
    return found


def _gradient_rows(argument: str, value: Any, indices: Any) -> Any:
    array = arguments.numpy_blocks(argument, value)
    if array.ndim == 0:
        raise InvalidArgumentError(f"{argument} is a scalar, expected one row per entry of the slice")
    arguments.check_dtype(argument, array.dtype, zeros=lambda: True, added=lambda: True)
    _same_partitions(argument, array, indices)
    return array


def _same_partitions(argument: str, array: Any, indices: Any) -> None:
    if array.numblocks[0] != indices.numblocks[0]:
        raise InvalidArgumentError(
            f"{argument} has {array.numblocks[0]} row partitions, expected {indices.numblocks[0]} as in input_indices:"
            f" partition p of the slice holds the entries from partition p of the input"
        )


def _same_rows(argument: str, array: Any, taken: Any) -> None:
    for p, (rows, expected) in enumerate(zip(array.chunks[0], taken.chunks[0], strict=True)):
        if rows != expected and not math.isnan(rows) and not math.isnan(expected):
            raise InvalidArgumentError(
                f"{argument} has {rows} rows in partition {p}, expected {expected}, as output_indices has"
            )


def _no_more_rows(argument: str, array: Any, indices: Any) -> None:
    """Check row counts: a slice has at most as many entries as its input."""
    for p, (rows, entries) in enumerate(zip(array.chunks[0], indices.chunks[0], strict=True)):
        if rows > entries:  # false if one of them is unknown (NaN)
            raise InvalidArgumentError(
                f"{argument} has {rows} rows in partition {p}, expected at most {entries}, the entries of input_indices"
            )


def _partition_by_partition(
    operation: str, task: Any, indices: Any, lists: list[Any], grad: Any, **constants: tuple[int, ...]
) -> Any:
    """Build one task per partition. The row counts differ between the arrays; the result has those of the first one."""
    no_entries = np.empty((0, indices.shape[1]), indices.dtype)
    task(no_entries, *(no_entries for _ in lists), np.empty(0, grad.dtype), **constants)  # refuses wrong constants now
    axes = tuple(range(grad.ndim))
    matrices = [item for array in (indices, *lists) for item in (array, (0, grad.ndim))]
    name = f"{operation}-{tokenize(indices.name, [array.name for array in lists], grad.name, constants)}"
    found = da.blockwise(
        task, axes, *matrices, grad, axes, name=name, meta=np.empty((0,) * grad.ndim, grad.dtype),
        align_arrays=False, concatenate=True, **constants,
    )  # fmt: skip
    layer = SparseGradientLayer(found.dask.layers[name], indices.shape[0])
    graph = HighLevelGraph({**found.dask.layers, name: layer}, found.dask.dependencies)
    return da.Array(graph, name, found.chunks, meta=found._meta)
