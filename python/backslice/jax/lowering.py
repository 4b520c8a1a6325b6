"""What the primitives become in a compiled program: a call of a handler, or JAX's own operations."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.interpreters import mlir

from .._core import Selection
from . import grouping, native, on_cuda, sharding
from .groups import Group, declare
from .library import PLATFORMS, runs_on_cuda
from .selections import Selections, attribute

# Below, a call costs more than it saves: XLA fuses its own operations with what is around them.
LEAST_BYTES_OF_GRADIENTS = 1 << 16
LEAST_BYTES_OF_SLICES = 1 << 20
# One slice of long rows is a copy among zeros for XLA as well. From this size on our results are in huge pages.
LONG_ROW, BYTES_OF_ONE_SLICE_OF_ROWS = 1 << 9, 1 << 24


def _bytes(aval: Any) -> int:
    return int(math.prod(aval.shape) * np.dtype(aval.dtype).itemsize)


def _slices_pay(ctx: Any, operands: Sequence[Any], selections: Selections, platform: str) -> bool:
    size = sum(map(_bytes, ctx.avals_out))
    if platform == "cuda":
        return on_cuda.slices_pay(size) and not _is_partitioned(ctx)  # for which there is no handler
    return size >= LEAST_BYTES_OF_SLICES


def _gradient_is_large(ctx: Any, selections: Selections) -> bool:
    """XLA's own operations touch the whole gradient for every slice."""
    [dx] = ctx.avals_out
    return len(selections) * _bytes(dx) >= LEAST_BYTES_OF_GRADIENTS


def _addition_pays(ctx: Any, operands: Sequence[Any], selections: Selections, platform: str) -> bool:
    if platform == "cuda":
        return on_cuda.addition_pays(ctx.avals_out[0], operands[1:], selections)
    return _gradient_is_large(ctx, selections)


def _gradient_pays(ctx: Any, operands: Sequence[Any], selections: Selections, platform: str) -> bool:
    [dx] = ctx.avals_out
    if platform == "cuda":
        return on_cuda.gradient_pays(dx, operands, selections)
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


def _adds_booleans(ctx: Any) -> bool:
    """Whose sum is XLA's alone."""
    return len(ctx.avals_in) > 1 and ctx.avals_in[-1].dtype == bool


def _is_handled(platform: str) -> bool:
    return platform in PLATFORMS and (platform != "cuda" or runs_on_cuda())


def _rule(by_jax: Any, by_handler: Any, joined: Any, sharded: Any, pays: Callable[..., bool]) -> Any:
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
        platforms, own = _platforms(ctx), partial(by_jax, selections=selections)
        paying = sorted(p for p in platforms if _is_handled(p) and pays(ctx, operands, selections, p))
        calls = {platform: call_of(platform, selections) for platform in paying}
        if not (
            calls
            and native.has_whole_bytes(ctx.avals_in[-1].dtype)
            and _can_be_called(ctx)
            and (several or not _adds_booleans(ctx))
            and (several or not grouping.are_computed_in_their_sum(operands[-len(selections) :], selections))
        ):
            return lowered(own, ctx, operands)
        if len(platforms) > 1:
            one_of = partial(jax.lax.platform_dependent, **calls, default=own)
            return lowered(own if _is_partitioned(ctx) else one_of, ctx, operands)
        if _is_partitioned(ctx):
            return lowered(sharded(selections, paying[0]), ctx, operands)
        operands, avals, arrangement = joined(ctx, operands)
        return lowered(partial(calls[paying[0]], **arrangement), ctx.replace(avals_in=avals), operands)

    def call_of(platform: str, selections: Selections) -> Any:
        memory = on_cuda.scratch(selections) if platform == "cuda" and not several else []
        return partial(by_handler, selections, scratch=memory)

    return rule


# --- calls of the handlers; `scratch` are results that nobody reads


def _slices(selections: Selections, x: Any, scratch: Sequence[Any] = ()) -> list[Any]:
    shapes = [jax.ShapeDtypeStruct(taken.result_shape, x.dtype) for taken in selections]
    return list(jax.ffi.ffi_call("backslice_multi_slice", shapes)(x, slices=attribute(selections)))


def _gradient(
    selections: Selections, *operands: Any, dx: Any = None, arrangement: Any = None, scratch: Sequence[Any] = ()
) -> Any:
    if dx is None:
        dx = jax.ShapeDtypeStruct(selections[0].shape, operands[0].dtype)
    call = jax.ffi.ffi_call("backslice_multi_slice_grad", [dx, *scratch])
    return _called(call, selections, [], operands, dx.dtype, arrangement)


def _addition(
    selections: Selections,
    total: Any,
    *operands: Any,
    dx: Any = None,
    arrangement: Any = None,
    scratch: Sequence[Any] = (),
) -> Any:
    dx = jax.ShapeDtypeStruct(total.shape, total.dtype)
    call = jax.ffi.ffi_call("backslice_multi_slice_add", [dx, *scratch], input_output_aliases={0: 0})
    return _called(call, selections, [total], operands, dx.dtype, arrangement)


def _called(
    call: Any, selections: Selections, first: list[Any], operands: Sequence[Any], dtype: Any, arrangement: Any
) -> Any:
    of = arrangement or grouping.one_by_one(len(selections))
    arguments = of.arguments(operands, dtype)
    [result, *_] = call(*first, *arguments, slices=attribute(selections), parts=of.parts(selections))
    return result


def _arranged(leading: int) -> Any:
    """For a primitive with that many operands before its dy's: what a call of its handler reads, with the types."""

    def joined(ctx: Any, operands: Sequence[Any]) -> Any:
        may_loop = _platforms(ctx) == {"cpu"} and not isinstance(ctx.module_context.axis_context, mlir.SPMDAxisContext)
        [dx] = ctx.avals_out
        arrangement = grouping.arranged(operands[leading:], _bytes(dx), may_loop)
        values, avals = arrangement.operands(operands[leading:], ctx.avals_in[leading:])
        more = {"dx": jax.ShapeDtypeStruct(dx.shape, dx.dtype), "arrangement": arrangement}
        return [*operands[:leading], *values], [*ctx.avals_in[:leading], *avals], more

    return joined


def _sharded_addition(selections: Selections, platform: str) -> Any:
    gradient = sharding.sharded_gradient(selections, platform)
    return lambda total, *dys: jax.lax.add(total, gradient(*dys))


MULTI_SLICE = _rule(native.slices, _slices, lambda ctx, x: (x, ctx.avals_in, {}), sharding.sharded_slices, _slices_pay)
MULTI_SLICE_GRAD = _rule(
    native.gradient,
    _gradient,
    _arranged(0),
    sharding.sharded_gradient,
    _gradient_pays,
)
MULTI_SLICE_ADD = _rule(native.added, _addition, _arranged(1), _sharded_addition, _addition_pays)
