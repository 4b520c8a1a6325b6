"""Pictures of selections. C++ decides the content of each cell (picture.h)."""

from typing import NamedTuple

from .._core import Selection, _cut_axis, _picture
from .model import Limits, Picture, picture_from


class Block(NamedTuple):
    """A range of one axis, the number of its selected indices, and the position of the first of them in the result."""

    lo: int
    hi: int
    taken: int
    position: int


def cut_axis(extent: int, axis: tuple[int, int, int], most: int) -> list[Block]:
    """Divide an axis into at most that many blocks, whose size is a power of two."""
    return [Block(*block) for block in _cut_axis(extent, *axis, most)]


def of_selection(selection: Selection, limits: Limits | None = None) -> Picture:
    limits = limits or Limits()
    return picture_from(_picture(selection, limits.rows, limits.columns, limits.panels, limits.is_dense))
