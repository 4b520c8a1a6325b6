"""Plain models of the containers: lists and NumPy arrays that do what a container should, one element at a time."""

from typing import Any

import numpy as np
from container_values import is_addable, of_dtype, zeros


class Refused(Exception):  # noqa: N818 (it is a result)
    """The container must refuse this, too."""


def require(condition: bool) -> None:
    if not condition:
        raise Refused


class ArrayModel:
    """A TensorArray: the value written at each index, or the sum of values for a gradient."""

    def __init__(self, size: int, dynamic: bool, clear: bool, dtype: np.dtype, sums: bool = False):
        self.size, self.dynamic, self.clear, self.dtype, self.sums = size, dynamic, clear, dtype, sums
        self.adds = sums and is_addable(dtype)
        self.shapes: dict[int, tuple[int, ...]] = {}
        self.values: dict[int, np.ndarray] = {}
        self.read_once: set[int] = set()
        self.closed = False

    def gradient(self) -> "ArrayModel":
        require(not self.closed and not self.sums)
        gradient = ArrayModel(self.size, False, True, self.dtype, sums=True)
        gradient.shapes = dict(self.shapes)
        self.dynamic = False
        return gradient

    def check_write(self, index: int, value: np.ndarray) -> None:
        require(0 <= index < (2**31 - 1 if self.dynamic else self.size))
        require(index not in self.read_once and (self.adds or index not in self.values))
        require(self.shapes.get(index, value.shape) == value.shape)

    def write_many(self, indices: list[int], values: list[np.ndarray]) -> None:
        require(not self.closed)
        shapes: dict[int, tuple[int, ...]] = {}
        for index, value in zip(indices, values, strict=True):
            self.check_write(index, value)
            require(self.adds or index not in shapes)
            require(shapes.setdefault(index, value.shape) == value.shape)
        for index, value in zip(indices, values, strict=True):
            self.values[index] = self.values[index] + value if index in self.values else value.copy()
            self.shapes[index] = value.shape
            self.size = max(self.size, index + 1)

    def peek(self, index: int) -> np.ndarray:
        require(0 <= index < self.size and index not in self.read_once and index in self.shapes)
        return self.values.get(index, zeros(self.shapes[index], self.dtype))

    def read_many(self, indices: list[int]) -> list[np.ndarray]:
        require(not self.closed)
        found = [self.peek(index) for index in indices]
        require(not self.clear or len(set(indices)) == len(indices))
        if self.clear:
            self.read_once.update(indices)
        return found

    def gather(self, indices: list[int]) -> np.ndarray:
        require(bool(indices) and not self.closed)
        require(len({self.peek(index).shape for index in indices}) == 1)
        return np.stack(self.read_many(indices))


class RaggedModel:
    """A RaggedTensor of one ragged axis: a list of arrays."""

    def __init__(self, lengths: list[int], dtype: np.dtype):
        self.splits = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.values = of_dtype(np.arange(1, self.splits[-1] + 1), dtype)

    def rows(self) -> list[list[int]]:
        return [row.tolist() for row in np.split(self.values, self.splits[1:-1])] if len(self.splits) > 1 else []

    def gradient(self, index: slice, grad: np.ndarray) -> np.ndarray:
        """Return the gradient of the selected rows: grad is at the positions of their values."""
        places = np.split(np.arange(len(self.values)), self.splits[1:-1]) if len(self.splits) > 1 else []
        taken = [place for row in places[index] for place in row]
        result = np.zeros(len(self.values), grad.dtype)
        result[taken] = grad
        return result


def joined_pieces(pieces: list[np.ndarray | None], lengths: list[int], dtype: Any) -> np.ndarray:
    """RaggedTensorToVariantGradient: the concatenated pieces, with zeros for missing ones."""
    parts = [zeros((n,), dtype) if piece is None else piece for piece, n in zip(pieces, lengths, strict=True)]
    return np.concatenate([zeros((0,), dtype), *parts])
