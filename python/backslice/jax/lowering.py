"""What the primitives become in a compiled program: a call of a handler, or JAX's own operations."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters import mlir

from .._core import Selection
from . import grouping, native, sharding
from . import library as _library  # noqa: F401  registers the handlers
from .groups import Group, declare
from .selections import Selections, attribute

HANDLED = frozenset({"cpu"})  # the platforms for which library.py registers handlers

# Below, a call costs more than it saves: XLA fuses its own operations with what is around them.
LEAST_BYTES_OF_GRADIENTS = 1 << 16
LEAST_BYTES_OF_SLICES = 1 << 20
# One slice of long rows is a copy among zeros for XLA as well. From this size on our results are in huge pages.
LONG_ROW, BYTES_OF_ONE_SLICE_OF_ROWS = 1 << 9, 1 << 24


def has_whole_bytes(dtype: Any) -> bool:
    """Whether XLA gives each element its own bytes, rather than packing several into one."""
    kind = jnp.iinfo if jnp.issubdtype(dtype, jnp.integer) else jnp.finfo
    if jnp.issubdtype(dtype, jnp.complexfloating) or jnp.issubdtype(dtype, jnp.bool_):
        return True
    return int(kind(dtype).bits) >= 8


def _bytes(aval: Any) -> int:
    return int(math.prod(aval.shape) * np.dtype(aval.dtype).itemsize)


def _slices_are_large(ctx: Any, selections: Selections) -> bool:
    return sum(map(_bytes, ctx.avals_out)) >= LEAST_BYTES_OF_SLICES


def _gradient_is_large(ctx: Any, selections: Selections) -> bool:
    """XLA's own operations touch the whole gradient for every slice."""
    [dx] = ctx.avals_out
    if dx.dtype == bool and len(selections) > 1:  # whose sum is XLA's alone
        return False
    return len(selections) * _bytes(dx) >= LEAST_BYTES_OF_GRADIENTS


def _gradient_pays(ctx: Any, selections: Selections) -> bool:
    [dx] = ctx.avals_out
    is_copied = len(selections) == 1 and _has_long_rows(selections[0], dx.dtype) and not _is_partitioned(ctx)
    least = BYTES_OF_ONE_SLICE_OF_ROWS if is_copied else 0
    return _gradient_is_large(ctx, selections) and _bytes(dx) >= least


def _has_long_rows(taken: Selection, dtype: Any) -> bool:
    """Whether the last axis is taken whole, in its own order, and long."""
    if not taken.shape or taken.axes[-1] != (0, 1, taken.shape[-1]):
        return False
    return bool(taken.shape[-1] * np.dtype(dtype).itemsize >= LONG_ROW)


def _is_partitioned(ctx: Any) -> bool:
    """Whether XLA will divide the program among devices; inside shard_map it is divided already."""
    context = ctx.module_context.axis_context
    return isinstance(context, mlir.ShardingContext) and context.num_devices != 1


def _can_be_called(ctx: Any) -> bool:
    """Not inside a shard_map over some axes of a mesh only, where XLA divides the program along the others; nor where
    it divides all of it by other means than Shardy, or for devices that are not known yet."""
    context = ctx.module_context.axis_context
    if isinstance(context, mlir.SPMDAxisContext):
        return bool(context.manual_axes == frozenset(context.mesh.axis_names))
    if not _is_partitioned(ctx):
        return True
    return sharding.IS_POSSIBLE and jax.config.jax_use_shardy_partitioner and context.device_assignment is not None


def _platforms(ctx: Any) -> set[str]:
    return set(ctx.platforms or ctx.module_context.platforms)


def _rule(by_jax: Any, by_handler: Any, joined: Any, sharded: Any, pays: Callable[[Any, Selections], bool]) -> Any:
    """Which of them a primitive becomes. This is where the platform is decided, and all else."""
    several = by_jax is native.slices

    def lowered(f: Any, ctx: Any, operands: Sequence[Any]) -> Any:
        avals, mesh = sharding.without_explicit_axes(ctx.avals_in)
        with mesh:
            return mlir.lower_fun(f, multiple_results=several)(ctx.replace(avals_in=avals), *operands)

    def rule(ctx: Any, *operands: Any, selections: Selections, group: Group) -> Any:
        if several:
            declare(ctx, group, operands[0])
            return chosen(ctx, operands, selections)
        results = chosen(ctx, operands, selections)
        declare(ctx, group, results[0])
        return results

    def chosen(ctx: Any, operands: Sequence[Any], selections: Selections) -> Any:
        platforms = _platforms(ctx)
        own, call = partial(by_jax, selections=selections), partial(by_handler, selections)
        if not (
            platforms & HANDLED
            and has_whole_bytes(ctx.avals_in[-1].dtype)
            and pays(ctx, selections)
            and _can_be_called(ctx)
            and (several or not grouping.are_computed_in_their_sum(operands[-len(selections) :], selections))
        ):
            return lowered(own, ctx, operands)
        if platforms - HANDLED:
            handled = dict.fromkeys(platforms & HANDLED, call)
            one_of = partial(jax.lax.platform_dependent, **handled, default=own)
            return lowered(own if _is_partitioned(ctx) else one_of, ctx, operands)
        if _is_partitioned(ctx):
            return lowered(sharded(selections), ctx, operands)
        return lowered(partial(call, **joined(operands)), ctx, operands)

    return rule


# --- calls of the handlers; `parts` has how many dy's each argument holds


def _slices(selections: Selections, x: Any) -> list[Any]:
    shapes = [jax.ShapeDtypeStruct(taken.result_shape, x.dtype) for taken in selections]
    return list(jax.ffi.ffi_call("backslice_multi_slice", shapes)(x, slices=attribute(selections)))


def _gradient(selections: Selections, *dys: Any, parts: Sequence[int] | None = None) -> Any:
    dx = jax.ShapeDtypeStruct(selections[0].shape, dys[0].dtype)
    call = jax.ffi.ffi_call("backslice_multi_slice_grad", dx)
    return _called(call, selections, [], dys, parts)


def _addition(selections: Selections, total: Any, *dys: Any, parts: Sequence[int] | None = None) -> Any:
    dx = jax.ShapeDtypeStruct(total.shape, total.dtype)
    call = jax.ffi.ffi_call("backslice_multi_slice_add", dx, input_output_aliases={0: 0})
    return _called(call, selections, [total], dys, parts)


def _called(
    call: Any, selections: Selections, first: list[Any], dys: Sequence[Any], parts: Sequence[int] | None
) -> Any:
    counts = parts or [1] * len(dys)
    return call(*first, *grouping.joined(dys, counts), slices=attribute(selections), parts=np.array(counts, np.int64))


def _sharded_addition(selections: Selections) -> Any:
    gradient = sharding.sharded_gradient(selections)
    return lambda total, *dys: jax.lax.add(total, gradient(*dys))


MULTI_SLICE = _rule(native.slices, _slices, lambda x: {}, sharding.sharded_slices, _slices_are_large)
MULTI_SLICE_GRAD = _rule(
    native.gradient,
    _gradient,
    lambda dys: {"parts": grouping.parts_of(dys)},
    sharding.sharded_gradient,
    _gradient_pays,
)
MULTI_SLICE_ADD = _rule(
    native.added, _addition, lambda dys: {"parts": grouping.parts_of(dys[1:])}, _sharded_addition, _gradient_is_large
)
