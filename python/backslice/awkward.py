"""RaggedTensor to and from awkward arrays, without copies. Imports awkward when it is used."""

from typing import Any

import numpy as np

from ._core import RaggedTensor
from .errors import DTypeError


def to_awkward(rt: RaggedTensor) -> Any:
    """An ak.Array over the same memory."""
    import awkward as ak

    layout: Any = ak.contents.NumpyArray(rt.values)
    for splits in reversed(rt.nested_row_splits):
        layout = ak.contents.ListOffsetArray(ak.index.Index(np.asarray(splits)), layout)
    return ak.Array(layout)


def from_awkward(array: Any) -> RaggedTensor:
    """A RaggedTensor over the memory of an ak.Array of variable-length lists of numbers.

    Arrays whose lists do not start at 0 or are not in order (after slicing) are packed first, which copies.
    """
    import awkward as ak

    layout = ak.to_layout(array)
    if not _is_packed(layout):
        layout = ak.to_layout(ak.to_packed(array))
    splits = []
    while isinstance(layout, ak.contents.ListOffsetArray):
        splits.append(np.asarray(layout.offsets.data))
        layout = layout.content
    if not isinstance(layout, ak.contents.NumpyArray):
        raise DTypeError(f"the innermost content is a {type(layout).__name__}, expected numbers (NumpyArray)")
    values = np.asarray(layout.data)
    return RaggedTensor(values[: splits[-1][-1]] if splits else values, splits)


def _is_packed(layout: Any) -> bool:
    import awkward as ak

    while isinstance(layout, ak.contents.ListOffsetArray):
        offsets = np.asarray(layout.offsets.data)
        if offsets.dtype not in (np.int32, np.int64) or offsets[0] != 0 or offsets[-1] != len(layout.content):
            return False
        layout = layout.content
    return isinstance(layout, ak.contents.NumpyArray)
