"""Random slice specifications, valid and invalid, and random elements of every dtype."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import backslice as bs
import numpy as np
from numpy.typing import NDArray
from wire import named_dtype

EXTREMES = {"int32": [-(2**31), 2**31 - 1, -(2**31) + 1], "int64": [-(2**63), 2**63 - 1, -(2**63) + 1, 2**31 - 1]}


@dataclass
class Spec:
    """The arguments of one call: integer arrays, and masks for TensorFlow."""

    shape: tuple[int, ...]
    integers: dict[str, NDArray[Any]]
    masks: dict[str, int] = field(default_factory=dict)


class Cases:
    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def chance(self, p: float) -> bool:
        return bool(self.random.random() < p)

    def pick(self, low: int, high: int) -> int:
        """Return a number with low <= result <= high."""
        return int(self.random.integers(low, high + 1))

    def shape(self, max_rank: int) -> tuple[int, ...]:
        """Return small extents, sometimes 0, with at most some thousand elements."""
        dims: list[int] = []
        size = 1
        for _ in range(self.pick(0, max_rank)):
            extent = 0 if self.chance(0.04) else self.pick(1, 6)
            if size * max(extent, 1) > 3000:
                extent = 1
            size *= max(extent, 1)
            dims.append(extent)
        return tuple(dims)

    def bound(self, n: int, index_type: str) -> int:
        return int(self.random.choice(EXTREMES[index_type])) if self.chance(0.06) else self.pick(-n - 2, n + 2)

    def step(self, index_type: str, zero: float = 0.01) -> int:
        if self.chance(zero):
            return 0
        if self.chance(0.05):
            return int(self.random.choice(EXTREMES[index_type]))
        return self.pick(1, 3) * (-1 if self.chance(0.4) else 1)

    def mask(self, entries: int, density: float) -> int:
        bits = sum(1 << i for i in range(entries) if self.chance(density))
        if self.chance(0.02):
            bits |= 1 << self.pick(0, 30)
        return -1 if self.chance(0.01) else bits

    def tensorflow(self) -> Spec:
        shape = self.shape(8)
        index_type = "int32" if self.chance(0.5) else "int64"
        entries = self.pick(0, len(shape) + (2 if self.chance(0.15) else 0))
        new_axes = self.mask(entries, 0.08)
        shrink = self.mask(entries, 0.12)
        ellipsis = 1 << self.pick(0, max(entries - 1, 0)) if self.chance(0.3) else 0
        if self.chance(0.02):
            ellipsis |= 1 << self.pick(0, 30)
        axis_of = [min(i, len(shape) - 1) for i in range(entries)]
        extent = [shape[a] if shape else 1 for a in axis_of]
        begin = [self.bound(n, index_type) for n in extent]
        strides = [self.step(index_type) for _ in extent]
        for i, n in enumerate(extent):
            if shrink >> i & 1 and n and not self.chance(0.05):  # mostly valid indices
                begin[i] = self.pick(-n, n - 1)
                strides[i] = abs(strides[i]) if strides[i] > -(2**31) else 1
        end = [self.bound(n, index_type) for n in extent]
        if self.chance(0.01):
            end = end[:-1]
        lists = {"begin": begin, "end": end, "strides": strides}
        integers = {name: np.array(values, index_type) for name, values in lists.items()}
        masks = {
            "begin_mask": self.mask(entries, 0.3),
            "end_mask": self.mask(entries, 0.3),
            "ellipsis_mask": ellipsis,
            "new_axis_mask": new_axes,
            "shrink_axis_mask": shrink,
        }
        return Spec(shape, integers, masks)

    def gradient_shape(self, spec: Spec) -> tuple[int, ...]:
        """Return the shape of the slice, and sometimes another."""
        try:
            shape = bs.Selection.from_tf(spec.shape, **spec.integers, **spec.masks).result_shape
        except bs.Error:
            shape = (1,)
        return self.wrong_shape(shape) if self.chance(0.03) else shape

    def onnx(self) -> Spec:
        shape = self.shape(6)
        rank = len(shape)
        index_type = "int32" if self.chance(0.5) else "int64"
        entries = self.pick(0, rank)
        axes = [int(a) for a in self.random.permutation(rank)[:entries]]
        with_axes = self.chance(0.7)
        sliced = axes if with_axes else list(range(entries))
        starts = [self.bound(shape[a], index_type) for a in sliced]
        ends = [self.bound(shape[a], index_type) for a in sliced]
        lists = {"starts": starts, "ends": ends}
        if with_axes:
            lists["axes"] = [a - rank if self.chance(0.3) else a for a in axes]
            if entries and self.chance(0.03):
                lists["axes"][0] = self.pick(-rank - 2, rank + 1)
        if self.chance(0.7):
            lists["steps"] = [self.step(index_type) for _ in sliced]
        return Spec(shape, {name: np.array(values, index_type) for name, values in lists.items()})

    def elements(self, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
        size = int(np.prod(shape))
        if dtype == "object":
            array = np.empty(size, object)
            array[:] = [b"x" * self.pick(0, 30) for _ in range(size)]
            return array.reshape(shape)
        if dtype == "bool":
            return self.random.integers(0, 2, shape).astype(bool)
        numpy_dtype = named_dtype(dtype)
        raw = self.random.integers(0, 256, size * numpy_dtype.itemsize, dtype=np.uint8)
        return raw.view(numpy_dtype).reshape(shape)

    def wrong_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return another shape, often with the same number of elements."""
        if self.chance(0.5):
            return (*shape, 1)
        if shape and self.chance(0.5):
            return tuple(n + 1 if i == 0 else n for i, n in enumerate(shape))
        return (self.pick(0, 9),)


def rotate(names: list[str]) -> Iterator[str]:
    while True:
        yield from names
