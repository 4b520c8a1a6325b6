"""Where the elements of an array lie in a larger one: shared by the adapters that rewrite programs.

The numbers of a Placement may be symbols that add and multiply like integers, except for :meth:`Placement.selection`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._core import Selection

Axis = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Placement:
    """For each axis of an array (axis, first, step) in the larger one, or None for one of extent 1 that has no axis
    there; and the position along each axis of the larger one that the array does not have."""

    axes: tuple[Axis | None, ...]
    fixed: Mapping[int, Any] = field(default_factory=dict)

    @classmethod
    def padded(cls, padding: Sequence[Axis]) -> "Placement":
        """By a pad with (before, after, between) per axis."""
        return cls(tuple((axis, low, between + 1) for axis, (low, _, between) in enumerate(padding)))

    @classmethod
    def reversed_along(cls, axes: Sequence[int], shape: Sequence[int]) -> "Placement":
        return cls(tuple((axis, n - 1, -1) if axis in axes else (axis, 0, 1) for axis, n in enumerate(shape)))

    @classmethod
    def with_unit_axes(cls, kept: Sequence[int], rank: int) -> "Placement":
        """With axes of extent 1 added and dropped: for each new axis, `kept` has the old one, or -1."""
        new = {old: axis for axis, old in enumerate(kept) if old >= 0}
        axes = tuple((new[old], 0, 1) if old in new else None for old in range(rank))
        return cls(axes, {axis: 0 for axis, old in enumerate(kept) if old < 0})

    @classmethod
    def permuted(cls, order: Sequence[int]) -> "Placement":
        """With its axes in another order: the axis `order[i]` of the array becomes the axis `i`."""
        new = {old: axis for axis, old in enumerate(order)}
        return cls(tuple((new[old], 0, 1) for old in range(len(order))))

    @classmethod
    def sliced(cls, rank: int, axis: int, first: Any, step: int = 1) -> "Placement":
        """As a slice along one axis."""
        return cls(tuple((i, first, step) if i == axis else (i, 0, 1) for i in range(rank)))

    @classmethod
    def selected(cls, rank: int, axis: int, position: Any) -> "Placement":
        """As one position along an axis, which the array does not have."""
        return cls(tuple((i, 0, 1) for i in range(rank) if i != axis), {axis: position})

    @classmethod
    def from_selection(cls, taken: Selection) -> "Placement":
        """Where a slice takes its elements from."""
        axes = tuple((axis, *taken.axes[axis][:2]) if axis >= 0 else None for axis in taken.result_axes)
        dropped = set(range(len(taken.axes))) - set(taken.result_axes)
        return cls(axes, {axis: taken.axes[axis][0] for axis in dropped})

    def of(self, inner: "Placement") -> "Placement":
        """Of an array that lies so in one that lies as `self` says."""
        fixed = dict(self.fixed)
        for axis, position in inner.fixed.items():
            if (outer := self.axes[axis]) is not None:
                fixed[outer[0]] = outer[1] + outer[2] * position
        return Placement(tuple(None if axis is None else self._moved(axis) for axis in inner.axes), fixed)

    def _moved(self, inner: Axis) -> Axis | None:
        outer = self.axes[inner[0]]
        return None if outer is None else (outer[0], outer[1] + outer[2] * inner[1], outer[2] * inner[2])

    def is_identity(self, shape: Sequence[int], extents: Sequence[int]) -> bool:
        return tuple(shape) == tuple(extents) and self.axes == tuple((axis, 0, 1) for axis in range(len(shape)))

    def selection(self, shape: Sequence[int], extents: Sequence[int]) -> Selection:
        """What is to be taken of a tensor of that shape for an array with these extents, none of them 0."""
        axes: list[Axis] = [(self.fixed.get(axis, 0), 1, 1) for axis in range(len(shape))]
        for axis, extent in zip(self.axes, extents, strict=True):
            if axis is not None:
                axes[axis[0]] = (axis[1], axis[2], extent)
        return selection(shape, axes, [-1 if axis is None else axis[0] for axis in self.axes])


Part = tuple[Placement | None, Any]  # where something lies in a sum, None for as it is


def leaves(root: Any, parts: Callable[[Placement | None, Any], Sequence[Part] | None]) -> list[Part]:
    """Return what a tree of sums consists of, in order. `parts` returns those of a sum, None for a leaf."""
    found: list[Part] = []
    remaining: list[Part] = [(None, root)]
    while remaining:
        outer, value = remaining.pop()
        inside = parts(outer, value)
        if inside is None:
            found.append((outer, value))
        else:
            remaining += [(_composed(outer, inner), part) for inner, part in reversed(inside)]
    return found


def _composed(outer: Placement | None, inner: Placement | None) -> Placement | None:
    return inner or outer if outer is None or inner is None else outer.of(inner)


def kept_axes(old: Sequence[Any], new: Sequence[Any]) -> list[int] | None:
    """For each new axis the old one, or -1; None where more than axes of extent 1 differs."""
    of_old = [axis for axis, extent in enumerate(old) if extent != 1]
    if [old[axis] for axis in of_old] != [extent for extent in new if extent != 1]:
        return None
    remaining = iter(of_old)
    return [-1 if extent == 1 else next(remaining) for extent in new]


def selection(shape: Sequence[int], axes: Sequence[Axis], result_axes: Sequence[int]) -> Selection:
    """From the normal form: (start, step, count) per axis, and for each axis of the result its axis, or -1."""
    items: list[Any] = []
    kept = [axis for axis in result_axes if axis >= 0]
    new_axes = [0] * (len(shape) + 1)  # before each axis that is kept
    for position, axis in enumerate(result_axes):
        if axis < 0:
            new_axes[next((a for a in result_axes[position:] if a >= 0), len(shape))] += 1
    for axis, taken in enumerate(axes):
        items += [None] * new_axes[axis] + [_range(*taken) if axis in kept else taken[0]]
    return Selection.from_index(shape, (*items, *[None] * new_axes[len(shape)]))


def _range(start: int, step: int, count: int) -> slice:
    if count == 0:
        return slice(0, 0)
    stop = start + step * (count - 1) + (1 if step > 0 else -1)
    return slice(start, None if stop < 0 else stop, step)
