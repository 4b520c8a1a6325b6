"""The common form of Arrow's and Awkward's nested lists: levels of splits or of sizes, and values below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import RaggedTensor

if TYPE_CHECKING:  # the package is imported without it
    from numpy.typing import NDArray


def from_levels(levels: Sequence[NDArray[Any] | int], rows: int, values: NDArray[Any]) -> RaggedTensor:
    """Make a ragged tensor from nested lists of another library.

    Parameters
    ----------
    levels : sequence of ndarray or int
        The lists, outermost first: the splits of a level, or the size that all of its lists have. Sizes below the last
        splits become axes of the values, but the outermost level is always ragged. The splits become int32 if all of
        them are, else int64.
    rows : int
        How many lists the outermost level has.
    values : numpy.ndarray
        The items of all innermost lists, one after the other.

    Returns
    -------
    RaggedTensor

    Examples
    --------
    >>> import numpy as np
    >>> from backslice.nested_lists import from_levels
    >>> rt = from_levels([np.array([0, 1, 3]), 2], rows=2, values=np.arange(6))
    >>> rt.to_list()
    [[[0, 1]], [[2, 3], [4, 5]]]
    """
    last = max((depth for depth, level in enumerate(levels) if not isinstance(level, int)), default=0)
    splits: list[NDArray[Any]] = []
    for level in levels[: last + 1]:
        splits.append(np.arange(rows + 1, dtype=np.int64) * level if isinstance(level, int) else level)
        rows = int(splits[-1][-1])
    sizes = [int(size) for size in levels[last + 1 :]]
    given = [level.dtype for level in levels if not isinstance(level, int)]
    dtype: Any = np.int32 if given and all(d == np.int32 for d in given) else np.int64
    return RaggedTensor(values.reshape(rows, *sizes, *values.shape[1:]), [s.astype(dtype, copy=False) for s in splits])
