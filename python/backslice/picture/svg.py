"""Pictures as SVG, for files and notebooks."""

from html import escape
from xml.etree import ElementTree

from .model import Cell, Kind, Panel, Picture
from .style import FAINT, FILL, INK, column_labels, opacity, text_colour

CELL_WIDTH, CELL_HEIGHT, GAP = 30, 22, 2
LABEL, LINE, MARGIN, COLUMNS_OF_PANELS = 11, 18, 12, 3


def svg(picture: Picture) -> str:
    """Draw a picture as SVG.

    Parameters
    ----------
    picture : Picture
        What `of` returned.

    Returns
    -------
    str
        The text of an SVG file.
    """
    root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg")
    ElementTree.SubElement(root, "title").text = picture.title
    _add(root, "rect", width="100%", height="100%", fill="white", **{"class": "ground"})
    _text(root, MARGIN, MARGIN + LINE - 5, picture.title, size=13, anchor="start", weight="bold")
    x, y, widest, tallest = MARGIN, MARGIN + LINE + 4, 0, 0
    for i, panel in enumerate(picture.panels):
        if i and i % COLUMNS_OF_PANELS == 0:
            x, y, tallest = MARGIN, y + tallest + LINE, 0
        width, height = _panel(root, panel, x, y)
        x += width + 2 * MARGIN
        tallest, widest = max(tallest, height), max(widest, x)
    y += tallest
    for note in picture.notes:
        y += LINE
        _text(root, MARGIN, y, note, size=LABEL, anchor="start", fill=FAINT)
    texts = [(picture.title, 8.0), *((note, 6.8) for note in picture.notes)]
    width = max(widest, *(round(2 * MARGIN + len(text) * advance) for text, advance in texts))
    height = y + MARGIN
    root.attrib |= {"width": str(width), "height": str(height), "viewBox": f"0 0 {width} {height}"}
    root.attrib |= {"role": "img", "font-family": "ui-monospace, Menlo, Consolas, monospace"}
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def html(picture: Picture) -> str:
    """Draw a picture as an HTML figure: the SVG, with a caption that can be copied.

    Parameters
    ----------
    picture : Picture
        What `of` returned.

    Returns
    -------
    str
        A ``<figure>`` element.
    """
    return f'<figure style="margin: 0">{svg(picture)}<figcaption hidden>{escape(picture.title)}</figcaption></figure>'


def _panel(root: ElementTree.Element, panel: Panel, x: int, y: int) -> tuple[int, int]:
    """Draws a panel and tells its width and height."""
    group = _add(root, "g", **{"class": "panel"})
    left = max(map(len, panel.row_labels)) * 7 + 6 if panel.row_labels else 0
    top = 0
    if panel.title:
        top += LINE
        _text(group, x, y + top - 5, panel.title, size=LABEL, anchor="start")
    if panel.column_labels:
        top += LINE
        for i, label in column_labels(panel.column_labels).items():
            _text(group, x + left + i * CELL_WIDTH + CELL_WIDTH // 2, y + top - 5, label, LABEL, fill=FAINT)
    for i, row in enumerate(panel.rows):
        if panel.row_labels:
            baseline = y + top + i * CELL_HEIGHT + CELL_HEIGHT // 2 + 4
            _text(group, x + left - 6, baseline, panel.row_labels[i], LABEL, anchor="end", fill=FAINT)
        for j, cell in enumerate(row):
            _cell(group, cell, x + left + j * CELL_WIDTH, y + top + i * CELL_HEIGHT)
    return (
        max(left + panel.columns * CELL_WIDTH, round(len(panel.title) * 6.8)),
        top + len(panel.rows) * CELL_HEIGHT,
    )


def _cell(group: ElementTree.Element, cell: Cell, x: int, y: int) -> None:
    width, height = CELL_WIDTH - GAP, CELL_HEIGHT - GAP
    box = _add(group, "rect", x=x, y=y, width=width, height=height, rx=3, **{"class": cell.kind.value})
    if cell.kind is Kind.EMPTY:
        box.attrib |= {"fill": "none", "stroke": FILL[Kind.LEFT]}
    else:
        box.set("fill", FILL[cell.kind])
    if cell.kind is Kind.PART:
        box.set("fill-opacity", f"{opacity(cell):.2f}")
    if cell.text:
        size = LABEL if len(cell.text) <= 4 else max(6, 4 * LABEL // len(cell.text))
        _text(group, x + width // 2, y + height // 2 + 4, cell.text, size, fill=text_colour(cell))


def _text(parent: ElementTree.Element, x: int, y: int, text: str, size: int = LABEL, anchor: str = "middle",
          fill: str = INK, weight: str = "normal") -> None:  # fmt: skip
    style = {"font-size": size, "text-anchor": anchor, "fill": fill, "font-weight": weight}
    _add(parent, "text", x=x, y=y, **style).text = text


def _add(parent: ElementTree.Element, tag: str, **attributes: object) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, {name: str(value) for name, value in attributes.items()})
