"""Pictures for the terminal: coloured, and readable without colours.

If every element has room for a number, it shows its position in the result. Otherwise blocks of elements fill the width
of the terminal, shaded by the fraction that is selected.
"""

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.text import Text

from .._core import Selection
from .model import Cell, Kind, Limits, Panel, Picture
from .selections import of_selection
from .style import beginning

STYLE = {Kind.EMPTY: "dim", Kind.LEFT: "dim", Kind.PART: "black on yellow", Kind.TAKEN: "bold white on green"}
SIGN = {Kind.EMPTY: " ", Kind.LEFT: "·", Kind.PART: "▒", Kind.TAKEN: "■"}
PLAIN_SIGN = {Kind.EMPTY: " ", Kind.LEFT: ".", Kind.PART: "+", Kind.TAKEN: "#"}
SHADES, PLAIN_SHADES = "·░▒▓█", ".-+*#"  # none selected, few, about half, many, all
LITTLE, MUCH = 0.42, 0.58  # far from 1/3, 1/2 and 2/3, so that blocks of an even slice get one shade
MAX_LABEL = 11  # longer ranges of rows show only their beginning
ACROSS, GAP, NARROWEST = 3, 3, 20  # panels side by side, the blanks between them, and the least width of a panel


def writes_blocks(console: Console) -> bool:
    try:
        ("".join(SIGN.values()) + SHADES).encode(console.encoding)
    except UnicodeEncodeError:
        return False
    return True


def for_terminal(selection: Selection, width: int, height: int) -> Picture:
    """Return a picture of at most that many lines: with numbers if every element has room for one, else dense."""
    numbered = of_selection(selection)
    if numbered.are_elements and _fits(numbered.panels, width, height):
        return numbered
    rows, across = (height - 1, 1) if len(selection.shape) <= 2 else (2 * (height - 2), _across(width, ACROSS))
    columns = max(1, _share_of(width, across) - MAX_LABEL - 1)
    return of_selection(selection, Limits(max(2, rows), columns, across, is_dense=True))


def _fits(panels: list[Panel], width: int, height: int) -> bool:
    widest = max((_label_width(panel) + panel.columns * (_cell_width(panel) + 1) - 1 for panel in panels), default=0)
    tallest = max((len(panel.rows) + 2 for panel in panels), default=0)  # with title and header
    across = (width + GAP) // (max(widest, 0) + GAP)
    return across > 0 and -(-len(panels) // across) * tallest <= height + 1


def _across(width: int, panels: int) -> int:
    """Return how many panels fit side by side."""
    return max(1, min(panels, ACROSS, (width + GAP) // (NARROWEST + GAP)))


def _share_of(width: int, across: int) -> int:
    return (width - GAP * (across - 1)) // across


def terminal(picture: Picture, console: Console) -> RenderableType:
    width = _share_of(console.width, _across(console.width, len(picture.panels)))
    panels = [_panel(panel, console, width) for panel in picture.panels]
    body = Columns(panels, padding=(1, GAP)) if len(panels) > 1 else Group(*panels)
    return Group(body, *(Text(note, style="dim") for note in picture.notes))


def _row_labels(panel: Panel) -> list[str]:
    is_long = max(map(len, panel.row_labels), default=0) > MAX_LABEL
    return [beginning(label) for label in panel.row_labels] if is_long else panel.row_labels


def _label_width(panel: Panel) -> int:
    """Return the width of the row labels, including the blank after them."""
    return max(map(len, _row_labels(panel)), default=-1) + 1


def _cell_width(panel: Panel) -> int:
    return max(map(len, (*panel.column_labels, *(cell.text for row in panel.rows for cell in row))), default=0) or 1


def _panel(panel: Panel, console: Console, width: int) -> Text:
    left = _label_width(panel)
    rows = _dense_rows(panel, console, width - left) if panel.is_dense else _numbered_rows(panel, console)
    headers = [""] * (len(rows) - len(panel.rows))
    labels = headers + (_row_labels(panel) or [""] * len(panel.rows))
    text = Text(panel.title + "\n" if panel.title else "", no_wrap=True, overflow="crop")
    for label, row in zip(labels, rows, strict=True):
        text.append(label.rjust(left - 1) + " " if left else "", style="dim")
        text.append_text(row)
        text.append("\n")
    text.rstrip()
    return text


def _numbered_rows(panel: Panel, console: Console) -> list[Text]:
    """Draw cells of equal width, separated by blanks, below the labels of the columns."""
    sign = SIGN if writes_blocks(console) else PLAIN_SIGN
    width = _cell_width(panel)
    header = [Text(" ".join(label.rjust(width) for label in panel.column_labels), "dim")] if panel.column_labels else []
    return header + [
        Text(" ").join(Text((cell.text or sign[cell.kind]).rjust(width), STYLE[cell.kind]) for cell in row)
        for row in panel.rows
    ]


def _dense_rows(panel: Panel, console: Console, width: int) -> list[Text]:
    """Draw cells stretched over the width, below as many labels as fit."""
    shades = SHADES if writes_blocks(console) else PLAIN_SHADES
    count = max(panel.columns, len(panel.column_labels), 1)  # without rows, only the labels are drawn
    edges = [i * max(width, count) // count for i in range(count + 1)]
    rows = []
    for row in panel.rows:
        shown = Text()
        for i, cell in enumerate(row):
            shown.append(shades[_shade(cell)] * (edges[i + 1] - edges[i]), "green" if _shade(cell) else "dim")
        rows.append(shown)
    return ([Text(_header(panel.column_labels, edges), "dim")] if panel.column_labels else []) + rows


def _shade(cell: Cell) -> int:
    if cell.kind is not Kind.PART:
        return 4 if cell.kind is Kind.TAKEN else 0
    return 1 if cell.share < LITTLE else 2 if cell.share <= MUCH else 3


def _header(labels: list[str], edges: list[int]) -> str:
    """Return labels at block boundaries: of every first, second, fourth ... block, so that they stay two blanks
    apart."""
    begins = [beginning(label) for label in labels]
    every = 1
    while any(edges[i] + len(begins[i]) + 2 > edges[i + every] for i in range(0, len(begins) - every, every)):
        every *= 2
    line = ""
    for i in range(0, len(begins), every):
        if edges[i] + len(begins[i]) <= edges[-1]:
            line = line.ljust(edges[i]) + begins[i]
    return line
