"""Ragged tensors to and from Arrow's lists, without copying numbers.

pyarrow is imported when a function is called.
"""

from typing import Any

import numpy as np

from ._core import RaggedTensor
from .conversion import without_loss
from .errors import DTypeError, InvalidArgumentError, UnimplementedError


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


def from_arrow(array: Any) -> RaggedTensor:
    """Convert an Arrow array of lists to a ragged tensor.

    Parameters
    ----------
    array : pyarrow.ListArray or pyarrow.LargeListArray
        Nested or not, without nulls. The values are shared; sliced lists, which do not start at 0, get new splits.

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

    splits: list[Any] = []
    while isinstance(array, pa.ListArray | pa.LargeListArray):
        if array.null_count:
            raise InvalidArgumentError(
                f"the array has {array.null_count} nulls at depth {len(splits)}; fill them first"
            )
        offsets = np.asarray(array.offsets)
        if len(offsets) == 0:
            offsets = np.zeros(1, offsets.dtype)
        array = array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
        splits.append(offsets - offsets[0] if offsets[0] else offsets)
    if not splits:
        raise DTypeError(f"expected a ListArray or LargeListArray, got {type(array).__name__}")
    if array.null_count:
        raise InvalidArgumentError(f"the values have {array.null_count} nulls; fill them first")
    dtype = np.int32 if all(s.dtype == np.int32 for s in splits) else np.int64
    return RaggedTensor(array.to_numpy(zero_copy_only=False), [s.astype(dtype, copy=False) for s in splits])
