"""dtypes by name, and dtypes for raw bytes."""

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import backslice as bs

from ..suggestions import did_you_mean
from . import Failure, Usage, quoted

QUANTISED = {"qint8": "i1", "quint8": "u1", "qint16": "i2", "quint16": "u2", "qint32": "i4"}


def dtype_of_name(name: str) -> np.dtype[Any]:
    """Return a dtype of NumPy, of ml_dtypes, or a quantised dtype of TensorFlow."""
    if name in QUANTISED:
        return np.dtype([(name, QUANTISED[name])])
    kind = getattr(ml_dtypes, name, None)
    try:
        return np.dtype(kind if isinstance(kind, type) and issubclass(kind, np.generic) else name)
    except Exception:  # NumPy raises any error of its parser
        raise Usage(
            f"--dtype {quoted(name)} is not a dtype such as float32, int8, bfloat16, float8_e4m3fn or qint8"
            + did_you_mean(name, _known_names())
        ) from None


def _known_names() -> list[str]:
    small = [name for name in dir(ml_dtypes) if isinstance(getattr(ml_dtypes, name), type)]
    return [*(kind.__name__ for kind in np.sctypeDict.values()), *small, *QUANTISED]


def movable_dtype(name: str) -> np.dtype[Any]:
    """Return a dtype that has gradients, even if only gradients without zeros."""
    dtype = dtype_of_name(name)
    try:
        bs.Selection.from_index((1,), ...).cost(dtype)
    except bs.DTypeError:
        dtypes = (
            "bool, integers, floats, complex numbers, the types of ml_dtypes, qint8 and its like, S5, U5 and object"
        )
        raise Usage(f"--dtype {quoted(name)}: backslice does not move {dtype}; it moves {dtypes}") from None
    if dtype.itemsize == 0:
        raise Usage(f"--dtype {quoted(name)} has no length: give one, such as {name}5")
    return dtype


def item_dtype(name: str) -> np.dtype[Any]:
    """Return a dtype that the items of a file can have: of a fixed size, and without Python objects."""
    dtype = dtype_of_name(name)
    if dtype.hasobject or dtype.subdtype is not None or dtype.itemsize == 0:
        raise Usage(f"--dtype {quoted(name)}: files hold items of a fixed size, such as float32, int8 or bfloat16")
    return dtype


def dtype_name(dtype: np.dtype[Any]) -> str:
    return dtype.names[0] if dtype.names and len(dtype.names) == 1 else str(dtype)


def named(array: NDArray[Any], name: str | None, where: str) -> NDArray[Any]:
    """Give raw bytes the dtype that the user names. Other arrays must have it already."""
    is_raw = array.dtype.type is np.void and array.dtype.names is None
    if name is None:
        if is_raw:
            raise Failure(
                f"{where} holds raw items of {array.dtype.itemsize} bytes: name their dtype, "
                f"such as --dtype {'bfloat16' if array.dtype.itemsize == 2 else 'float8_e5m2'}"
            )
        return array
    dtype = item_dtype(name)
    if dtype == array.dtype:
        return array
    if not is_raw:
        raise Failure(
            f"{where} holds {dtype_name(array.dtype)}, not {name}; --dtype names the dtype of raw bytes, "
            "it does not convert"
        )
    if dtype.itemsize != array.dtype.itemsize:
        raise Failure(
            f"{where} holds raw items of {array.dtype.itemsize} bytes, but {name} has {dtype.itemsize}: "
            "name another dtype"
        )
    return array.view(dtype)
