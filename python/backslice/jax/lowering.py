"""Lowering of the primitives: to a call of a handler, or to JAX's own operations."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.interpreters import mlir

from .._core import Selection
from . import checks, handlers, native, on_cuda, report, sharding
from .groups import declare, is_divided
from .library import PLATFORMS, runs_on_cuda
from .selections import Slices, attribute, is_whole

# Below, a call costs more than it saves: XLA fuses its own operations with what is around them.
LEAST_BYTES_OF_GRADIENTS = 1 << 16
LEAST_BYTES_OF_SLICES = 1 << 20
# One slice of long rows is a copy among zeros for XLA as well. From this size on our results are in huge pages.
LONG_ROW, BYTES_OF_ONE_SLICE_OF_ROWS = 1 << 9, 1 << 24

SMALL = "XLA's own operations are as fast for arrays of this size"


def _bytes(aval: Any) -> int:
    return int(math.prod(aval.shape) * np.dtype(aval.dtype).itemsize)


def _slices_pay(ctx: Any, slices: Slices, platform: str) -> bool:
    size = sum(map(_bytes, ctx.avals_out))
    if platform == "cuda":
        return on_cuda.slices_pay(size) and not is_divided(ctx)  # for which there is no handler
    return size >= LEAST_BYTES_OF_SLICES


def _gradient_pays(ctx: Any, slices: Slices, platform: str) -> bool:
    [dx] = ctx.avals_out
    is_added = bool(slices.leading(ctx.avals_in))
    if platform == "cuda":
        return (on_cuda.addition_pays if is_added else on_cuda.gradient_pays)(dx, slices)
    [taken, *others] = slices.selections
    is_copied = not others and not is_added and _has_long_rows(taken, dx.dtype) and not is_divided(ctx)
    return are_large(slices, dx) and _bytes(dx) >= (BYTES_OF_ONE_SLICE_OF_ROWS if is_copied else 0)


def are_large(slices: Slices, dx: Any) -> bool:
    """XLA's own operations touch the whole gradient for every slice. They compute dy's again, too, for each element; of
    dy's that are all in memory only larger gradients pay."""
    least = LEAST_BYTES_OF_GRADIENTS * (8 if slices.computed == frozenset() else 1)
    return len(slices.selections) * _bytes(dx) >= least


def _has_long_rows(taken: Selection, dtype: Any) -> bool:
    """Return whether the last axis is long, and selected whole and in order."""
    has_rows = bool(taken.shape) and is_whole(taken, -1)
    return has_rows and taken.shape[-1] * np.dtype(dtype).itemsize >= LONG_ROW


def _can_be_called(ctx: Any) -> bool:
    """Not inside a shard_map over some axes of a mesh only, where XLA divides the program along the others; nor where
    it divides all of it by other means than Shardy, or for devices that are not known yet."""
    context = ctx.module_context.axis_context
    if isinstance(context, mlir.SPMDAxisContext):
        return bool(context.manual_axes == frozenset(context.mesh.axis_names))
    if not is_divided(ctx):
        return True
    return sharding.is_possible() and jax.config.jax_use_shardy_partitioner and context.device_assignment is not None


def _platforms(ctx: Any) -> set[str]:
    return set(ctx.platforms or ctx.module_context.platforms)


def _is_handled(platform: str) -> bool:
    return platform in PLATFORMS and (platform != "cuda" or runs_on_cuda())


def _rule(by_jax: Any, by_handler: Any, sharded: Any, pays: Callable[[Any, Slices, str], bool]) -> Any:
    """Choose the lowering of a primitive, by platform and everything else."""
    several = by_jax is native.slices

    def rule(ctx: Any, *operands: Any, slices: Slices) -> Any:
        platforms = sorted(_platforms(ctx))
        paying = [p for p in platforms if _is_handled(p) and pays(ctx, slices, p)]
        reason = _reason(ctx, any(map(_is_handled, platforms)), bool(paying), several)
        report.count_lowered(len(slices.selections), reason)
        results = _lowered(ctx, operands, slices, platforms, paying if reason is None else [])
        declare(ctx, slices.group, operands[0] if several else results[0])
        return results

    def _lowered(ctx: Any, operands: Any, slices: Slices, platforms: list[str], paying: list[str]) -> Any:
        def own(*operands: Any) -> Any:
            return by_jax(*(operands if several else slices.unstacked(operands)), selections=slices.selections)

        if not paying or (is_divided(ctx) and len(platforms) > 1):
            return lower(own, ctx, operands, several)
        calls = {platform: partial(by_handler, slices, platform) for platform in paying}
        if len(platforms) > 1:
            return lower(partial(jax.lax.platform_dependent, **calls, default=own), ctx, operands, several)
        if not is_divided(ctx):
            return lower(calls[paying[0]], ctx, operands, several)
        leading, divided = 0 if several else slices.leading(operands), sharded(slices.selections, paying[0])
        given = ctx.replace(avals_in=ctx.avals_in[leading:])
        results = lower(
            lambda *dys: divided(*(dys if several else slices.unstacked(dys))), given, operands[leading:], several
        )
        sharding.name_callback(ctx, results, attribute(slices.selections).tobytes(), paying[0], leading)
        if leading:
            sum_of = ctx.replace(avals_in=[ctx.avals_in[0], *ctx.avals_out])
            results = lower(jax.lax.add, sum_of, [operands[0], *results], False)
        return results

    return rule


def lower(f: Any, ctx: Any, operands: Sequence[Any], several: bool) -> Any:
    avals, mesh = sharding.without_explicit_axes(ctx.avals_in)
    with mesh:
        return mlir.lower_fun(f, multiple_results=several)(ctx.replace(avals_in=avals), *operands)


def _reason(ctx: Any, is_handled: bool, pays: bool, several: bool) -> str | None:
    """Why a primitive becomes JAX's own operations, if it does."""
    dtype = ctx.avals_in[-1].dtype
    if not is_handled:
        return "no kernels for the platform"
    if not native.has_whole_bytes(dtype):
        return "XLA packs elements of less than a byte"
    if not several and dtype == np.bool_ and len(ctx.avals_in) > 1:
        return "sums of booleans are XLA's"
    if any(sharding.is_partial(aval) for aval in ctx.avals_in):
        return "sums over devices that are not computed yet are JAX's"
    if not _can_be_called(ctx):
        return "XLA divides the program among devices where it cannot divide calls"
    if not pays:
        return SMALL
    return None if checks.passed() else "a self-test failed"


MULTI_SLICE = _rule(native.slices, handlers.slices, sharding.sharded_slices, _slices_pay)
MULTI_SLICE_GRAD = _rule(native.gradient, handlers.gradient, sharding.sharded_gradient, _gradient_pays)
