"""Arguments of the functions, checked while JAX traces: errors name the argument."""

import operator
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def array_argument(value: Any, name: str) -> Any:
    """An array of JAX's with elements that can be sliced."""
    try:
        array = jnp.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{name} is {type(value).__name__}, expected an array: {error}") from error
    if jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):
        raise TypeError(f"{name} has dtype {array.dtype}, which only JAX itself can slice: x[...]")
    if array.dtype == jax.dtypes.float0:
        raise TypeError(f"{name} has dtype float0, which has no elements")
    for axis, extent in enumerate(array.shape):
        if not isinstance(extent, int):
            raise TypeError(f"{name} has extent {extent} along axis {axis}, expected one that is known while tracing")
    return array


def list_argument(value: Any, name: str, expected: str) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"{name} is {value!r:.100}, expected a sequence: {expected}")
    return list(value)


def integer_argument(value: Any, name: str) -> int:
    """A number that is known while JAX traces."""
    if isinstance(value, jax.core.Tracer):
        raise TypeError(f"{name} is a traced value ({value.aval}), expected an integer that is known while tracing")
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {value}, expected an integer")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r:.100}, expected an integer") from None


def shape_argument(value: Any, name: str) -> tuple[int, ...]:
    if isinstance(value, jax.core.Tracer):
        raise TypeError(f"{name} is a traced value ({value.aval}), expected integers that are known while tracing")
    extents = value if isinstance(value, Iterable) else (value,)
    shape = tuple(integer_argument(extent, f"{name}[{axis}]") for axis, extent in enumerate(extents))
    for axis, extent in enumerate(shape):
        if extent < 0:
            raise ValueError(f"{name}[{axis}] is {extent}, expected at least 0")
    return shape
