"""What the primitives become in a compiled program: a call of a handler, or JAX's own operations."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters import mlir

from . import grouping, native, sharding
from . import library as _library  # noqa: F401  registers the handlers
from .selections import Selections, attribute

# Below, a call costs more than it saves: XLA fuses its own operations with what is around them.
LEAST_BYTES_OF_GRADIENTS = 1 << 16
LEAST_BYTES_OF_SLICES = 1 << 20


def has_whole_bytes(dtype: Any) -> bool:
    """Whether XLA gives each element its own bytes, rather than packing several into one."""
    kind = jnp.iinfo if jnp.issubdtype(dtype, jnp.integer) else jnp.finfo
    if jnp.issubdtype(dtype, jnp.complexfloating) or jnp.issubdtype(dtype, jnp.bool_):
        return True
    return int(kind(dtype).bits) >= 8


def _like(aval: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype)


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


@dataclass(frozen=True)
class Rules:
    """How a primitive is lowered: for any device, and for the CPU."""

    native: Any
    on_cpu: Any


def _is_partitioned(ctx: Any) -> bool:
    """Whether XLA will divide the program among devices; inside shard_map it is divided already."""
    context = ctx.module_context.axis_context
    return isinstance(context, mlir.ShardingContext) and context.num_devices != 1


def _can_be_called(ctx: Any) -> bool:
    """Not inside a shard_map over some axes of a mesh only, where XLA divides the program along the others."""
    context = ctx.module_context.axis_context
    if isinstance(context, mlir.SPMDAxisContext):
        return bool(context.manual_axes == frozenset(context.mesh.axis_names))
    return sharding.IS_POSSIBLE or not _is_partitioned(ctx)


def _rules(by_jax: Any, call: Any, sharded: Any, pays: Callable[[Any, Selections], bool]) -> Rules:
    several = by_jax is native.slices
    own = mlir.lower_fun(by_jax, multiple_results=several)

    def on_cpu(ctx: Any, *operands: Any, selections: Selections) -> Any:
        if has_whole_bytes(ctx.avals_in[-1].dtype) and pays(ctx, selections) and _can_be_called(ctx):
            if _is_partitioned(ctx):
                return mlir.lower_fun(sharded(selections), multiple_results=several)(ctx, *operands)
            return call(ctx, *operands, selections=selections)
        return own(ctx, *operands, selections=selections)

    return Rules(own, on_cpu)


def _slices(ctx: Any, x: Any, *, selections: Selections) -> Any:
    return jax.ffi.ffi_lowering("backslice_multi_slice")(ctx, x, slices=attribute(selections))


def _gradient(ctx: Any, *dys: Any, selections: Selections) -> Any:
    parts = grouping.parts_of(dys)
    call = jax.ffi.ffi_call("backslice_multi_slice_grad", _like(ctx.avals_out[0]))
    attributes = {"slices": attribute(selections), "parts": np.array(parts)}
    return mlir.lower_fun(lambda *dys: call(*grouping.joined(dys, parts), **attributes), False)(ctx, *dys)


def _addition(ctx: Any, total: Any, *dys: Any, selections: Selections) -> Any:
    parts = grouping.parts_of(dys)
    call = jax.ffi.ffi_call("backslice_multi_slice_add", _like(ctx.avals_out[0]), input_output_aliases={0: 0})
    attributes = {"slices": attribute(selections), "parts": np.array(parts)}
    added = mlir.lower_fun(lambda total, *dys: call(total, *grouping.joined(dys, parts), **attributes), False)
    return added(ctx, total, *dys)


def _sharded_addition(selections: Selections) -> Any:
    gradient = sharding.sharded_gradient(selections)
    return lambda total, *dys: jax.lax.add(total, gradient(*dys))


MULTI_SLICE = _rules(native.slices, _slices, sharding.sharded_slices, _slices_are_large)
MULTI_SLICE_GRAD = _rules(native.gradient, _gradient, sharding.sharded_gradient, _gradient_is_large)
MULTI_SLICE_ADD = _rules(native.added, _addition, _sharded_addition, _gradient_is_large)
