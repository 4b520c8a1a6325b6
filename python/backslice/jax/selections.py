"""Selections as XLA's calls take them, and what the rules of the primitives make of them."""

from builtins import slice as _slice
from functools import lru_cache
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from .._core import Selection
from .arguments import integer_argument

Selections = tuple[Selection, ...]


def selection_of(index: Any, shape: tuple[int, ...], name: str = "index") -> Selection:
    """What an index takes of an array of that shape. Its numbers must be known while JAX traces."""
    if isinstance(index, Selection):
        if index.shape != shape:
            raise ValueError(f"{name} is a Selection of a tensor of shape {index.shape}, but the array has {shape}")
        return index
    if not isinstance(index, str):
        items = index if isinstance(index, tuple) else (index,)
        index = tuple(_item(item, f"{name}[{i}]") for i, item in enumerate(items))
    try:
        return Selection.from_index(shape, index)
    except (IndexError, TypeError, ValueError) as error:
        if name == "index":  # as it is called there
            raise
        raise type(error)(f"{name}: {error}") from None


def _item(item: Any, name: str) -> Any:
    if isinstance(item, _slice):
        bounds = (("start", item.start), ("stop", item.stop), ("step", item.step))
        return _slice(*(None if bound is None else _known(bound, f"{name}.{part}") for part, bound in bounds))
    return _known(item, name)


def _known(value: Any, name: str) -> Any:
    """An integer of JAX's as Python's; what is no number is for Selection to judge."""
    if isinstance(value, jax.core.Tracer):
        raise TypeError(
            f"{name} is a traced value ({value.aval}), expected an integer that is known while tracing; x[...] and "
            "jax.lax.dynamic_slice take traced ones"
        )
    if isinstance(value, jax.Array | np.ndarray | list):
        if shape := np.shape(value):
            raise TypeError(f"{name} has shape {shape}, expected one integer; x[...] takes lists and arrays")
        return integer_argument(value, name)
    return value


@lru_cache(maxsize=4096)
def batched(taken: Selection, size: int) -> Selection:
    """The same slice of every array of a batch, which is a leading axis."""
    return Selection.from_index((size, *taken.shape), (_slice(None), *taken.to_index()))


def attribute(selections: Selections) -> NDArray[np.int64]:
    """One list of integers; adapters/jax/selections.h describes it."""
    shape = selections[0].shape
    numbers = [len(selections), len(shape), *shape]
    for taken in selections:
        for axis in taken.axes:
            numbers += axis
        numbers += [len(taken.result_axes), *taken.result_axes]
    return np.array(numbers, np.int64)
