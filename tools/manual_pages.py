"""Reads the pages of the manual for the tests and tools/draw_pictures.py: code blocks, and markers of pictures.

A marker stands between a code block and its picture, and says how to draw the picture:

    <!-- picture: gradient(bs.Selection.from_index((4, 6), "1:3, ::2"), dy, dx) -->
    ![The gradient of x[1:3, ::2]](images/slice_grad.svg)

Its names come from the page's code blocks, and from the drawings of tools/draw_pictures.py.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "HACKING.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_MARKER = re.compile(r"<!-- picture: (.*?) -->\s*!\[[^\n]*\]\(([^)\s]+\.svg)\)", re.DOTALL)
_IMAGE = re.compile(r"^!\[.*?\]\(([^)\s]+\.svg)\)$", re.MULTILINE)


class Block(NamedTuple):
    language: str
    code: str


class Marker(NamedTuple):
    """A picture, and the blocks of the page before it, the nearest last."""

    page: Path
    file: Path
    expression: str
    blocks: list[Block]


def blocks(text: str) -> list[Block]:
    return [Block(*found) for found in _BLOCK.findall(text)]


def markers(page: Path) -> Iterator[Marker]:
    text = page.read_text()
    for found in _MARKER.finditer(text):
        file = (page.parent / found[2]).resolve()
        yield Marker(page, file, " ".join(found[1].split()), blocks(text[: found.start()]))


def images(page: Path) -> set[Path]:
    """Return the SVG files that a page shows."""
    return {(page.parent / name).resolve() for name in _IMAGE.findall(page.read_text())}
