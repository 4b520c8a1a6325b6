"""Lists and numbers as arrays of a given dtype, by the rules of TensorFlow's convert_to_tensor: nothing is lost.

>>> import numpy as np
>>> from backslice.conversion import as_array
>>> as_array([1, 2], np.dtype("float32"), "value")
array([1., 2.], dtype=float32)
>>> as_array(1.5, np.dtype("int32"), "value")
Traceback (most recent call last):
backslice.errors.DTypeError: value is of kind float, which is not converted to int32; convert it first
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from .errors import DTypeError, InvalidArgumentError

if TYPE_CHECKING:  # the package is imported without it
    from numpy.typing import NDArray

    from ._core import RaggedTensor

# The accepted conversions: integers to floats and complex numbers, floats to complex numbers.
_ACCEPTED = {"b": "b", "i": "iu", "u": "iu", "f": "iuf", "c": "iufc", "U": "U", "S": "S"}
_NAMES = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex", "U": "str", "S": "bytes"}


def as_array(value: Any, dtype: np.dtype[Any], argument: str) -> NDArray[Any]:
    """Convert `value`, which is not an array, to an array of that dtype. Raise DTypeError if it is of another kind."""
    refuse_masked(value, argument)
    try:
        if dtype.kind == "O":
            return _as_objects(value)
        natural = np.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise DTypeError(f"{argument} cannot be read as an array of dtype {dtype}: {error}") from None
    if natural.dtype == dtype:
        return natural
    if natural.size == 0:
        return np.empty(natural.shape, dtype)
    kind, wanted = _kind(natural.dtype), _kind(dtype)
    if kind == "O" and all(isinstance(v, int) and not isinstance(v, bool) for v in natural.flat):
        kind = "i"  # integers that no dtype holds
    if kind not in _ACCEPTED.get(wanted, ""):
        found = _NAMES.get(kind, natural.dtype)
        raise DTypeError(f"{argument} is of kind {found}, which is not converted to {dtype}; convert it first")
    if wanted in "iu":
        _check_range(natural, dtype, argument)
    with np.errstate(over="ignore"):  # a float past the largest becomes infinite, as in TensorFlow
        return _cast(natural, dtype, argument)


def refuse_device(rt: RaggedTensor) -> None:
    """Raise InvalidArgumentError if the values are on a device: copies to the CPU are only explicit."""
    if rt.device != "cpu":
        raise InvalidArgumentError(f"rt is on {rt.device}, expected one on the CPU; rt.cpu() copies it there")


def refuse_masked(value: Any, argument: str) -> None:
    """Raise DTypeError if `value` is a masked array, or a list that contains one: NumPy would drop the mask."""
    if "numpy.ma" not in sys.modules:
        return  # no masked array exists
    seen: set[int] = set()  # a list may contain itself
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, np.ma.MaskedArray):
            raise DTypeError(f"{argument} is or holds a masked array, whose mask would be lost; use its .filled(value)")
        if isinstance(item, list | tuple) and id(item) not in seen:
            seen.add(id(item))
            left.extend(item)


def without_loss(dtype: np.dtype[Any]) -> str:
    """Return code that converts values of that dtype, for libraries that do not have it, to a common dtype."""
    if dtype.kind == "c" and dtype.isnative:
        return "rt.values.real and rt.values.imag, each in its own RaggedTensor"
    if dtype.names is not None:
        stored = f"rt.values.view({dtype[0].name!r})"
    elif not dtype.isnative:
        stored = f"rt.values.astype({dtype.newbyteorder('=').str!r})"
    else:
        stored = f"rt.values.astype({'int8' if 'int' in dtype.name else 'float32'!r})"
    return f"RaggedTensor({stored}, rt.nested_row_splits)"


def _as_objects(value: Any) -> NDArray[Any]:
    if isinstance(value, str | bytes):
        array = np.empty((), object)
        array[()] = value
        return array
    return np.asarray(value, object)


def _kind(dtype: np.dtype[Any]) -> str:
    if dtype.names is not None and len(dtype.names) == 1:  # TensorFlow's quantised types hold integers
        return dtype[0].kind
    if dtype.kind == "V" or dtype.isbuiltin == 2:  # dtypes of ml_dtypes
        return "i" if "int" in dtype.name else "f" if "float" in dtype.name else "V"
    return dtype.kind


def _check_range(natural: NDArray[Any], dtype: np.dtype[Any], argument: str) -> None:
    info: Any = ml_dtypes.iinfo(dtype if dtype.names is None else dtype[0])  # type: ignore[no-untyped-call]
    for extreme in (int(natural.min()), int(natural.max())):
        if not int(info.min) <= extreme <= int(info.max):
            raise InvalidArgumentError(
                f"{argument} holds {extreme}, which does not fit {dtype} ({info.min} to {info.max})"
            )


def _cast(natural: NDArray[Any], dtype: np.dtype[Any], argument: str) -> NDArray[Any]:
    try:
        if dtype.names is not None:
            return natural.astype(dtype[0]).view(dtype)
        array = natural.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise DTypeError(f"{argument} cannot be read as an array of dtype {dtype}: {error}") from None
    if dtype.kind in "US" and not np.array_equal(array, natural):
        raise InvalidArgumentError(
            f"{argument} holds {max(natural.ravel().tolist(), key=len)!r}, which {dtype} would cut off"
        )
    return array
