"""Three linear primitives with all of JAX's rules.

`multi_slice` takes slices of one array, `multi_slice_grad` is its transpose, and `multi_slice_add` adds that to an
array. Each parameter `selections` is a tuple of backslice.Selection, of one shape.
"""

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir, partial_eval
from jax.interpreters.xla import apply_primitive
from jax.sharding import PartitionSpec

from . import lowering, sharding
from .selections import Selections, batched

multi_slice_p = Primitive("backslice_multi_slice")
multi_slice_p.multiple_results = True
multi_slice_grad_p = Primitive("backslice_multi_slice_grad")
multi_slice_add_p = Primitive("backslice_multi_slice_add")


def like(aval: Any, shape: tuple[int, ...]) -> Any:
    """An array of another shape that varies over the same axes of a mesh."""
    unsharded = aval.sharding.update(spec=PartitionSpec(*[None] * len(shape)))
    return aval.update(shape=shape, weak_type=False, sharding=unsharded)


# --- abstract evaluation


def _multi_slice_avals(x: Any, *, selections: Selections) -> list[Any]:
    return [like(x, selection.result_shape) for selection in selections]


def _multi_slice_grad_aval(*dys: Any, selections: Selections) -> Any:
    return like(dys[0], selections[0].shape)


def _multi_slice_add_aval(total: Any, *dys: Any, selections: Selections) -> Any:
    return total.update(weak_type=False)


multi_slice_p.def_abstract_eval(_multi_slice_avals)
multi_slice_grad_p.def_abstract_eval(_multi_slice_grad_aval)
multi_slice_add_p.def_abstract_eval(_multi_slice_add_aval)


# --- derivatives: all three are linear


def _multi_slice_transpose(dys: Sequence[Any], x: Any, *, selections: Selections) -> list[Any]:
    given = [(dy, s) for dy, s in zip(dys, selections, strict=True) if type(dy) is not ad.Zero]
    if not given:
        return [ad.Zero(x.aval)]
    gradients, taken = zip(*given, strict=True)
    return [multi_slice_grad_p.bind(*gradients, selections=taken)]


def _multi_slice_grad_transpose(ddx: Any, *dys: Any, selections: Selections) -> list[Any]:
    if type(ddx) is ad.Zero:
        return [ad.Zero(dy.aval) if ad.is_undefined_primal(dy) else None for dy in dys]
    wanted = tuple(s for dy, s in zip(dys, selections, strict=True) if ad.is_undefined_primal(dy))
    taken = iter(multi_slice_p.bind(ddx, selections=wanted))
    return [next(taken) if ad.is_undefined_primal(dy) else None for dy in dys]


def _multi_slice_add_transpose(ct: Any, total: Any, *dys: Any, selections: Selections) -> list[Any]:
    of_total = ct if ad.is_undefined_primal(total) else None
    if type(ct) is ad.Zero or not any(ad.is_undefined_primal(dy) for dy in dys):
        return [of_total, *(ad.Zero(dy.aval) if ad.is_undefined_primal(dy) else None for dy in dys)]
    return [of_total, *_multi_slice_grad_transpose(ct, *dys, selections=selections)]


def _multi_slice_grad_jvp(dys: Sequence[Any], tangents: Sequence[Any], *, selections: Selections) -> Any:
    """Tangents that are zero are left out."""
    dx = multi_slice_grad_p.bind(*dys, selections=selections)
    given = [(t, s) for t, s in zip(tangents, selections, strict=True) if type(t) is not ad.Zero]
    if not given:
        return dx, ad.Zero(jax.typeof(dx).to_tangent_aval())
    moving, taken = zip(*given, strict=True)
    return dx, multi_slice_grad_p.bind(*moving, selections=taken)


def _multi_slice_add_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, selections: Selections) -> Any:
    result = multi_slice_add_p.bind(*primals, selections=selections)
    total, *dys = tangents
    given = [(t, s) for t, s in zip(dys, selections, strict=True) if type(t) is not ad.Zero]
    if not given:
        return result, total
    moving, taken = zip(*given, strict=True)
    if type(total) is ad.Zero:
        return result, multi_slice_grad_p.bind(*moving, selections=taken)
    return result, multi_slice_add_p.bind(total, *moving, selections=taken)


ad.deflinear2(multi_slice_p, _multi_slice_transpose)  # for its jvp
ad.primitive_transposes[multi_slice_p] = _multi_slice_transpose
ad.primitive_jvps[multi_slice_grad_p] = _multi_slice_grad_jvp
ad.primitive_transposes[multi_slice_grad_p] = _multi_slice_grad_transpose
ad.primitive_jvps[multi_slice_add_p] = _multi_slice_add_jvp
ad.primitive_transposes[multi_slice_add_p] = _multi_slice_add_transpose


# --- vmap: one call, the batch as a leading axis that is taken whole


def _batch(arguments: Sequence[Any], axes: Sequence[Any], selections: Selections) -> tuple[list[Any], Selections]:
    sizes = (x.shape[axis] for x, axis in zip(arguments, axes, strict=True) if axis is not None)
    size = next(sizes)
    moved = [batching.bdim_at_front(x, axis, size) for x, axis in zip(arguments, axes, strict=True)]
    return moved, tuple(batched(selection, size) for selection in selections)


def _multi_slice_batch(arguments: Sequence[Any], axes: Sequence[Any], *, selections: Selections) -> Any:
    moved, selections = _batch(arguments, axes, selections)
    return multi_slice_p.bind(*moved, selections=selections), [0] * len(selections)


def _batcher(primitive: Primitive) -> Any:
    def rule(arguments: Sequence[Any], axes: Sequence[Any], *, selections: Selections) -> Any:
        moved, selections = _batch(arguments, axes, selections)
        return primitive.bind(*moved, selections=selections), 0

    return rule


batching.primitive_batchers[multi_slice_p] = _multi_slice_batch
batching.primitive_batchers[multi_slice_grad_p] = _batcher(multi_slice_grad_p)
batching.primitive_batchers[multi_slice_add_p] = _batcher(multi_slice_add_p)


# --- slices that nobody reads are not taken


def _multi_slice_dce(used: list[bool], eqn: Any) -> tuple[list[bool], Any]:
    if not any(used):
        return [False], None
    keep = [i for i, is_used in enumerate(used) if is_used]
    params = {"selections": tuple(eqn.params["selections"][i] for i in keep)}
    return [True], eqn.replace(outvars=[eqn.outvars[i] for i in keep], params=params)


partial_eval.dce_rules[multi_slice_p] = _multi_slice_dce


# --- running them


for _primitive, _rules in (
    (multi_slice_p, lowering.MULTI_SLICE),
    (multi_slice_grad_p, lowering.MULTI_SLICE_GRAD),
    (multi_slice_add_p, lowering.MULTI_SLICE_ADD),
):
    _primitive.def_impl(
        lambda *arguments, _primitive=_primitive, **params: apply_primitive(_primitive, *arguments, **params)
    )
    sharding.will_be_partitioned(_primitive)
    mlir.register_lowering(_primitive, _rules.native)
    mlir.register_lowering(_primitive, _rules.on_cpu, platform="cpu", cacheable=False)  # it looks at its operands
