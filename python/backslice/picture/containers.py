"""Pictures of arrays, ragged tensors and sparse windows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import RaggedTensor, _entries_panel, _rows_picture
from .model import Cell, Kind, Limits, Panel, Picture, panel_from


def value_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float, np.integer, np.floating)) else str(value)


def of_array(values: NDArray[Any], title: str, row_labels: Sequence[object] = ()) -> Panel:
    """Return a panel of the values of an array of rank 0 to 2; zeros are pale."""
    grid = np.atleast_2d(values)
    rows = [[Cell(Kind.TAKEN if v else Kind.LEFT, value_text(v)) for v in row] for row in grid]
    return Panel(title, rows, [str(label) for label in row_labels])


def of_entries(indices: Sequence[Sequence[int]], values: NDArray[Any], shape: Sequence[int], title: str,
               start: Sequence[int] | None = None, size: Sequence[int] | None = None) -> Panel:  # fmt: skip
    """Return a panel of the entries of a sparse matrix. Entries outside the window, and zeros, are pale."""
    entries = []
    for (row, column), value in zip(indices, values, strict=True):
        inside = start is None or size is None or all(
            s <= i < s + z for i, s, z in zip((row, column), start, size, strict=True)
        )  # fmt: skip
        entries.append((int(row), int(column), bool(inside and value), value_text(value)))
    rows, columns = map(int, shape)
    return replace(panel_from(_entries_panel(rows, columns, entries)), title=title)


def of_ragged(ragged: RaggedTensor, limits: Limits | None = None) -> Picture:
    """Return a panel with one row per row of the innermost splits. Long rows are drawn in blocks of values, and only
    the first rows are drawn."""
    limits = limits or Limits()
    splits = ragged.nested_row_splits
    title = f"RaggedTensor of shape {list(ragged.shape)}, dtype {ragged.dtype}"
    if not splits:
        return Picture(title, [], ["No splits: all rows are equally long."])
    _, [(_, rows, labels, _, _)], notes, are_elements = _rows_picture(list(splits), limits.rows, limits.columns)
    shows_values = are_elements and ragged.device == "cpu" and ragged.values.ndim == 1

    def cell(text: str, position: int) -> Cell:
        return Cell(Kind.TAKEN, value_text(ragged.values[position]) if shows_values else text)

    cells = [[cell(text, position) for _, text, _, position in row] for row in rows]
    return Picture(title, [Panel("", cells, labels)], notes)
