"""Slices and their gradients by JAX's own operations: for small arrays, for elements that XLA packs, and on
devices without handlers."""

from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp

from .._core import Selection
from .selections import Selections


def has_whole_bytes(dtype: Any) -> bool:
    """Whether XLA gives each element its own bytes, rather than packing several into one."""
    kind = jnp.iinfo if jnp.issubdtype(dtype, jnp.integer) else jnp.finfo
    if jnp.issubdtype(dtype, jnp.complexfloating) or jnp.issubdtype(dtype, jnp.bool_):
        return True
    return int(kind(dtype).bits) >= 8


def slices(x: Any, *, selections: Selections) -> list[Any]:
    return [_slice(x, selection) for selection in selections]


def gradient(*operands: Any, selections: Selections) -> Any:
    """Return the sum of dy's, and of the array before them, if there is one."""
    whole = len(operands) - len(selections)
    placed = map(_expand, operands[whole:], selections)
    return reduce(_add, [*operands[:whole], *placed])


def _first(start: int, step: int, count: int) -> int:
    return min(start, start + step * max(count - 1, 0))


def _slice(x: Any, selection: Selection) -> Any:
    first, steps = [_first(*axis) for axis in selection.axes], [abs(step) for _, step, _ in selection.axes]
    counts = [count for _, _, count in selection.axes]
    limits = [low + (n - 1) * step + 1 if n else low for low, step, n in zip(first, steps, counts, strict=True)]
    return _reshaped(_in_order(jax.lax.slice(x, first, limits, steps), selection), selection.result_shape)


def _expand(dy: Any, selection: Selection) -> Any:
    """Return dy at the selected elements, and zeros around it."""
    taken = _in_order(_reshaped(dy, tuple(count for _, _, count in selection.axes)), selection)
    padding = []
    for axis, (start, step, count) in enumerate(selection.axes):
        taken = _spread(taken, axis, abs(step))
        first = _first(start, step, count) if count else 0
        padding.append((first, selection.shape[axis] - first - taken.shape[axis], 0))
    return _padded(taken, padding)


def _padded(x: Any, padding: list[tuple[int, int, int]]) -> Any:
    """Pad with zeros. Packed elements are padded as whole bytes: XLA aborts on some pads of packed elements."""
    wide = x
    if not has_whole_bytes(x.dtype):
        wide = jax.lax.convert_element_type(x, jnp.int8 if jnp.issubdtype(x.dtype, jnp.integer) else jnp.float32)
    padded = jax.lax.pad(wide, jnp.zeros((), wide.dtype), padding)
    return jax.lax.convert_element_type(padded, x.dtype)


def _spread(taken: Any, axis: int, step: int) -> Any:
    """Zeros after each element along an axis. (XLA partitions a pad with zeros in between wrongly.)"""
    count = taken.shape[axis]
    if step == 1 or count < 2:
        return taken
    before, after = taken.shape[:axis], taken.shape[axis + 1 :]
    apart = jax.lax.reshape(taken, (*before, count, 1, *after))
    padding = [(0, step - 1 if a == axis + 1 else 0, 0) for a in range(apart.ndim)]
    return jax.lax.reshape(_padded(apart, padding), (*before, count * step, *after))


def _reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    """Reshape an array, unless it has that shape: JAX has no rule for reshapes of arrays that are reduced later."""
    return x if x.shape == shape else jax.lax.reshape(x, shape)


def _in_order(taken: Any, selection: Selection) -> Any:
    """Between the order of the array and that of the slice: they differ on axes that are walked backwards."""
    backwards = [axis for axis, (_, step, _) in enumerate(selection.axes) if step < 0]
    return jax.lax.rev(taken, backwards) if backwards else taken


def _add(a: Any, b: Any) -> Any:
    return a | b if a.dtype == bool else jax.lax.add(a, b)
