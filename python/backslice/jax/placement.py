"""Where the elements of an array lie in a larger one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .._core import Selection
from .selections import Axis, selection


@dataclass(frozen=True)
class Placement:
    """For each axis of an array (axis, first, step) in the larger one, or None for one of extent 1 that has no axis
    there; and the position along each axis of the larger one that the array does not have."""

    axes: tuple[Axis | None, ...]
    fixed: Mapping[int, int] = field(default_factory=dict)

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
