"""Random sparse slices and their gradients, valid and invalid."""

from typing import Any

import backslice as bs
import numpy as np
from cases import Cases
from numpy.typing import NDArray

EXTREME = [-(2**63), 2**63 - 1, 2**63 - 2, -(2**63) + 1]


class SparseCases(Cases):
    def indices(self, rows: int, rank: int, extent: int) -> NDArray[Any]:
        """Return indices: sorted or not, with few or many duplicates, and sometimes with extremes of int64."""
        matrix = self.random.integers(0, max(extent, 1), (rows, rank))
        if self.chance(0.05) and matrix.size:
            matrix.ravel()[self.pick(0, matrix.size - 1)] = self.random.choice(EXTREME)
        if self.chance(0.5) and rank:
            matrix = matrix[np.lexsort(matrix.T[::-1])]
        return np.ascontiguousarray(matrix)

    def arguments(self) -> tuple[NDArray[Any], list[int], list[int], list[int]]:
        rank, extent = self.pick(0, 8), self.pick(1, 5)
        indices = self.indices(self.pick(0, 25), rank, extent)
        start = [self.pick(-2, extent + 1) for _ in range(rank)]
        size = [self.pick(0, extent + 2) for _ in range(rank)]
        if rank and self.chance(0.05):
            start[self.pick(0, rank - 1)] = int(self.random.choice(EXTREME))
        return indices, [extent] * rank, start, size

    def gradient_arguments(self, dtype: str) -> tuple[dict[str, NDArray[Any]], bool]:
        """Return the arguments of SparseSliceGrad, and whether an index plus its start overflows int64."""
        indices, shape, start, size = self.arguments()
        output = bs.sparse_slice(indices, np.zeros(len(indices)), shape, start, size)[0]
        if self.chance(0.2):
            output = output[self.random.permutation(len(output))]
        if self.chance(0.1) and len(output):
            output = output[:-1]
        if self.chance(0.05):
            output = self.indices(self.pick(0, len(indices) + 1), indices.shape[1], 4)
        grad = self.elements(dtype, (len(output) + (1 if self.chance(0.02) else 0),))
        arguments = {
            "backprop_val_grad": grad,
            "input_indices": indices,
            "input_start": vector(start + ([0] if self.chance(0.02) else [])),
            "output_indices": np.ascontiguousarray(output),
        }
        overflows = any(
            not -(2**63) <= int(o) + s <= 2**63 - 1 for row in output for o, s in zip(row, start, strict=True)
        )
        return arguments, overflows


def vector(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def wraps(start: list[int], size: list[int]) -> bool:
    """TensorFlow's start + size may wrap around; ours does not."""
    return any(s + z > 2**63 - 1 for s, z in zip(start, size, strict=False))
