"""Selections as XLA's calls take them, and what the rules of the primitives make of them."""

import math
from builtins import slice as _slice
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import jax
import numpy as np
from jax.interpreters import ad
from numpy.typing import NDArray

from .._core import Selection
from .arguments import integer_argument
from .groups import Group, of_batch

Selections = tuple[Selection, ...]


@dataclass(frozen=True)
class Slices:
    """Slices of one array: the parameter of the primitives."""

    selections: Selections  # of one shape
    group: Group = None  # that of the array
    computed: frozenset[int] | None = None  # the dy's that are computed elementwise, by number; None: not known
    stacks: tuple[tuple[int, ...], ...] = ()  # the dy's in each operand, along a new first axis; () for one in each

    @property
    def shape(self) -> tuple[int, ...]:
        return self.selections[0].shape

    def only(self, numbers: Sequence[int]) -> "Slices":
        known = self.computed
        computed = None if known is None else frozenset(new for new, old in enumerate(numbers) if old in known)
        return Slices(tuple(self.selections[i] for i in numbers), self.group, computed)

    def batched(self, size: int) -> "Slices":
        selections = tuple(batched(taken, size) for taken in self.selections)
        return replace(self, selections=selections, group=of_batch(self.group, size), stacks=())

    def numbers(self) -> Sequence[tuple[int, ...]]:
        """Return the numbers of the dy's in each operand."""
        return self.stacks or [(number,) for number in range(len(self.selections))]

    def leading(self, operands: Sequence[Any]) -> int:
        """Return the number of operands before the dy's: the array that they are added to, or none."""
        return len(operands) - len(self.numbers())

    def unstacked(self, operands: Sequence[Any]) -> list[Any]:
        """The operands of a gradient with the dy's one by one. Those of a symbolic zero are symbolic zeros."""
        leading = self.leading(operands)
        dys: list[Any] = [None] * len(self.selections)
        for numbers, operand in zip(self.numbers(), operands[leading:], strict=True):
            is_one = len(numbers) == 1 or type(operand) is ad.Zero
            for i, number in enumerate(numbers):
                dys[number] = operand if is_one else jax.lax.index_in_dim(operand, i, keepdims=False)
        return [*operands[:leading], *dys]

    def parts(self) -> NDArray[np.int64]:
        """The positions of the dy's in the operands; adapters/jax/parts.h describes it."""
        parts: list[int] = []
        for numbers in self.numbers():
            shape = self.selections[numbers[0]].result_shape
            strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
            parts.append(-len(numbers))
            for i, number in enumerate(numbers):
                parts += [number, i * math.prod(shape), *strides]
        return np.array(parts if self.stacks else [1] * len(self.selections), np.int64)


def selection_of(index: Any, shape: tuple[int, ...], name: str = "index") -> Selection:
    """Return the Selection of an index for that shape. Its numbers must be known while JAX traces."""
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
    """Convert JAX's integers to Python's; Selection checks everything else."""
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


def is_whole(taken: Selection, axis: int) -> bool:
    return bool(taken.axes[axis] == (0, 1, taken.shape[axis]))


@lru_cache(maxsize=4096)
def batched(taken: Selection, size: int) -> Selection:
    """Return the same slice of every array of a batch, which is a leading axis."""
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
