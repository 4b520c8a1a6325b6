"""Ragged tensors from nested lists and from row lengths.

Both functions are also class methods of :class:`backslice.RaggedTensor`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from reprlib import repr
from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import RaggedTensor, _numpy_dtype
from .conversion import as_array, refuse_masked
from .errors import DTypeError, InvalidArgumentError
from .suggestions import checked_keywords

if TYPE_CHECKING:  # the package is imported without it
    from numpy.typing import ArrayLike, NDArray

    from ._core import DType

_MOST_LISTS = 1000  # levels of splits


@checked_keywords
def from_row_lengths(values: ArrayLike, *nested_row_lengths: Any) -> RaggedTensor:
    """Make a ragged tensor from the lengths of its rows.

    Parameters
    ----------
    values : array_like
        The values of all rows, concatenated. They are not copied.
    *nested_row_lengths : sequence of int
        The lengths of the rows, one list per level, the outermost first.

    Returns
    -------
    RaggedTensor
        Its splits are int64, or int32 if the lengths are.

    Raises
    ------
    InvalidArgumentError
        If a length is negative, or the lengths do not add up to the number of values.

    Examples
    --------
    >>> from backslice.ragged import from_row_lengths
    >>> rt = from_row_lengths([1.0, 2.0, 3.0], [2, 0, 1])
    >>> rt.to_list()
    [[1.0, 2.0], [], [3.0]]
    >>> rt.nested_row_splits
    (array([0, 2, 2, 3]),)
    """
    return RaggedTensor(values, [_splits(lengths, number) for number, lengths in enumerate(nested_row_lengths)])


def _splits(lengths: Any, number: int) -> NDArray[Any]:
    refuse_masked(lengths, f"row lengths {number}")
    try:
        array = np.asarray(lengths)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgumentError(f"row lengths {number} must be a list of int, got {repr(lengths)}") from None
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidArgumentError(f"row lengths {number} must be a list of int, got {repr(lengths)}")
    if array.size and array.min() < 0:
        raise InvalidArgumentError(f"row lengths {number}: {array.min()} at {array.argmin()} is negative")
    dtype = np.int32 if array.dtype == np.int32 else np.int64
    if int(array.sum(dtype=np.float64)) > np.iinfo(dtype).max:
        raise InvalidArgumentError(f"row lengths {number} add up to more than {np.dtype(dtype)} holds")
    return np.concatenate([np.zeros(1, dtype), np.cumsum(array, dtype=dtype)])


@checked_keywords
def from_list(rows: Sequence[Any], dtype: DType | None = None, ragged_rank: int | None = None) -> RaggedTensor:
    """Make a ragged tensor from nested lists.

    Parameters
    ----------
    rows : sequence
        Nested lists, tuples or arrays.
    dtype : dtype, optional
        The dtype of the values. Numbers are converted only if nothing is lost. By default NumPy chooses it.
    ragged_rank : int, optional
        The number of list levels that may have different lengths. Lists below them must be regular and become inner
        axes of the values. By default all levels but the innermost, whose items are the values.

    Returns
    -------
    RaggedTensor

    Raises
    ------
    InvalidArgumentError
        If the lists are not nested equally deep, or not regular below `ragged_rank`.
    DTypeError
        If the items have no dtype in common, or do not fit `dtype`.

    Examples
    --------
    >>> from backslice.ragged import from_list
    >>> rt = from_list([[1, 2], [], [3]])
    >>> rt.values
    array([1, 2, 3])
    >>> rt.nested_row_splits
    (array([0, 2, 2, 3]),)
    >>> from_list([[[1, 2], [3, 4]], []], ragged_rank=1).values.shape
    (2, 2)
    """
    if not isinstance(rows, Sequence | np.ndarray) or isinstance(rows, str | bytes):
        raise DTypeError(f"rows is {repr(rows)}, expected nested lists")
    refuse_masked(rows, "rows")
    levels = _levels(rows, ragged_rank)
    wanted = None if dtype is None else _numpy_dtype(dtype)
    items: list[Any] = list(rows)
    splits = []
    for level in range(levels):
        for number, row in enumerate(items):
            if not isinstance(row, list | tuple | np.ndarray):
                raise InvalidArgumentError(f"item {number} at depth {level} is {repr(row)}, expected a list")
        splits.append(np.concatenate([[0], np.cumsum([len(row) for row in items], dtype=np.int64)]).astype(np.int64))
        items = [item for row in items for item in row]
    return RaggedTensor(_values(items, wanted, levels), splits)


def _levels(rows: Any, ragged_rank: Any) -> int:
    """Return how many levels of lists become splits."""
    if ragged_rank is None:
        try:
            levels = max(_depth(rows) - 1, 0)
        except RecursionError:
            raise InvalidArgumentError("rows are nested too deeply, or hold themselves") from None
    else:
        try:
            levels = operator.index(ragged_rank)
        except TypeError:
            raise DTypeError(f"ragged_rank is {repr(ragged_rank)}, expected an int") from None
    if not 0 <= levels <= _MOST_LISTS:
        raise InvalidArgumentError(f"ragged_rank is {repr(levels)}, expected 0 to {_MOST_LISTS}")
    return levels


def _values(items: list[Any], dtype: np.dtype[Any] | None, levels: int) -> NDArray[Any]:
    are_strings = bool(items) and isinstance(items[0], str | bytes)
    if are_strings if dtype is None else dtype.kind == "O":
        return np.array([*items, None], object)[:-1]
    try:
        values = np.array(items)
    except ValueError as error:
        raise InvalidArgumentError(f"what lies below {levels} lists is not regular: {error}") from None
    if values.dtype.kind in "US":
        _check_strings(items)
    return values if dtype is None else as_array(values, dtype, "rows")


def _check_strings(items: list[Any]) -> None:
    """Refuse numbers among strings, which NumPy would turn into strings."""
    kinds = {type(item) for item in np.array([*items, None], object)[:-1].flat if not isinstance(item, list | tuple)}
    if len(kinds) > 1:
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise DTypeError(f"rows hold {names}, which have no dtype in common: convert them first")


def _depth(rows: Any) -> int:
    if not isinstance(rows, list | tuple):
        return 0
    return 1 + max((_depth(row) for row in rows), default=0)
