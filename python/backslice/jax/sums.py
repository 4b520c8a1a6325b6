"""Sums of gradients of slices that are still to be computed.

The gradient of a slice reaches its array through operations that only place elements: pads, reversals, new and dropped
axes. A Sum remembers where the elements of each dy end up, as a Selection, so that any tree of such operations and
additions is one pass over memory in the end.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .._core import Selection
from .primitives import multi_slice_add_p, multi_slice_grad_p
from .selections import Axis, selection

Term = tuple[Selection, Any]  # where dy goes, and dy


@dataclass
class Sum:
    """base + the gradients of the terms, all of one shape and dtype."""

    terms: tuple[Term, ...]
    base: Any = None  # an array of the sum's shape
    plain: Callable[[], Any] | None = None  # how JAX makes the same, where nothing was placed among zeros yet
    value: Any = None  # once it has been computed

    def array(self) -> Any:
        if self.value is None:
            self.value = self._computed()
        return self.value

    def _computed(self) -> Any:
        if self.plain is not None:
            return self.plain()
        if not self.terms:
            return self.base
        selections = tuple(taken for taken, _ in self.terms)
        dys = [dy for _, dy in self.terms]
        if self.base is None:
            return multi_slice_grad_p.bind(*dys, selections=selections)
        return multi_slice_add_p.bind(self.base, *dys, selections=selections)


def whole(array: Any) -> tuple[Term, ...]:
    return ((Selection.from_index(array.shape, ...), array),)


def terms_of(value: Any) -> tuple[Term, ...]:
    """The terms of a Sum, its base among them, or an array as the one term."""
    if not isinstance(value, Sum):
        return whole(value)
    return value.terms if value.base is None else (*whole(value.base), *value.terms)


def padded(terms: Iterable[Term], shape: Sequence[int], padding: Sequence[Axis]) -> tuple[Term, ...]:
    """After a pad with (before, after, between) per axis."""

    def moved(axis: Axis, pad: Axis) -> Axis:
        start, step, count = axis
        low, _, between = pad
        return low + start * (between + 1), step * (between + 1), count

    return tuple(
        (selection(shape, [moved(a, p) for a, p in zip(taken.axes, padding, strict=True)], taken.result_axes), dy)
        for taken, dy in terms
    )


def reversed_along(terms: Iterable[Term], axes: Sequence[int]) -> tuple[Term, ...]:
    def moved(axis: Axis, extent: int) -> Axis:
        start, step, count = axis
        return extent - 1 - start, -step, count

    return tuple(
        (
            selection(
                taken.shape,
                [moved(a, taken.shape[i]) if i in axes else a for i, a in enumerate(taken.axes)],
                taken.result_axes,
            ),
            dy,
        )
        for taken, dy in terms
    )


def reshaped(terms: Iterable[Term], shape: Sequence[int], kept: Sequence[int]) -> tuple[Term, ...]:
    """With axes of extent 1 added or dropped: for each axis of the result, `kept` has the old one, or -1."""
    new = {old: axis for axis, old in enumerate(kept) if old >= 0}
    return tuple(
        (
            selection(
                shape,
                [taken.axes[old] if old >= 0 else (0, 1, 1) for old in kept],
                [new.get(axis, -1) for axis in taken.result_axes],
            ),
            dy,
        )
        for taken, dy in terms
        if all(taken.axes[axis][2] for axis in range(len(taken.axes)) if axis not in new)
    )
