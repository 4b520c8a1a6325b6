"""The cases in which our kernel is faster on a CUDA device.

XLA's own kernel for a sum of gradients computes inside itself those dy's that are computed elementwise, which a call
has to find in memory: written by one kernel and read by the other. But XLA's looks at every element once per slice,
moves narrow elements at little more than half the speed of memory, and is slow with bands of rows.
"""

import math
from typing import Any

from .._core import Selection
from .selections import Slices, is_whole

LEAST_BYTES = 1 << 24  # of the gradient, once per slice; below, launching a kernel is most of the time
LEAST_BYTES_OF_SLICES = math.inf  # XLA reads slices in place, inside the kernels of what uses them
LEAST_BYTES_OF_ADDITIONS = 1 << 20

# Times on an H200, as shares of the time that a pass over the gradient takes at the speed of memory.
MARGIN = 1.05  # by which a call must be the faster one
OF_NARROW_ELEMENTS, OF_BANDS = 1.6, 1.15  # XLA's passes over such
OF_CUT_ROWS = 3.5  # ours, where several slices take parts of rows, which begin anywhere
OF_ONE_SLICE = 0.12  # XLA's look at every element for one slice, over the bytes of an element


def gradient_pays(dx: Any, slices: Slices) -> bool:
    selections = slices.selections
    if len(selections) * math.prod(dx.shape) * dx.dtype.itemsize < LEAST_BYTES:
        return False
    if len(selections) == 1 and all(
        is_whole(selections[0], axis) for axis in range(len(dx.shape))
    ):  # no kernel for XLA
        return False
    taken, computed = _shares(dx, slices)
    slow = OF_NARROW_ELEMENTS if dx.dtype.itemsize < 4 else OF_BANDS if all(map(_is_band, selections)) else 1
    by_xla = slow * (1 + taken) + len(selections) * OF_ONE_SLICE / dx.dtype.itemsize
    moved = (1 + taken) * (OF_CUT_ROWS if len(selections) > 1 and not all(map(_is_band, selections)) else 1)
    return bool(MARGIN * (moved + 2 * computed) < by_xla)


def addition_pays(total: Any, slices: Slices) -> bool:
    """XLA goes over the whole sum, reading and writing it."""
    if math.prod(total.shape) * total.dtype.itemsize < LEAST_BYTES_OF_ADDITIONS:
        return False
    taken, computed = _shares(total, slices)
    return MARGIN * (3 * taken + 2 * computed) < 2 + taken


def _shares(dx: Any, slices: Slices) -> tuple[float, float]:
    """Return the share of the gradient that the dy's have, and the share of those that XLA would compute inline."""
    parts = [math.prod(taken.result_shape) / math.prod(dx.shape) for taken in slices.selections]
    return sum(parts), sum(part for number, part in enumerate(parts) if number in (slices.computed or ()))


def slices_pay(bytes_of_slices: int) -> bool:
    return bytes_of_slices >= LEAST_BYTES_OF_SLICES


def _is_band(taken: Selection) -> bool:
    """Return whether the last axis is selected whole, and no axis in steps."""
    in_steps = any(step != 1 and count > 1 for _, step, count in taken.axes)
    return not in_steps and (not taken.shape or is_whole(taken, -1))
