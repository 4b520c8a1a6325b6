"""What is drawn: panels of cells. Builders make them, and the terminal, SVG and PNG each draw them."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Kind(Enum):
    """What is at a cell."""

    EMPTY = "empty"  # nothing: no row reaches here, no entry is stored
    LEFT = "left"  # elements that the slice leaves out; a zero of the gradient
    PART = "part"  # a block of which some elements are taken
    TAKEN = "taken"  # elements that the slice takes


@dataclass(frozen=True)
class Cell:
    """One element, or a block of them: what is there, the text on it, and how much of the block is taken."""

    kind: Kind
    text: str = ""
    share: float = 1.0  # of a block: how much of it is taken


@dataclass(frozen=True)
class Panel:
    """One grid. Rows may differ in length. Dense ones have no numbers to read and are drawn without gaps."""

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
    """What is drawn: a title, panels of cells, and notes below them."""

    title: str
    panels: list[Panel]
    notes: list[str] = field(default_factory=list)
    are_elements: bool = True  # one per cell; else cells are blocks of several


@dataclass(frozen=True)
class Limits:
    """How many cells fit: more elements than that are drawn as blocks. Dense cells are too small for numbers."""

    rows: int = 16
    columns: int = 24
    panels: int = 6
    is_dense: bool = False


def panel_from(made: tuple[Any, ...]) -> Panel:
    """A panel from what the extension made."""
    title, rows, row_labels, column_labels, is_dense = made
    cells = [[Cell(Kind(kind), text, share) for kind, text, share, _ in row] for row in rows]
    return Panel(title, cells, row_labels, column_labels, is_dense)


def picture_from(made: tuple[Any, ...]) -> Picture:
    """A picture from what the extension made."""
    title, panels, notes, are_elements = made
    return Picture(title, [panel_from(panel) for panel in panels], notes, are_elements)
