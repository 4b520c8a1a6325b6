"""Pictures of arrays, ragged tensors and sparse windows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import RaggedTensor
from .model import Cell, Kind, Limits, Panel, Picture


def value_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float, np.integer, np.floating)) else str(value)


def of_array(values: NDArray[Any], title: str, row_labels: Sequence[object] = ()) -> Panel:
    """The values of an array of rank 0 to 2; zeros stand back."""
    grid = np.atleast_2d(values)
    rows = [[Cell(Kind.TAKEN if v else Kind.LEFT, value_text(v)) for v in row] for row in grid]
    return Panel(title, rows, [str(label) for label in row_labels])


def of_entries(indices: Sequence[Sequence[int]], values: NDArray[Any], shape: Sequence[int], title: str,
               start: Sequence[int] | None = None, size: Sequence[int] | None = None) -> Panel:  # fmt: skip
    """The entries of a sparse matrix; those outside the window, or whose value is zero, stand back."""
    grid = [[Cell(Kind.EMPTY) for _ in range(shape[1])] for _ in range(shape[0])]
    for (row, column), value in zip(indices, values, strict=True):
        inside = start is None or size is None or all(
            s <= i < s + z for i, s, z in zip((row, column), start, size, strict=True)
        )  # fmt: skip
        grid[row][column] = Cell(Kind.TAKEN if inside and value else Kind.LEFT, value_text(value))
    return Panel(title, grid, [str(i) for i in range(shape[0])], [str(i) for i in range(shape[1])])


def of_ragged(ragged: RaggedTensor, limits: Limits | None = None) -> Picture:
    """One row per row of the innermost splits; long rows are drawn in blocks of values, and only the first rows."""
    limits = limits or Limits()
    splits = ragged.nested_row_splits
    title = f"RaggedTensor of shape {list(ragged.shape)}, dtype {ragged.dtype}"
    if not splits:
        return Picture(title, [], ["No splits: all rows are equally long."])
    inner = splits[-1]
    lengths = np.diff(inner)
    shown = min(len(lengths), limits.rows)
    longest = int(lengths[:shown].max(initial=0))
    block = max(1, -(-longest // limits.columns))
    rows = [_row(ragged.values, int(inner[i]), int(lengths[i]), block) for i in range(shown)]
    notes = []
    if block > 1:
        notes.append(f"Each cell is {block} values; the number is the length of the row.")
    if shown < len(lengths):
        notes.append(f"The first {shown} of {len(lengths)} rows.")
    return Picture(title, [Panel("", rows, _row_labels(splits, shown))], notes)


def _row(values: NDArray[Any], first: int, length: int, block: int) -> list[Cell]:
    if block > 1:
        cells = [Cell(Kind.TAKEN) for _ in range(-(-length // block))]
        return [Cell(Kind.TAKEN, str(length)), *cells[1:]] if cells else []
    if values.ndim > 1:
        return [Cell(Kind.TAKEN) for _ in range(length)]
    return [Cell(Kind.TAKEN, value_text(v)) for v in values[first : first + length]]


def _row_labels(splits: Sequence[NDArray[Any]], shown: int) -> list[str]:
    """2.0.1: row 1 of row 0 of row 2."""
    paths = [[i] for i in range(shown)]
    for outer in reversed(splits[:-1]):
        for path in paths:
            parent = int(np.searchsorted(outer, path[0], side="right")) - 1
            path[0] -= int(outer[parent])
            path.insert(0, parent)
    return [".".join(map(str, path)) for path in paths]
