"""Slices and their gradients by JAX's own operations: where arrays are small, where XLA packs their elements, and on
devices for which there are no handlers."""

from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp

from .._core import Selection
from .selections import Selections


def slices(x: Any, *, selections: Selections) -> list[Any]:
    return [_slice(x, selection) for selection in selections]


def gradient(*dys: Any, selections: Selections) -> Any:
    return reduce(_add, [_expand(dy, selection) for dy, selection in zip(dys, selections, strict=True)])


def added(total: Any, *dys: Any, selections: Selections) -> Any:
    return reduce(_add, [_expand(dy, selection) for dy, selection in zip(dys, selections, strict=True)], total)


def _slice(x: Any, selection: Selection) -> Any:
    first = [min(start, start + step * max(count - 1, 0)) for start, step, count in selection.axes]
    last = [max(start, start + step * max(count - 1, 0)) for start, step, count in selection.axes]
    limits = [
        low + (high - low + 1) * bool(axis[2]) for low, high, axis in zip(first, last, selection.axes, strict=True)
    ]
    taken = jax.lax.slice(x, first, limits, [abs(step) for _, step, _ in selection.axes])
    return jax.lax.reshape(_in_order(taken, selection), selection.result_shape)


def _expand(dy: Any, selection: Selection) -> Any:
    """dy where the slice takes its elements from, and zeros around it."""
    taken = _in_order(jax.lax.reshape(dy, [count for _, _, count in selection.axes]), selection)
    padding = [_padding(*axis, extent) for axis, extent in zip(selection.axes, selection.shape, strict=True)]
    return jax.lax.pad(taken, jnp.zeros((), dy.dtype), padding)


def _in_order(taken: Any, selection: Selection) -> Any:
    """Between the order of the array and that of the slice: they differ on axes that are walked backwards."""
    return jax.lax.rev(taken, [axis for axis, (_, step, _) in enumerate(selection.axes) if step < 0])


def _padding(start: int, step: int, count: int, extent: int) -> tuple[int, int, int]:
    """Before, after and between."""
    if count == 0:
        return 0, extent, 0
    first, last = sorted((start, start + step * (count - 1)))
    return first, extent - 1 - last, abs(step) - 1


def _add(a: Any, b: Any) -> Any:
    return a | b if a.dtype == bool else jax.lax.add(a, b)
