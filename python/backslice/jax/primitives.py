"""Two linear primitives with all of JAX's rules.

`multi_slice` takes slices of one array, and `multi_slice_grad` is its transpose: with one operand more, it comes before
the dy's, and they are added to it. Their one parameter `slices` says which slices of which array (selections.py).
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.extend.core.primitives import jit_p
from jax.interpreters import ad, batching, mlir, partial_eval
from jax.interpreters.xla import apply_primitive

from . import internals, lowering, sharding
from .choice import choice_p, function_of
from .groups import group_of, member_p
from .selections import Slices, attribute

multi_slice_p = Primitive("backslice_multi_slice")
multi_slice_p.multiple_results = True
multi_slice_grad_p = Primitive("backslice_multi_slice_grad")


# --- what others bind: operands that vary over the same axes of a mesh, as JAX demands of every primitive


def bind_slices(x: Any, slices: Slices) -> list[Any]:
    prepare()
    return list(multi_slice_p.bind(x, slices=slices))


def bind_gradient(operands: Sequence[Any], slices: Slices) -> Any:
    """Return the sum of dy's, or of an array and dy's."""
    prepare()
    return multi_slice_grad_p.bind(*varying_alike(operands), slices=slices)


def varying_alike(arrays: Sequence[Any]) -> list[Any]:
    """Inside shard_map, mark an array that is the same on every device as one that is not, beside others."""
    axes = [frozenset(jax.typeof(array).manual_axis_type.varying) for array in arrays]
    union = frozenset().union(*axes)
    return [
        jax.lax.pcast(array, tuple(sorted(union - own)), to="varying") if own != union else array
        for array, own in zip(arrays, axes, strict=True)
    ]


# --- abstract evaluation


def _multi_slice_avals(x: Any, *, slices: Slices) -> list[Any]:
    entries = sharding.entries(x)
    return [like(x, taken.result_shape, sharding.spec_of_slice(entries, taken)) for taken in slices.selections]


def _multi_slice_grad_aval(*operands: Any, slices: Slices) -> Any:
    dx = operands[0]
    if not slices.leading(operands):
        specs = [] if slices.stacks else [sharding.entries(dy) for dy in operands]
        dx = like(dx, slices.shape, sharding.spec_of_gradient(specs, slices.selections))
    return dx.update(weak_type=all(operand.weak_type for operand in operands))


def like(aval: Any, shape: tuple[int, ...], entries: Sequence[Any]) -> Any:
    """An array of another shape that varies over the same axes of a mesh, and is a sum over the same. `entries` matter
    for explicit axes alone."""
    spec = aval.sharding.spec.update(partitions=tuple(entries))
    return aval.update(shape=shape, sharding=aval.sharding.update(spec=spec))


multi_slice_p.def_abstract_eval(_multi_slice_avals)
multi_slice_grad_p.def_abstract_eval(_multi_slice_grad_aval)


# --- derivatives: both are linear


def sharded_as(aval: Any, array: Any) -> Any:
    """Give an array the type of another one: along explicit axes of a mesh the sharding belongs to the type."""
    specs = [sharding.entries(of) for of in (aval, jax.typeof(array))]
    return array if specs[0] == specs[1] else jax.sharding.reshard(array, aval.sharding)


def _given(values: Sequence[Any], slices: Slices) -> tuple[list[Any], Slices]:
    """Return the dy's that are not symbolic zeros, one by one, and their slices."""
    dys = slices.unstacked(values)
    given = [number for number, dy in enumerate(dys) if type(dy) is not ad.Zero]
    return [dys[number] for number in given], slices.only(given)


def _multi_slice_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, slices: Slices) -> Any:
    [x], [tangent] = primals, tangents
    if slices.group is None:
        slices = replace(slices, group=group_of(attribute(slices.selections).tobytes()))
    taken = bind_slices(x, slices)
    if type(tangent) is ad.Zero:
        return taken, [ad.Zero(jax.typeof(y).to_tangent_aval()) for y in taken]
    return taken, bind_slices(tangent, slices)


def _multi_slice_transpose(dys: Sequence[Any], x: Any, *, slices: Slices) -> list[Any]:
    dys, slices = _given(dys, slices)
    return [sharded_as(x.aval, bind_gradient(dys, slices)) if dys else ad.Zero(x.aval)]


def _multi_slice_transpose_into(dys: Sequence[Any], gradient: Any, *, slices: Slices) -> None:
    """Add to what JAX accumulates for an array; where that is a Ref, in its memory."""
    dys, slices = _given(dys, slices)
    ref = getattr(gradient, "ref", None)
    if dys and ref is not None:
        ref[...] = bind_gradient([ref[...], *dys], slices)
    elif dys:
        gradient.accum(sharded_as(gradient.aval, bind_gradient(dys, slices)))


def _multi_slice_grad_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, slices: Slices) -> Any:
    result, leading = multi_slice_grad_p.bind(*primals, slices=slices), slices.leading(primals)
    total = [tangent for tangent in tangents[:leading] if type(tangent) is not ad.Zero]
    moving, slices = _given(tangents[leading:], slices)
    if not moving:
        return result, (total or [ad.Zero(jax.typeof(result).to_tangent_aval())])[0]
    return result, sharded_as(jax.typeof(result), bind_gradient([*total, *moving], slices))


def _multi_slice_grad_transpose(ct: Any, *operands: Any, slices: Slices) -> list[Any]:
    undefined, leading = [ad.is_undefined_primal(operand) for operand in operands], slices.leading(operands)
    if type(ct) is ad.Zero:
        return [
            ad.Zero(operand.aval) if is_undefined else None
            for operand, is_undefined in zip(operands, undefined, strict=True)
        ]
    numbers = list(itertools.chain(*itertools.compress(slices.numbers(), undefined[leading:])))
    taken = dict(zip(numbers, bind_slices(ct, slices.only(numbers)) if numbers else (), strict=True))
    results: list[Any] = [ct] * leading if undefined[0] else [None] * leading
    for operand, is_undefined, own in zip(operands[leading:], undefined[leading:], slices.numbers(), strict=True):
        parts = [taken[number] for number in own if is_undefined]
        joined = parts[0] if len(parts) == 1 else jnp.stack(parts) if parts else None
        results.append(sharded_as(operand.aval, joined) if is_undefined else None)
    return results


ad.primitive_jvps[multi_slice_p] = _multi_slice_jvp
ad.primitive_transposes[multi_slice_p] = _multi_slice_transpose
ad.primitive_jvps[multi_slice_grad_p] = _multi_slice_grad_jvp
ad.primitive_transposes[multi_slice_grad_p] = _multi_slice_grad_transpose


# --- vmap: one call, the batch as a leading axis that is taken whole


def _batcher(primitive: Primitive) -> Any:
    def rule(arguments: Sequence[Any], axes: Sequence[Any], *, slices: Slices) -> Any:
        size = next(x.shape[axis] for x, axis in zip(arguments, axes, strict=True) if axis is not None)
        moved = [batching.bdim_at_front(x, axis, size) for x, axis in zip(arguments, axes, strict=True)]
        if slices.stacks:
            numbers = [*[()] * slices.leading(moved), *slices.stacks]
            turned = [jnp.swapaxes(x, 0, 1) if len(of) > 1 else x for x, of in zip(moved, numbers, strict=True)]
            moved = slices.unstacked(turned)
        results = primitive.bind(*moved, slices=slices.batched(size))
        return results, [0] * len(results) if primitive.multiple_results else 0

    return rule


# --- slices that nobody reads are not taken


def _multi_slice_dce(used: list[bool], eqn: Any) -> tuple[list[bool], Any]:
    if not any(used):
        return [False], None
    keep = [i for i, is_used in enumerate(used) if is_used]
    params = eqn.params | {"slices": eqn.params["slices"].only(keep)}
    return [True], eqn.replace(outvars=[eqn.outvars[i] for i in keep], params=params)


partial_eval.dce_rules[multi_slice_p] = _multi_slice_dce


# --- running them

for _primitive, _rule in ((multi_slice_p, lowering.MULTI_SLICE), (multi_slice_grad_p, lowering.MULTI_SLICE_GRAD)):
    _primitive.def_impl(partial(apply_primitive, _primitive))
    batching.primitive_batchers[_primitive] = _batcher(_primitive)
    mlir.register_lowering(_primitive, _rule)


@cache
def prepare() -> None:
    """Register what needs private names of JAX, or a module of its experiments."""
    linear = (multi_slice_p, multi_slice_grad_p)
    sharding.will_be_partitioned(linear)
    internals.rules_for_refs()[multi_slice_p] = _multi_slice_transpose_into
    try:
        from jax.experimental import jet
    except ImportError:
        return
    for primitive in (*linear, member_p):
        jet.deflinear(primitive)

    def of_choice(x: Any, series: Any, *, on_cpu: Any, elsewhere: Any) -> Any:
        """As of a jitted function, whose rule has the scale of the series that this version of JAX uses."""
        [eqn] = jax.make_jaxpr(jax.jit(function_of(elsewhere)))(*x).eqns
        [result], [terms] = jet.jet_rules[jit_p](x, series, **eqn.params)
        return result, terms

    jet.jet_rules[choice_p] = of_choice
