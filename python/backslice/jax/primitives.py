"""Three linear primitives with all of JAX's rules.

`multi_slice` takes slices of one array, `multi_slice_grad` is its transpose, and `multi_slice_add` adds that to an
array. Each parameter `selections` is a tuple of backslice.Selection, of one shape, and `group` that of the array that
they are slices of (groups.py).
"""

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir, partial_eval
from jax.interpreters.xla import apply_primitive
from jax.sharding import PartitionSpec

from . import lowering, sharding
from .groups import Group, new_group, of_batch
from .selections import Selections, batched

multi_slice_p = Primitive("backslice_multi_slice")
multi_slice_p.multiple_results = True
multi_slice_grad_p = Primitive("backslice_multi_slice_grad")
multi_slice_add_p = Primitive("backslice_multi_slice_add")


# --- what others bind: operands that vary over the same axes of a mesh, as JAX demands of every primitive


def bind_slices(x: Any, selections: Selections, group: Group = None) -> list[Any]:
    return list(multi_slice_p.bind(x, selections=selections, group=group))


def bind_gradient(dys: Sequence[Any], selections: Selections, group: Group = None) -> Any:
    return multi_slice_grad_p.bind(*varying_alike(dys), selections=selections, group=group)


def bind_addition(total: Any, dys: Sequence[Any], selections: Selections, group: Group = None) -> Any:
    return multi_slice_add_p.bind(*varying_alike([total, *dys]), selections=selections, group=group)


def varying_alike(arrays: Sequence[Any]) -> list[Any]:
    """Inside shard_map an array that is the same on every device is marked as one that is not, beside others."""
    axes = [_varying(array) for array in arrays]
    union = frozenset().union(*axes)
    return [
        jax.lax.pcast(array, tuple(sorted(union - own)), to="varying") if own != union else array
        for array, own in zip(arrays, axes, strict=True)
    ]


def _varying(array: Any) -> frozenset[Any]:
    return frozenset(jax.typeof(array).manual_axis_type.varying)


# --- abstract evaluation


def _multi_slice_avals(x: Any, *, selections: Selections, group: Group) -> list[Any]:
    return [like(x, taken.result_shape, sharding.spec_of_slice(x.sharding.spec, taken)) for taken in selections]


def _multi_slice_grad_aval(*dys: Any, selections: Selections, group: Group) -> Any:
    specs = [dy.sharding.spec for dy in dys]
    return like(dys[0], selections[0].shape, sharding.spec_of_gradient(specs, selections))


def _multi_slice_add_aval(total: Any, *dys: Any, selections: Selections, group: Group) -> Any:
    return total.update(weak_type=False)


def like(aval: Any, shape: tuple[int, ...], spec: Sequence[Any]) -> Any:
    """An array of another shape that varies over the same axes of a mesh. `spec` matters for explicit axes alone."""
    return aval.update(shape=shape, weak_type=False, sharding=aval.sharding.update(spec=PartitionSpec(*spec)))


multi_slice_p.def_abstract_eval(_multi_slice_avals)
multi_slice_grad_p.def_abstract_eval(_multi_slice_grad_aval)
multi_slice_add_p.def_abstract_eval(_multi_slice_add_aval)


# --- derivatives: all three are linear


def sharded_as(aval: Any, array: Any) -> Any:
    """With the type of another array: along explicit axes of a mesh the sharding belongs to it."""
    specs = [sharding.entries(of.sharding.spec, aval.ndim) for of in (aval, jax.typeof(array))]
    return array if specs[0] == specs[1] else jax.sharding.reshard(array, aval.sharding)


def _multi_slice_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, selections: Selections, group: Group) -> Any:
    [x], [tangent] = primals, tangents
    group = new_group(x) if group is None else group
    taken = bind_slices(x, selections, group)
    if type(tangent) is ad.Zero:
        return taken, [ad.Zero(jax.typeof(y).to_tangent_aval()) for y in taken]
    return taken, bind_slices(tangent, selections, group)


def _multi_slice_transpose(dys: Sequence[Any], x: Any, *, selections: Selections, group: Group) -> list[Any]:
    given = [(dy, s) for dy, s in zip(dys, selections, strict=True) if type(dy) is not ad.Zero]
    if not given:
        return [ad.Zero(x.aval)]
    gradients, taken = zip(*given, strict=True)
    return [sharded_as(x.aval, bind_gradient(gradients, taken, group))]


def _multi_slice_grad_transpose(ddx: Any, *dys: Any, selections: Selections, group: Group) -> list[Any]:
    if type(ddx) is ad.Zero:
        return [ad.Zero(dy.aval) if ad.is_undefined_primal(dy) else None for dy in dys]
    wanted = tuple(s for dy, s in zip(dys, selections, strict=True) if ad.is_undefined_primal(dy))
    taken = iter(bind_slices(ddx, wanted, group))
    return [sharded_as(dy.aval, next(taken)) if ad.is_undefined_primal(dy) else None for dy in dys]


def _multi_slice_add_transpose(ct: Any, total: Any, *dys: Any, selections: Selections, group: Group) -> list[Any]:
    of_total = ct if ad.is_undefined_primal(total) else None
    if type(ct) is ad.Zero or not any(ad.is_undefined_primal(dy) for dy in dys):
        return [of_total, *(ad.Zero(dy.aval) if ad.is_undefined_primal(dy) else None for dy in dys)]
    return [of_total, *_multi_slice_grad_transpose(ct, *dys, selections=selections, group=group)]


def _multi_slice_grad_jvp(dys: Sequence[Any], tangents: Sequence[Any], *, selections: Selections, group: Group) -> Any:
    """Tangents that are zero are left out."""
    dx = multi_slice_grad_p.bind(*dys, selections=selections, group=group)
    given = [(t, s) for t, s in zip(tangents, selections, strict=True) if type(t) is not ad.Zero]
    if not given:
        return dx, ad.Zero(jax.typeof(dx).to_tangent_aval())
    moving, taken = zip(*given, strict=True)
    return dx, sharded_as(jax.typeof(dx), bind_gradient(moving, taken, group))


def _multi_slice_add_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, selections: Selections, group: Group
) -> Any:
    result = multi_slice_add_p.bind(*primals, selections=selections, group=group)
    total, *dys = tangents
    given = [(t, s) for t, s in zip(dys, selections, strict=True) if type(t) is not ad.Zero]
    if not given:
        return result, total
    moving, taken = zip(*given, strict=True)
    if type(total) is ad.Zero:
        return result, sharded_as(jax.typeof(result), bind_gradient(moving, taken, group))
    return result, bind_addition(total, moving, taken, group)


ad.primitive_jvps[multi_slice_p] = _multi_slice_jvp
ad.primitive_transposes[multi_slice_p] = _multi_slice_transpose
ad.primitive_jvps[multi_slice_grad_p] = _multi_slice_grad_jvp
ad.primitive_transposes[multi_slice_grad_p] = _multi_slice_grad_transpose
ad.primitive_jvps[multi_slice_add_p] = _multi_slice_add_jvp
ad.primitive_transposes[multi_slice_add_p] = _multi_slice_add_transpose


# --- vmap: one call, the batch as a leading axis that is taken whole


def _batch(
    arguments: Sequence[Any], axes: Sequence[Any], selections: Selections, group: Group
) -> tuple[list[Any], dict[str, Any]]:
    sizes = (x.shape[axis] for x, axis in zip(arguments, axes, strict=True) if axis is not None)
    size = next(sizes)
    moved = [batching.bdim_at_front(x, axis, size) for x, axis in zip(arguments, axes, strict=True)]
    return moved, {
        "selections": tuple(batched(selection, size) for selection in selections),
        "group": of_batch(group, size),
    }


def _multi_slice_batch(arguments: Sequence[Any], axes: Sequence[Any], *, selections: Selections, group: Group) -> Any:
    moved, params = _batch(arguments, axes, selections, group)
    return multi_slice_p.bind(*moved, **params), [0] * len(selections)


def _batcher(primitive: Primitive) -> Any:
    def rule(arguments: Sequence[Any], axes: Sequence[Any], *, selections: Selections, group: Group) -> Any:
        moved, params = _batch(arguments, axes, selections, group)
        return primitive.bind(*moved, **params), 0

    return rule


batching.primitive_batchers[multi_slice_p] = _multi_slice_batch
batching.primitive_batchers[multi_slice_grad_p] = _batcher(multi_slice_grad_p)
batching.primitive_batchers[multi_slice_add_p] = _batcher(multi_slice_add_p)


# --- slices that nobody reads are not taken


def _multi_slice_dce(used: list[bool], eqn: Any) -> tuple[list[bool], Any]:
    if not any(used):
        return [False], None
    keep = [i for i, is_used in enumerate(used) if is_used]
    params = eqn.params | {"selections": tuple(eqn.params["selections"][i] for i in keep)}
    return [True], eqn.replace(outvars=[eqn.outvars[i] for i in keep], params=params)


partial_eval.dce_rules[multi_slice_p] = _multi_slice_dce


# --- running them


for _primitive, _rule in (
    (multi_slice_p, lowering.MULTI_SLICE),
    (multi_slice_grad_p, lowering.MULTI_SLICE_GRAD),
    (multi_slice_add_p, lowering.MULTI_SLICE_ADD),
):
    _primitive.def_impl(
        lambda *arguments, _primitive=_primitive, **params: apply_primitive(_primitive, *arguments, **params)
    )
    sharding.will_be_partitioned(_primitive)
    mlir.register_lowering(_primitive, _rule, cacheable=False)  # it looks at its operands
