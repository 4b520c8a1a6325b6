"""The rules of operations that only place elements: each makes a Sum, or leaves its equation to JAX."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.extend.core.primitives import (
    add_jaxvals_p,
    broadcast_in_dim_p,
    pad_p,
    reduce_sum_p,
    reshape_p,
    rev_p,
    squeeze_p,
)

from ..placement import Part, Placement, kept_axes
from . import alike
from .primitives import multi_slice_grad_p
from .sums import Sum

MOST_AXES = 32  # of a Selection
DEEPEST = 32  # of operations that are left to JAX: more of them in a row are no gradient of a slice

Rule = Callable[..., list[Any] | None]  # of an equation and its arguments; None where it is left to JAX


def arrays(values: Sequence[Any]) -> list[Any]:
    return [value.array() if isinstance(value, Sum) else value for value in values]


def is_sum(value: Any) -> bool:
    """Whether something was placed among zeros; the rest JAX adds as well."""
    return isinstance(value, Sum) and value.has_zeros


def bind(primitive: Primitive, arguments: list[Any], params: dict[str, Any]) -> list[Any]:
    bound = primitive.get_bind_params(params)
    functions, params = bound if isinstance(bound, tuple) else ((), bound)  # as versions of JAX differ
    result = primitive.bind(*functions, *arguments, **params)
    results = result if primitive.multiple_results else [result]
    alike.record(primitive, arguments, params, results)
    return list(results)


def _sum(eqn: Any, operands: Sequence[Any], parts: tuple[Part, ...], **more: Any) -> list[Any]:
    def plain() -> Any:
        return bind(eqn.primitive, arrays(operands), eqn.params)[0]

    return [Sum(eqn.outvars[0].aval, parts, plain, **more)]


def _varying(eqn: Any, operand: Any) -> list[Any] | None:
    """Inside shard_map JAX marks the zeros of a pad as different on each device."""
    return _sum(eqn, [operand], (), has_zeros=False, is_zero=True) if _is_zero(operand) else None


def _pad(eqn: Any, operand: Any, value: Any) -> list[Any] | None:
    padding = eqn.params["padding_config"]
    if not _is_zero(value) or not _is_plain(eqn) or any(low < 0 or high < 0 for low, high, _ in padding):
        return None
    placement = Placement.padded([(int(low), int(high), int(between)) for low, high, between in padding])
    return _sum(eqn, [operand, value], ((placement, operand),))


def _is_plain(eqn: Any) -> bool:
    """Whether it has a shape of numbers, not of symbols, and a dtype that is not JAX's alone."""
    avals = [eqn.invars[0].aval, eqn.outvars[0].aval]
    numbers = all(isinstance(extent, int) for aval in avals for extent in aval.shape)
    return numbers and max(aval.ndim for aval in avals) <= MOST_AXES and isinstance(avals[1].dtype, np.dtype)


def _is_zero(value: Any) -> bool:
    """Whether it is a number known to be zero; -0.0 is another."""
    if isinstance(value, Sum):
        return value.is_zero
    if isinstance(value, jax.core.Tracer) or np.ndim(value) != 0:
        return False
    number = np.asarray(value) if not hasattr(value, "dtype") or isinstance(value.dtype, np.dtype) else np.array(1)
    return bool(number == 0) and not any(number.tobytes())


def _gradient(eqn: Any, *operands: Any) -> list[Any] | None:
    """Place the dy's of multi_slice: they may be computed alike, and other operations may slice its array."""
    slices = eqn.params["slices"]
    if slices.stacks:
        return None
    leading = slices.leading(operands)
    placements = [*[None] * leading, *map(Placement.from_selection, slices.selections)]
    return _sum(eqn, operands, tuple(zip(placements, operands, strict=True)), group=slices.group)


def _add(eqn: Any, a: Any, b: Any) -> list[Any] | None:
    return _sum(eqn, [a, b], ((None, a), (None, b))) if is_sum(a) or is_sum(b) else None


def _view(eqn: Any, operand: Any, placement: Placement) -> list[Any]:
    """Elements in another order or of another shape: of an array, this is left to JAX unless a pad follows."""
    if isinstance(operand, Sum) and operand.depth >= DEEPEST:
        operand = operand.array()
    has_zeros, depth = is_sum(operand), operand.depth + 1 if isinstance(operand, Sum) else 0
    return _sum(eqn, [operand], ((placement, operand),), has_zeros=has_zeros, depth=0 if has_zeros else depth)


def _rev(eqn: Any, operand: Any) -> list[Any] | None:
    if not _is_plain(eqn):
        return None
    return _view(eqn, operand, Placement.reversed_along(eqn.params["dimensions"], eqn.invars[0].aval.shape))


def _unit_axes(eqn: Any, operand: Any, *dynamic: Any) -> list[Any] | None:
    """Operations that add or drop axes of extent 1 and do nothing else; a sum along such an axis is one."""
    if dynamic or not _is_plain(eqn) or (eqn.primitive is reshape_p and eqn.params["dimensions"] is not None):
        return None
    old, new = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    kept = kept_axes(old, new)
    placed = eqn.params["broadcast_dimensions"] if eqn.primitive is broadcast_in_dim_p else ()
    is_repeated = any(new[axis] != extent for axis, extent in zip(placed, old, strict=False))  # one of extent 1
    return None if kept is None or is_repeated else _view(eqn, operand, Placement.with_unit_axes(kept, len(old)))


PLACING: dict[Primitive, Rule] = {
    add_jaxvals_p: _add,
    broadcast_in_dim_p: _unit_axes,
    multi_slice_grad_p: _gradient,
    pad_p: _pad,
    reduce_sum_p: _unit_axes,
    reshape_p: _unit_axes,
    rev_p: _rev,
    squeeze_p: _unit_axes,
}

PLACING_BY_NAME: dict[str, Rule] = {"pcast": _varying, "pvary": _varying}  # of those JAX has no public names
