"""RaggedTensor to and from Arrow's lists (ListArray, LargeListArray, nested); numbers without copies. Needs pyarrow."""

from typing import Any

import numpy as np

from ._core import RaggedTensor
from .conversion import without_loss
from .errors import DTypeError, InvalidArgumentError, UnimplementedError


def to_arrow(rt: RaggedTensor) -> Any:
    """A pyarrow ListArray (int32 splits) or LargeListArray (int64) over the same memory. Values must be a vector."""
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
    """A RaggedTensor over the values of a pyarrow ListArray or LargeListArray, nested or not.

    Lists that are sliced (do not start at 0) get new splits; values stay where they are. Nulls are refused.
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
