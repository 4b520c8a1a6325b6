"""A result that is filled box by box, so that neither it nor its input must fit in memory."""

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import backslice as bs

from .._core import _slice_grad_into_zeros
from ..units import human_bytes

BOX_BYTES = 64 << 20
Box = list[tuple[int, int]]


def boxes(shape: tuple[int, ...], item_size: int, most: int) -> Iterator[Box]:
    """Divide the array into boxes of at most that many bytes (or one element), in row-major order."""
    tails = [item_size * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    cut = next((axis for axis, tail in enumerate(tails) if tail <= most), len(shape) - 1)
    if not shape or math.prod(shape) == 0:
        yield [(0, extent) for extent in shape]
        return
    length = max(1, most // tails[cut])
    for outer in np.ndindex(*shape[:cut]):
        for lo in range(0, shape[cut], length):
            inner = [(0, extent) for extent in shape[cut + 1 :]]
            yield [*((i, i + 1) for i in outer), (lo, min(lo + length, shape[cut])), *inner]


def index_of(box: Box) -> Any:
    """Return the box as a NumPy index, also for a 0-d array."""
    return (*(slice(lo, hi) for lo, hi in box), ...)


def write_gradient(selection: bs.Selection, dy: NDArray[Any], out: NDArray[Any]) -> None:
    """Write dy to the selected elements of `out`, which is zero. Boxes without selected elements are not accessed."""
    for box in progress(out, "gradient"):
        part = selection.restrict(box)
        if part is not None:
            inside, index = part
            of_dy: Any = (*index, ...)  # also a view if all axes are dropped
            _slice_grad_into_zeros(dy[of_dy], inside.shape, inside, out[index_of(box)])


def write_slice(selection: bs.Selection, x: NDArray[Any], out: NDArray[Any]) -> None:
    selected = x[(*selection.to_index(), ...)]
    for box in progress(out, "slice"):
        bs.slice(selected[index_of(box)], "...", out=out[index_of(box)])


def progress(out: NDArray[Any], what: str) -> Iterator[Box]:
    """Yield the boxes of `out`. On a terminal, several boxes come with a progress bar."""
    every = list(boxes(out.shape, out.dtype.itemsize, BOX_BYTES))
    if len(every) < 3 or not sys.stderr.isatty():
        yield from every
        return
    from rich.console import Console
    from rich.progress import track

    label = f"{what} of {human_bytes(out.nbytes)}"
    yield from track(every, label, console=Console(stderr=True), transient=True)
