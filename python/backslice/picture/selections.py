"""Pictures of selections: a cell an element while they fit, a cell a block of elements beyond, a panel a slab."""

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

from .._core import Selection
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


@dataclass(frozen=True)
class AxisBlocks:
    blocks: list[Block]

    @property
    def are_elements(self) -> bool:
        return all(block.hi == block.lo + 1 for block in self.blocks)


def cut_axis(extent: int, axis: tuple[int, int, int], most: int) -> AxisBlocks:
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
    return AxisBlocks(blocks)


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
    limits = limits or Limits()
    shape = selection.shape
    most = most_blocks(shape, limits)
    axes = [cut_axis(*cut) for cut in zip(shape, selection.axes, most, strict=True)]
    counts = [count for _, _, count in selection.axes]
    are_elements = all(axis.are_elements for axis in axes)
    labelled = are_elements and prod(counts) <= MAX_LABELLED
    one = AxisBlocks([Block(0, 1, 1, 0)])
    rows, columns = [one, one, *axes][-2:]
    drawn = len(axes)

    def panel(slab: tuple[Block, ...]) -> Panel:
        grid = [[cell_of((*slab, r, c)[-drawn or None :] if drawn else (r, c), counts or [1, 1], labelled)
                 for c in columns.blocks] for r in rows.blocks]  # fmt: skip
        title = "x[" + ", ".join([*(block.label for block in slab), ":", ":"]) + "]" if slab else ""
        return Panel(
            title,
            grid if drawn else [[Cell(Kind.TAKEN, "0")]],
            [block.label for block in rows.blocks] if drawn > 1 else [],
            [block.label for block in columns.blocks] if drawn else [],
        )

    notes = []
    if labelled and prod(counts) > 0:
        notes.append("The numbers are the positions in the result, in row-major order.")
    if not are_elements:
        block = " x ".join(str(axis.blocks[0].hi if axis.blocks else 0) for axis in axes)
        notes.append(f"Each cell is a block of {block} elements.")
    if prod(shape) == 0:
        notes.append("The input has no elements.")
    title = f"{index_text(selection)} of shape {list(shape)} gives shape {list(selection.result_shape)}"
    return Picture(title, [panel(slab) for slab in product(*(a.blocks for a in axes[:-2]))], notes)


def index_text(selection: Selection) -> str:
    """x[1:3, ::2]: the selection as Python says it, as short as it goes."""
    items = []
    extents = iter(selection.shape)
    for item in selection.to_index():
        extent = 1 if item is None else next(extents)
        items.append(shortest(item, extent) if isinstance(item, slice) else str(item))
    while items and items[-1] == ":" and len(items) > 1:
        items.pop()
    return f"x[{', '.join(items) or '...'}]"


def shortest(item: slice, extent: int) -> str:
    """One slice without the bounds that go without saying."""
    start, stop, step = item.start, item.stop, item.step or 1
    wanted = range(extent)[item]
    if wanted == range(extent)[:stop:step]:
        start = None
    if wanted == range(extent)[start::step]:
        stop = None
    bounds = f"{'' if start is None else start}:{'' if stop is None else stop}"
    return bounds if step == 1 else f"{bounds}:{step}"
