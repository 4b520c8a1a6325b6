"""Pictures of selections: one cell per element while they fit, beyond that one per block; one panel per slab."""

from itertools import product
from math import prod
from typing import NamedTuple

from .._core import Selection
from ..dialects import index_text
from .model import Cell, Kind, Limits, Panel, Picture

MAX_LABELLED = 1000  # longer numbers would not fit a cell


class Block(NamedTuple):
    """A range of one axis, how many of its indices are taken, and the position of the first of them in the result."""

    lo: int
    hi: int
    taken: int
    position: int

    @property
    def label(self) -> str:
        return str(self.lo) if self.hi == self.lo + 1 else f"{self.lo}:{self.hi}"


def cut_axis(extent: int, axis: tuple[int, int, int], most: int) -> list[Block]:
    """At most that many blocks; their size is a power of two."""
    start, step, count = axis
    first, stride = (start, step) if step > 0 else (start + (count - 1) * step, -step)

    def below(bound: int) -> int:  # how many taken indices are smaller
        return min(max(-((first - bound) // stride), 0), count)

    blocks = []
    size = 1 << (-(-extent // most) - 1).bit_length() if extent else 1
    for lo in range(0, extent, size):
        hi = min(lo + size, extent)
        before, taken = below(lo), below(hi) - below(lo)
        blocks.append(Block(lo, hi, taken, before if step > 0 else count - before - taken))
    return blocks


def most_blocks(shape: tuple[int, ...], limits: Limits) -> list[int]:
    """How many blocks each axis may have: the last two are a grid, those before them share the panels."""
    most = [limits.rows if len(shape) <= 2 else limits.rows // 2, limits.columns]
    left = limits.panels
    for extent in reversed(shape[:-2]):
        most.insert(0, max(1, min(extent, left)))
        left //= most[0]
    return most[-len(shape) :] if shape else []


def cell_of(blocks: tuple[Block, ...], counts: list[int], labelled: bool) -> Cell:
    size = prod(block.hi - block.lo for block in blocks)
    taken = prod(block.taken for block in blocks)
    if taken == 0:
        return Cell(Kind.LEFT)
    if taken < size:
        return Cell(Kind.PART, share=taken / size)
    position = 0
    for block, count in zip(blocks, counts, strict=True):
        position = position * count + block.position
    return Cell(Kind.TAKEN, str(position) if labelled else "")


def of_selection(selection: Selection, limits: Limits | None = None) -> Picture:
    shape, limits = selection.shape, limits or Limits()
    cuts = zip(shape, selection.axes, most_blocks(shape, limits), strict=True)
    missing = max(0, 2 - len(shape))  # a vector is a matrix of one row, a scalar one of one element
    axes = [[Block(0, 1, 1, 0)]] * missing + [cut_axis(*cut) for cut in cuts]
    counts = [1] * missing + [count for _, _, count in selection.axes]
    *slabs, rows, columns = axes
    are_elements = all(block.hi == block.lo + 1 for axis in axes for block in axis)
    labelled = are_elements and prod(counts) <= MAX_LABELLED and not limits.is_dense

    def panel(slab: tuple[Block, ...]) -> Panel:
        return Panel(
            f"x[{', '.join(block.label for block in slab)}, :, :]" if slab else "",
            [[cell_of((*slab, row, column), counts, labelled) for column in columns] for row in rows],
            [row.label for row in rows] if len(shape) > 1 else [],
            [column.label for column in columns] if shape else [],
            limits.is_dense,
        )

    notes = []
    if labelled and prod(counts) > 0:
        notes.append("The numbers are the positions in the result, in row-major order.")
    if not are_elements:
        block = " x ".join(str(axis[0].hi if axis else 0) for axis in axes[missing:])
        shaded = f"Each cell is {block} elements, shaded by the share that is taken."
        notes.append(shaded if limits.is_dense else f"Each cell is a block of {block} elements.")
    if prod(shape) == 0:
        notes.append("The input has no elements.")
    title = f"{index_text(selection)} of shape {list(shape)} gives shape {list(selection.result_shape)}"
    return Picture(title, [panel(slab) for slab in product(*slabs)], notes, are_elements)
