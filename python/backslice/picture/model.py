"""The model of a picture: panels of cells. Builders make them, and the terminal, SVG and PNG each draw them."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Kind(Enum):
    """The content of a cell."""

    EMPTY = "empty"  # no element: beyond the end of a row, or no stored entry
    LEFT = "left"  # elements that are not selected; zeros of the gradient
    PART = "part"  # a block with some selected elements
    TAKEN = "taken"  # selected elements


@dataclass(frozen=True)
class Cell:
    """One element, or a block of them: its content, its text, and the fraction of the block that is selected."""

    kind: Kind
    text: str = ""
    share: float = 1.0  # selected fraction of a block


@dataclass(frozen=True)
class Panel:
    """One grid, whose rows may differ in length. A dense grid has no numbers and no gaps."""

    title: str
    rows: list[list[Cell]]
    row_labels: list[str] = field(default_factory=list)
    column_labels: list[str] = field(default_factory=list)
    is_dense: bool = False

    @property
    def columns(self) -> int:
        return max(map(len, self.rows), default=0)


@dataclass(frozen=True)
class Picture:
    """A picture: a title, panels of cells, and notes below them."""

    title: str
    panels: list[Panel]
    notes: list[str] = field(default_factory=list)
    are_elements: bool = True  # each cell is one element, not a block of several


@dataclass(frozen=True)
class Limits:
    """The most cells to draw; more elements are drawn as blocks. Dense cells are too small for numbers."""

    rows: int = 16
    columns: int = 24
    panels: int = 6
    is_dense: bool = False


def panel_from(made: tuple[Any, ...]) -> Panel:
    """Make a panel from the extension's."""
    title, rows, row_labels, column_labels, is_dense = made
    cells = [[Cell(Kind(kind), text, share) for kind, text, share, _ in row] for row in rows]
    return Panel(title, cells, row_labels, column_labels, is_dense)


def picture_from(made: tuple[Any, ...]) -> Picture:
    """Make a picture from the extension's."""
    title, panels, notes, are_elements = made
    return Picture(title, [panel_from(panel) for panel in panels], notes, are_elements)
