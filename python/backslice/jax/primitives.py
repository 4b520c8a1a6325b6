"""Three linear primitives with all of JAX's rules.

`multi_slice` takes slices of one array, `multi_slice_grad` is its transpose, and `multi_slice_add` adds that to an
array. Their one parameter `slices` says which slices of which array (selections.py).
"""

import itertools
from collections.abc import Sequence
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
multi_slice_add_p = Primitive("backslice_multi_slice_add")


# --- what others bind: operands that vary over the same axes of a mesh, as JAX demands of every primitive


def bind_slices(x: Any, slices: Slices) -> list[Any]:
    prepare()
    return list(multi_slice_p.bind(x, slices=slices))


def bind_gradient(dys: Sequence[Any], slices: Slices) -> Any:
    prepare()
    return multi_slice_grad_p.bind(*varying_alike(dys), slices=slices)


def bind_addition(total: Any, dys: Sequence[Any], slices: Slices) -> Any:
    prepare()
    return multi_slice_add_p.bind(*varying_alike([total, *dys]), slices=slices)


def varying_alike(arrays: Sequence[Any]) -> list[Any]:
    """Inside shard_map, mark an array that is the same on every device as one that is not, beside others."""
    axes = [_varying(array) for array in arrays]
    union = frozenset().union(*axes)
    return [
        jax.lax.pcast(array, tuple(sorted(union - own)), to="varying") if own != union else array
        for array, own in zip(arrays, axes, strict=True)
    ]


def _varying(array: Any) -> frozenset[Any]:
    return frozenset(jax.typeof(array).manual_axis_type.varying)


# --- abstract evaluation


def _multi_slice_avals(x: Any, *, slices: Slices) -> list[Any]:
    entries = sharding.entries(x)
    return [like(x, taken.result_shape, sharding.spec_of_slice(entries, taken)) for taken in slices.selections]


def _multi_slice_grad_aval(*dys: Any, slices: Slices) -> Any:
    specs = [] if slices.stacks else [sharding.entries(dy) for dy in dys]
    spec = sharding.spec_of_gradient(specs, slices.selections)
    dx = like(dys[0], slices.shape, spec)
    return dx.update(weak_type=all(dy.weak_type for dy in dys))


def _multi_slice_add_aval(total: Any, *dys: Any, slices: Slices) -> Any:
    return total.update(weak_type=total.weak_type and all(dy.weak_type for dy in dys))


def like(aval: Any, shape: tuple[int, ...], entries: Sequence[Any]) -> Any:
    """An array of another shape that varies over the same axes of a mesh, and is a sum over the same. `entries` matter
    for explicit axes alone."""
    spec = aval.sharding.spec.update(partitions=tuple(entries))
    return aval.update(shape=shape, sharding=aval.sharding.update(spec=spec))


multi_slice_p.def_abstract_eval(_multi_slice_avals)
multi_slice_grad_p.def_abstract_eval(_multi_slice_grad_aval)
multi_slice_add_p.def_abstract_eval(_multi_slice_add_aval)


# --- derivatives: all three are linear


def sharded_as(aval: Any, array: Any) -> Any:
    """With the type of another array: along explicit axes of a mesh the sharding belongs to it."""
    specs = [sharding.entries(of) for of in (aval, jax.typeof(array))]
    return array if specs[0] == specs[1] else jax.sharding.reshard(array, aval.sharding)


def _given(values: Sequence[Any], slices: Slices) -> tuple[list[Any], Slices]:
    """Those of some dy's that are not symbolic zeros, one by one."""
    given = {}
    for numbers, value in zip(slices.numbers(), values, strict=True):
        for i, number in enumerate(numbers if type(value) is not ad.Zero else ()):
            given[number] = value if len(numbers) == 1 else jax.lax.index_in_dim(value, i, keepdims=False)
    order = sorted(given)
    return [given[number] for number in order], slices.only(order)


def _multi_slice_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, slices: Slices) -> Any:
    [x], [tangent] = primals, tangents
    if slices.group is None:
        slices = slices.grouped(group_of(attribute(slices.selections).tobytes()))
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
        ref[...] = bind_addition(ref[...], dys, slices)
    elif dys:
        gradient.accum(sharded_as(gradient.aval, bind_gradient(dys, slices)))


def _multi_slice_grad_transpose(ddx: Any, *dys: Any, slices: Slices) -> list[Any]:
    if type(ddx) is ad.Zero:
        return [ad.Zero(dy.aval) if ad.is_undefined_primal(dy) else None for dy in dys]
    undefined = [ad.is_undefined_primal(dy) for dy in dys]
    numbers = list(itertools.chain(*itertools.compress(slices.numbers(), undefined)))
    taken = dict(zip(numbers, bind_slices(ddx, slices.only(numbers)), strict=True))
    results: list[Any] = [None] * len(dys)
    for i in itertools.compress(range(len(dys)), undefined):
        own = [taken[number] for number in slices.numbers()[i]]
        results[i] = sharded_as(dys[i].aval, own[0] if len(own) == 1 else jnp.stack(own))
    return results


def _multi_slice_add_transpose(ct: Any, total: Any, *dys: Any, slices: Slices) -> list[Any]:
    of_total = ct if ad.is_undefined_primal(total) else None
    if type(ct) is ad.Zero or not any(ad.is_undefined_primal(dy) for dy in dys):
        return [of_total, *(ad.Zero(dy.aval) if ad.is_undefined_primal(dy) else None for dy in dys)]
    return [of_total, *_multi_slice_grad_transpose(ct, *dys, slices=slices)]


def _multi_slice_grad_jvp(dys: Sequence[Any], tangents: Sequence[Any], *, slices: Slices) -> Any:
    dx = multi_slice_grad_p.bind(*dys, slices=slices)
    moving, slices = _given(tangents, slices)
    if not moving:
        return dx, ad.Zero(jax.typeof(dx).to_tangent_aval())
    return dx, sharded_as(jax.typeof(dx), bind_gradient(moving, slices))


def _multi_slice_add_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, slices: Slices) -> Any:
    result = multi_slice_add_p.bind(*primals, slices=slices)
    total, *dys = tangents
    moving, slices = _given(dys, slices)
    if not moving:
        return result, total
    if type(total) is ad.Zero:
        return result, sharded_as(jax.typeof(result), bind_gradient(moving, slices))
    return result, bind_addition(total, moving, slices)


ad.primitive_jvps[multi_slice_p] = _multi_slice_jvp
ad.primitive_transposes[multi_slice_p] = _multi_slice_transpose
ad.primitive_jvps[multi_slice_grad_p] = _multi_slice_grad_jvp
ad.primitive_transposes[multi_slice_grad_p] = _multi_slice_grad_transpose
ad.primitive_jvps[multi_slice_add_p] = _multi_slice_add_jvp
ad.primitive_transposes[multi_slice_add_p] = _multi_slice_add_transpose


# --- vmap: one call, the batch as a leading axis that is taken whole


def _batcher(primitive: Primitive) -> Any:
    def rule(arguments: Sequence[Any], axes: Sequence[Any], *, slices: Slices) -> Any:
        size = next(x.shape[axis] for x, axis in zip(arguments, axes, strict=True) if axis is not None)
        moved = [batching.bdim_at_front(x, axis, size) for x, axis in zip(arguments, axes, strict=True)]
        if slices.stacks:
            leading = len(moved) - len(slices.stacks)
            stacks = zip(moved[leading:], slices.stacks, strict=True)
            turned = [jnp.swapaxes(x, 0, 1) if len(numbers) > 1 else x for x, numbers in stacks]
            moved = [*moved[:leading], *slices.unstacked(turned)]
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

for _primitive, _rule in (
    (multi_slice_p, lowering.MULTI_SLICE),
    (multi_slice_grad_p, lowering.MULTI_SLICE_GRAD),
    (multi_slice_add_p, lowering.MULTI_SLICE_ADD),
):
    _primitive.def_impl(partial(apply_primitive, _primitive))
    batching.primitive_batchers[_primitive] = _batcher(_primitive)
    mlir.register_lowering(_primitive, _rule)


@cache
def prepare() -> None:
    """Register what needs private names of JAX, or a module of its experiments."""
    linear = (multi_slice_p, multi_slice_grad_p, multi_slice_add_p)
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
