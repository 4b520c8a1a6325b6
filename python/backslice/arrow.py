"""Ragged tensors to and from Arrow's lists, without copying numbers.

pyarrow is imported when a function is called.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import RaggedTensor
from .conversion import refuse_device, without_loss
from .errors import DTypeError, InvalidArgumentError, UnimplementedError
from .nested_lists import from_levels
from .suggestions import checked_keywords


@checked_keywords
def to_arrow(rt: RaggedTensor) -> Any:
    """Convert a ragged tensor to an Arrow array.

    Parameters
    ----------
    rt : RaggedTensor
        Its values must be a vector. They are shared.

    Returns
    -------
    pyarrow.ListArray or pyarrow.LargeListArray
        The former for int32 splits, the latter for int64.

    Raises
    ------
    InvalidArgumentError
        If the values have inner axes.
    UnimplementedError
        If Arrow has no type for the dtype of the values.

    Examples
    --------
    >>> from backslice.arrow import to_arrow
    >>> from backslice.ragged import from_list
    >>> to_arrow(from_list([[1.0, 2.0], [], [3.0]])).to_pylist()
    [[1.0, 2.0], [], [3.0]]
    """
    import pyarrow as pa

    refuse_device(rt)
    if rt.values.ndim != 1:
        raise InvalidArgumentError(f"Arrow's lists hold vectors of values, got shape {rt.values.shape}")
    array = _values_to_arrow(rt)
    for splits in reversed(rt.nested_row_splits):
        kind = pa.ListArray if splits.dtype == np.int32 else pa.LargeListArray
        array = kind.from_arrays(pa.array(splits), array)
    return array


def _values_to_arrow(rt: RaggedTensor) -> Any:
    import pyarrow as pa

    if rt.dtype.kind in "biufSUO" and rt.dtype.isbuiltin != 2 and rt.dtype.isnative:
        try:
            return pa.array(rt.values)
        except (pa.ArrowException, TypeError, ValueError):
            pass
    raise UnimplementedError(
        f"Arrow has no type for values of dtype {rt.dtype}; convert them first, for example {without_loss(rt.dtype)}"
    )


@checked_keywords
def from_arrow(array: Any) -> RaggedTensor:
    """Convert an Arrow array of lists to a ragged tensor.

    Parameters
    ----------
    array : pyarrow.Array or pyarrow.ChunkedArray
        Lists, nested or not, without nulls: ListArray, LargeListArray, ListViewArray, LargeListViewArray or
        FixedSizeListArray. The values are shared. Lists of fixed size that contain no list of another kind become axes
        of the values; the outermost list is always ragged. Sliced lists, which do not start at 0, get new splits.
        Several chunks are joined first, and list views are put in order; both copy.

    Returns
    -------
    RaggedTensor

    Raises
    ------
    InvalidArgumentError
        If there are nulls.
    DTypeError
        If `array` is not an array of lists.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from backslice.arrow import from_arrow
    >>> from_arrow(pa.array([[1.0, 2.0], [], [3.0]])).to_list()
    [[1.0, 2.0], [], [3.0]]
    """
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = _one_chunk(array)
    levels: list[NDArray[Any] | int] = []
    given = array
    while _is_list(array):
        if array.null_count:
            raise InvalidArgumentError(
                f"the array has nulls at depth {len(levels)}, {array.null_count} of them; fill or drop them first"
            )
        level, array = _level(array)
        levels.append(level)
    if not levels:
        raise DTypeError(f"expected an array of lists, such as a ListArray, got {type(given).__name__}")
    if array.null_count:
        raise InvalidArgumentError(f"the values have nulls, {array.null_count} of them; fill or drop them first")
    return from_levels(levels, len(given), array.to_numpy(zero_copy_only=False))


def _one_chunk(array: Any) -> Any:
    import pyarrow as pa

    if array.num_chunks == 0:
        return pa.array([], array.type)
    return array.chunk(0) if array.num_chunks == 1 else pa.concat_arrays(array.chunks)


def _is_list(array: Any) -> bool:
    import pyarrow as pa

    kinds = ("ListArray", "LargeListArray", "FixedSizeListArray", "ListViewArray", "LargeListViewArray")
    return isinstance(array, tuple(getattr(pa, kind) for kind in kinds if hasattr(pa, kind)))


def _level(array: Any) -> tuple[NDArray[Any] | int, Any]:
    """Return the splits of the outermost lists, or their size if it is fixed, and their content."""
    import pyarrow as pa

    if isinstance(array, pa.FixedSizeListArray):
        return array.type.list_size, array.flatten()
    if not isinstance(array, pa.ListArray | pa.LargeListArray):  # list views, in any order
        sizes = np.asarray(array.sizes)
        return np.concatenate([np.zeros(1, sizes.dtype), np.cumsum(sizes, dtype=sizes.dtype)]), array.flatten()
    offsets = np.asarray(array.offsets)
    if len(offsets) == 0:
        offsets = np.zeros(1, offsets.dtype)
    inner = array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    return (offsets - offsets[0] if offsets[0] else offsets), inner
