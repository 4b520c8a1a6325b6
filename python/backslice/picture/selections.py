"""Pictures of selections. What is in each cell is decided in C++ (picture.h)."""

from typing import NamedTuple

from .._core import Selection, _cut_axis, _picture
from .model import Limits, Picture, picture_from


class Block(NamedTuple):
    """A range of one axis, how many of its indices are taken, and the position of the first of them in the result."""

    lo: int
    hi: int
    taken: int
    position: int


def cut_axis(extent: int, axis: tuple[int, int, int], most: int) -> list[Block]:
    """At most that many blocks; their size is a power of two."""
    return [Block(*block) for block in _cut_axis(extent, *axis, most)]


def of_selection(selection: Selection, limits: Limits | None = None) -> Picture:
    limits = limits or Limits()
    return picture_from(_picture(selection, limits.rows, limits.columns, limits.panels, limits.is_dense))
