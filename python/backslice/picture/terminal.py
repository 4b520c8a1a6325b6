"""Pictures for the terminal: coloured, and readable without colours."""

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.text import Text

from .model import Cell, Kind, Limits, Panel, Picture
from .style import LONGEST_LABEL, beginning

STYLE = {Kind.EMPTY: "dim", Kind.LEFT: "dim", Kind.PART: "black on yellow", Kind.TAKEN: "bold white on green"}
SIGN = {Kind.EMPTY: " ", Kind.LEFT: "·", Kind.PART: "▒", Kind.TAKEN: "■"}
MAX_LABEL = 11  # longer ranges of rows are shown by where they begin
PLAIN_SIGN = {Kind.EMPTY: " ", Kind.LEFT: ".", Kind.PART: "+", Kind.TAKEN: "#"}


def signs(console: Console) -> dict[Kind, str]:
    """Those that the terminal's encoding can write."""
    try:
        "".join(SIGN.values()).encode(console.encoding)
    except UnicodeEncodeError:
        return PLAIN_SIGN
    return SIGN


def limits_for(width: int) -> Limits:
    """As many columns of numbers as fit beside the labels of the rows."""
    return Limits(columns=max(1, min(Limits.columns, (width - MAX_LABEL - 1) // (LONGEST_LABEL + 1))))


def terminal(picture: Picture, console: Console) -> RenderableType:
    panels = [_panel(panel, signs(console)) for panel in picture.panels]
    body = Columns(panels, padding=(1, 3)) if len(panels) > 1 else Group(*panels)
    return Group(body, *(Text(note, style="dim") for note in picture.notes))


def _panel(panel: Panel, sign: dict[Kind, str]) -> Text:
    cells = [[cell.text or sign[cell.kind] for cell in row] for row in panel.rows]
    width = max((len(text) for row in cells for text in row), default=1)
    ranges = max(map(len, panel.column_labels), default=0)
    if ranges <= LONGEST_LABEL:
        width = max(width, ranges)
    labels = panel.row_labels
    if max(map(len, labels), default=0) > MAX_LABEL:
        labels = [beginning(label) for label in labels]
    left = max(map(len, labels), default=0)
    text = Text(no_wrap=True, overflow="crop")
    if panel.title:
        text.append(panel.title + "\n")
    if panel.column_labels:
        text.append(" " * (left + 1) + _header(panel.column_labels, width) + "\n", style="dim")
    for i, row in enumerate(panel.rows):
        label = labels[i] if labels else ""
        text.append(label.rjust(left) + " ", style="dim")
        for cell, shown in zip(row, cells[i], strict=True):
            _append(text, cell, shown.rjust(width))
        text.append("\n")
    text.rstrip()
    return text


def _append(text: Text, cell: Cell, shown: str) -> None:
    """A block without a number is one colour; its sign is for those who see none."""
    is_block = cell.kind is Kind.TAKEN and not cell.text
    text.append(shown, style="green on green" if is_block else STYLE[cell.kind])
    text.append(" ")


def _header(labels: list[str], width: int) -> str:
    """A label over each column, or, where they are too long, over as many as have room."""
    line = ""
    for i, label in enumerate(labels):
        at = i * (width + 1)
        short = beginning(label) if len(label) > width else label
        if len(line) <= at:
            line = line.ljust(at) + short.rjust(width) + " "
    return line.rstrip()
