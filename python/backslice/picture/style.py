"""The style of PNG and of the terminal: the colours of SVG, and the columns that get a label."""

from .._core import _palette
from .model import Cell, Kind

PALETTE = _palette()
INK, FAINT = PALETTE["ink"], PALETTE["faint"]
FILL = {Kind.LEFT: PALETTE["left"], Kind.PART: PALETTE["part"], Kind.TAKEN: PALETTE["taken"]}
LONGEST_LABEL = 4  # the longest label that fits over a column


def text_colour(cell: Cell) -> str:
    return PALETTE["on_taken"] if cell.kind is Kind.TAKEN else FAINT


def opacity(cell: Cell) -> float:
    """Return the colour of a block, pale if few of its elements are selected."""
    return 0.25 + 0.75 * cell.share if cell.kind is Kind.PART else 1.0


def beginning(label: str) -> str:
    """Return the beginning of a range: 256 of "256:512"."""
    return label.split(":")[0]


def column_labels(labels: list[str]) -> dict[int, str]:
    """Return the label of each column. If the labels would touch each other, return only the beginning of every third
    or a later one."""
    if max(map(len, labels), default=0) <= LONGEST_LABEL:
        return dict(enumerate(labels))
    begins = [beginning(label) for label in labels]
    every = max(3, -(-max(map(len, begins)) // (LONGEST_LABEL - 1)))  # one character less, as the gap
    return {i: begins[i] for i in range(0, len(labels), every)}
