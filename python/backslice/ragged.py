"""Other ways to make a RaggedTensor.

>>> from backslice.ragged import from_list, from_row_lengths
>>> from_list([[1, 2], [], [3]]).nested_row_splits
(array([0, 2, 2, 3]),)
>>> from_row_lengths([1.0, 2.0, 3.0], [2, 0, 1]).to_list()
[[1.0, 2.0], [], [3.0]]
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._core import RaggedTensor
from .conversion import as_array
from .errors import InvalidArgumentError

_MOST_LISTS = 1000  # levels of splits


def from_row_lengths(values: ArrayLike, *nested_row_lengths: Any) -> RaggedTensor:
    """From the lengths of the rows, outermost list first. The splits are int64, or int32 where the lengths are."""
    splits = []
    for number, lengths in enumerate(nested_row_lengths):
        array = np.asarray(lengths)
        if array.size == 0:
            array = array.astype(np.int64)
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InvalidArgumentError(f"row lengths {number} must be a list of int, got {lengths!r}")
        if array.size and array.min() < 0:
            raise InvalidArgumentError(f"row lengths {number}: {array.min()} at {array.argmin()} is negative")
        dtype = np.int32 if array.dtype == np.int32 else np.int64
        splits.append(np.concatenate([np.zeros(1, dtype), np.cumsum(array, dtype=dtype)]))
    return RaggedTensor(values, splits)


def from_list(rows: Sequence[Any], dtype: DTypeLike | None = None, ragged_rank: int | None = None) -> RaggedTensor:
    """From nested lists; numbers become `dtype` where nothing is lost.

    What lies below `ragged_rank` lists (default: all but one of the levels) must be regular.
    """
    if ragged_rank is None:
        try:
            ragged_rank = max(_depth(rows) - 1, 0)
        except RecursionError:
            raise InvalidArgumentError("rows are nested too deeply, or hold themselves") from None
    if ragged_rank > _MOST_LISTS:
        raise InvalidArgumentError(f"ragged_rank is {ragged_rank}, at most {_MOST_LISTS} are supported")
    items: list[Any] = list(rows)
    splits = []
    for level in range(ragged_rank):
        for number, row in enumerate(items):
            if not isinstance(row, list | tuple | np.ndarray):
                raise InvalidArgumentError(f"item {number} at depth {level} is {row!r}, expected a list")
        splits.append(np.concatenate([[0], np.cumsum([len(row) for row in items], dtype=np.int64)]).astype(np.int64))
        items = [item for row in items for item in row]
    return RaggedTensor(_values(items, dtype, ragged_rank), splits)


def _values(items: list[Any], dtype: DTypeLike | None, ragged_rank: int) -> NDArray[Any]:
    are_strings = bool(items) and isinstance(items[0], str | bytes)
    if are_strings if dtype is None else np.dtype(dtype).kind == "O":
        return np.array([*items, None], object)[:-1]
    try:
        values = np.array(items)
    except ValueError as error:
        raise InvalidArgumentError(f"what lies below {ragged_rank} lists is not regular: {error}") from None
    return values if dtype is None else as_array(values, np.dtype(dtype), "rows")


def _depth(rows: Any) -> int:
    if not isinstance(rows, list | tuple):
        return 0
    return 1 + max((_depth(row) for row in rows), default=0)
