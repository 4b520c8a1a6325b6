"""Arrays that are still to be computed: sums of gradients of slices.

The gradient of a slice reaches its array through operations that only place elements: pads, reversals, new and dropped
axes. A Sum remembers them, so that any tree of such operations and additions is one pass over memory in the end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import jax
import numpy as np
from jax.extend.core.primitives import add_jaxvals_p

from .._core import Selection
from ..placement import Part, Placement, leaves
from . import alike, report
from .groups import Group
from .primitives import bind_gradient, sharded_as
from .selections import Slices


@dataclass(eq=False)
class Sum:
    """The sum of some parts, each among zeros."""

    aval: Any
    parts: tuple[Part, ...]  # Sums and arrays
    plain: Callable[[], Any] | None  # how JAX computes it
    has_zeros: bool = True  # otherwise nothing was placed among zeros yet, and JAX computes it as well
    is_zero: bool = False  # known to be zero
    depth: int = 0  # of Sums without zeros
    group: Group = None  # of what it is the gradient of
    value: Any = None  # once it has been computed

    def array(self) -> Any:
        if self.value is None:
            self.value = self._computed() if self.has_zeros else self._as_jax_does()
            self.parts, self.plain = (), None  # what they hold may be freed
        return self.value

    def terms(self) -> tuple[list[Any], list[tuple[Selection, Any]]]:
        """Arrays of the sum's own shape, and those that are placed, with where."""
        whole: list[Any] = []
        placed: list[tuple[Selection, Any]] = []
        for placement, leaf in leaves(self, _parts):
            array = self._array(leaf)
            if placement is None or placement.is_identity(self.aval.shape, array.shape):
                whole.append(array)
            elif array.size:
                placed.append((placement.selection(self.aval.shape, array.shape), array))
        return whole, placed

    def _array(self, leaf: Any) -> Any:
        if isinstance(leaf, Sum):
            return leaf.array()
        return leaf if hasattr(leaf, "aval") else np.asarray(leaf, self.aval.dtype)

    def _computed(self) -> Any:
        whole, placed = self.terms()
        base = reduce(add_jaxvals_p.bind, whole) if whole else None
        result = self._in_one_pass(base, placed) if placed else base
        return self._as_jax_does() if result is None else result

    def _leave_to_jax(self) -> None:
        """Have JAX compute this sum and all sums inside it."""
        sums = [self]
        while sums:
            inner = sums.pop()
            inner.has_zeros = False
            sums += [part for _, part in inner.parts if isinstance(part, Sum) and part.value is None]

    def _in_one_pass(self, base: Any, placed: Sequence[tuple[Selection, Any]]) -> Any:
        """Return None if JAX is better, or if only JAX has the type."""
        selections, dys = tuple(taken for taken, _ in placed), [dy for _, dy in placed]
        is_weak = all(jax.typeof(value).weak_type for value in (*dys, *([] if base is None else [base])))
        if self.plain is not None and alike.are_cheaper_in_their_sum(dys, self.aval.size):
            report.count({"XLA computes large parts of an array inside their sum": len(dys)})
            self._leave_to_jax()
            return None
        if self.plain is not None and self.aval.weak_type and not is_weak:
            return None
        operands, stacks = alike.stacked(dys, self.aval.size * self.aval.dtype.itemsize)
        slices = Slices(selections, self.group, alike.computed(dys), stacks)
        result = bind_gradient(operands if base is None else [base, *operands], slices)
        report.count({report.SLICES: len(dys), report.PASSES: 1})
        if is_weak and not self.aval.weak_type:
            result = jax.lax.convert_element_type(result, self.aval.dtype)
        return sharded_as(self.aval, result)

    def _as_jax_does(self) -> Any:
        assert self.plain is not None
        return self.plain()


def _parts(outer: Placement | None, value: Any) -> Sequence[Part] | None:
    is_open = isinstance(value, Sum) and value.value is None and (value.has_zeros or outer is not None)
    return value.parts if is_open else None


def rebuilt(aval: Any, selections: Sequence[Selection], arrays: Sequence[Any]) -> Sum:
    """The Sum of such terms: arrays of its own shape come after those that are placed."""
    placed = [(Placement.from_selection(taken), dy) for taken, dy in zip(selections, arrays, strict=False)]
    return Sum(aval, (*placed, *((None, array) for array in arrays[len(placed) :])), None)
