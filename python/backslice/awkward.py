"""Ragged tensors to and from Awkward Array, without copying numbers.

Awkward is imported when a function is called.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import RaggedTensor
from .conversion import refuse_device, without_loss
from .errors import DTypeError, UnimplementedError
from .nested_lists import from_levels
from .suggestions import checked_keywords

_STRINGS = {"string": "char", "bytestring": "byte"}


@checked_keywords
def to_awkward(rt: RaggedTensor) -> Any:
    """Convert a ragged tensor to an ``ak.Array``.

    Parameters
    ----------
    rt : RaggedTensor
        Its values are shared; strings are copied.

    Returns
    -------
    ak.Array

    Raises
    ------
    UnimplementedError
        If Awkward has no such dtype: bfloat16, float8, int4 and quantised types.

    Examples
    --------
    >>> from backslice.awkward import to_awkward
    >>> from backslice.ragged import from_list
    >>> to_awkward(from_list([[1.0, 2.0], [], [3.0]])).to_list()
    [[1.0, 2.0], [], [3.0]]
    """
    import awkward as ak

    refuse_device(rt)
    layout: Any = _strings_to_awkward(rt) if rt.dtype.kind in "OSU" else _numbers_to_awkward(rt)
    for splits in reversed(rt.nested_row_splits):
        layout = ak.contents.ListOffsetArray(ak.index.Index(np.asarray(splits)), layout)
    return ak.Array(layout)


def _numbers_to_awkward(rt: RaggedTensor) -> Any:
    import awkward as ak

    if rt.dtype.kind not in "biufc" or rt.dtype.isbuiltin != 1:
        raise UnimplementedError(
            f"awkward has no dtype {rt.dtype}; convert the values first, for example {without_loss(rt.dtype)}"
        )
    return ak.contents.NumpyArray(rt.values)


def _strings_to_awkward(rt: RaggedTensor) -> Any:
    import awkward as ak

    if rt.values.ndim != 1:
        raise UnimplementedError(f"strings must be a vector to become awkward's, got shape {rt.values.shape}")
    items = rt.values.tolist()
    name = "bytestring" if items and isinstance(items[0], bytes) else "string"
    encoded = [item if isinstance(item, bytes) else item.encode() for item in items]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    letters = np.frombuffer(b"".join(encoded), np.uint8)
    content = ak.contents.NumpyArray(letters, parameters={"__array__": _STRINGS[name]})
    return ak.contents.ListOffsetArray(ak.index.Index64(offsets), content, parameters={"__array__": name})


@checked_keywords
def from_awkward(array: Any) -> RaggedTensor:
    """Convert an ``ak.Array`` of lists to a ragged tensor.

    Parameters
    ----------
    array : ak.Array
        Lists of numbers, which are shared, or of strings, which are copied. Regular lists that contain no list of
        another kind become axes of the values; the outermost list is always ragged. Offsets of several types become
        int64. Lists that do not start at 0 or are not in order, as after slicing, are packed first, which copies too.

    Returns
    -------
    RaggedTensor

    Raises
    ------
    DTypeError
        If the innermost content is neither numbers nor strings.

    Examples
    --------
    >>> import awkward as ak
    >>> from backslice.awkward import from_awkward
    >>> from_awkward(ak.Array([[1.0, 2.0], [], [3.0]])).nested_row_splits
    (array([0, 2, 2, 3]),)
    """
    import awkward as ak

    layout = ak.to_layout(array)
    if not _is_packed(layout):
        layout = ak.to_layout(ak.to_packed(array))
    rows = len(layout)
    levels: list[NDArray[Any] | int] = []
    while _is_list(layout):
        if isinstance(layout, ak.contents.RegularArray):
            levels.append(int(layout.size))
            layout = layout.content[: len(layout) * layout.size]
        else:
            splits = np.asarray(layout.offsets.data)
            levels.append(splits)
            layout = layout.content[: int(splits[-1])]
    values = _values(layout)
    return from_levels(levels, rows, values) if levels else RaggedTensor(values, [])


def _values(layout: Any) -> NDArray[Any]:
    import awkward as ak

    if layout.parameter("__array__") in _STRINGS:
        items = ak.to_list(layout)
        values = np.empty(len(items), object)
        values[:] = items
        return values
    if isinstance(layout, ak.contents.EmptyArray):  # an array without a type
        return np.empty(0)
    if not isinstance(layout, ak.contents.NumpyArray):
        hint = "; ak.fill_none replaces missing values" if layout.is_option else ""
        raise DTypeError(f"the innermost content is of type {type(layout).__name__}, expected numbers or strings{hint}")
    return np.asarray(layout.data)


def _is_list(layout: Any) -> bool:
    import awkward as ak

    kinds = (ak.contents.ListOffsetArray, ak.contents.RegularArray)
    return isinstance(layout, kinds) and layout.parameter("__array__") not in _STRINGS


def _is_packed(layout: Any) -> bool:
    import awkward as ak

    while _is_list(layout):
        if isinstance(layout, ak.contents.ListOffsetArray):
            offsets = np.asarray(layout.offsets.data)
            if offsets[0] != 0 or offsets[-1] != len(layout.content):
                return False
        layout = layout.content
    known = isinstance(layout, ak.contents.NumpyArray | ak.contents.EmptyArray)
    return known or layout.parameter("__array__") in _STRINGS
