"""A function transformation that computes the gradients of all slices of an array in one pass."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import jax
import numpy as np
from jax.extend import linear_util, source_info_util
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Primitive
from jax.extend.core.primitives import (
    add_jaxvals_p,
    broadcast_in_dim_p,
    jit_p,
    pad_p,
    reduce_sum_p,
    remat_p,
    reshape_p,
    rev_p,
    squeeze_p,
)
from jax.interpreters import partial_eval

from .sums import Sum, padded, reshaped, reversed_along, terms_of


def fuse_slices(f: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function whose gradients of static slices are one pass over memory.

    JAX makes the gradient of every slice an array of the size of what was sliced, and adds them up. The new function
    computes the same with one call per array, however many slices there are: ``jax.jit(fuse_slices(jax.grad(loss)))``.
    Only the order of additions may differ: where slices overlap, their gradients are added in the order in which JAX
    adds them, from the left. Everything else that `f` does is left as it is, also what it does with traced indices.

    Parameters
    ----------
    f : callable
        A function of arrays and pytrees of them, such as what ``jax.grad`` returns.

    Returns
    -------
    callable
        A function with the same arguments and results. It can be transformed further.

    Examples
    --------
    >>> def loss(x):
    ...     return sum(t * jnp.sum(x[:, t]) for t in range(3))
    >>> jax.jit(bsj.fuse_slices(jax.grad(loss)))(jnp.zeros((2, 3)))
    Array([[0., 1., 2.],
           [0., 1., 2.]], dtype=float32)
    """

    @wraps(f)
    def fused(*args: Any, **kwargs: Any) -> Any:
        closed, shapes = jax.make_jaxpr(f, return_shape=True)(*args, **kwargs)
        results = _arrays(evaluate(closed.jaxpr, closed.consts, jax.tree.leaves((args, kwargs))))
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    return fused


def evaluate(jaxpr: Jaxpr, consts: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
    """Run a jaxpr. Its arguments and its results are arrays or Sums."""
    values: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    values.update(zip(jaxpr.invars, arguments, strict=True))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else values[atom]

    for eqn in jaxpr.eqns:
        name_stack = source_info_util.current_name_stack() + eqn.source_info.name_stack
        with source_info_util.user_context(eqn.source_info.traceback, name_stack=name_stack), eqn.ctx.manager:
            results = _apply(eqn, [read(atom) for atom in eqn.invars])
        values.update(zip(eqn.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _apply(eqn: Any, arguments: list[Any]) -> list[Any]:
    rule = RULES.get(eqn.primitive) or NAMED_RULES.get(eqn.primitive.name)
    results = rule(eqn, *arguments) if rule else None
    if results is not None:
        return results
    return _bind(eqn.primitive, _arrays(arguments), _with_fused_bodies(eqn.params))


def _arrays(values: Sequence[Any]) -> list[Any]:
    return [value.array() if isinstance(value, Sum) else value for value in values]


def _bind(primitive: Primitive, arguments: list[Any], params: dict[str, Any]) -> list[Any]:
    bound = primitive.get_bind_params(params)
    functions, params = bound if isinstance(bound, tuple) else ((), bound)  # as versions of JAX differ
    result = primitive.bind(*functions, *arguments, **params)
    return result if primitive.multiple_results else [result]


# --- functions inside: the bodies of loops, branches, and functions with rules of their own


def _with_fused_bodies(params: dict[str, Any]) -> dict[str, Any]:
    def fused(value: Any) -> Any:
        if isinstance(value, ClosedJaxpr):
            return fused_body(value) if _places(value.jaxpr) else value
        return tuple(fused(v) for v in value) if type(value) is tuple else value

    return {name: fused(value) for name, value in params.items()}


def fused_body(closed: ClosedJaxpr) -> ClosedJaxpr:
    def body(*arguments: Any) -> list[Any]:
        return _arrays(evaluate(closed.jaxpr, closed.consts, arguments))

    return _traced(body, closed.in_avals)


def _traced(body: Callable[..., Any], avals: Sequence[Any]) -> ClosedJaxpr:
    debug = jax.api_util.debug_info("fuse_slices", body, avals, {})
    jaxpr, _, consts = partial_eval.trace_to_jaxpr_dynamic(linear_util.wrap_init(body, debug_info=debug), list(avals))
    return ClosedJaxpr(jaxpr, consts)


def _places(jaxpr: Jaxpr) -> bool:
    """Whether there is something to fuse in it, or in a function inside."""
    return any(
        eqn.primitive is pad_p or any(_places(getattr(inner, "jaxpr", inner)) for inner in _functions(eqn.params))
        for eqn in jaxpr.eqns
    )


def _functions(params: dict[str, Any]) -> list[Any]:
    values = [v for value in params.values() for v in (value if type(value) is tuple else (value,))]
    return [value for value in values if isinstance(value, ClosedJaxpr | Jaxpr)]


def _jit(eqn: Any, *arguments: Any) -> list[Any] | None:
    """Inlined, so that sums cross its border; XLA would inline it anyway. Not where it says how arrays are sharded."""
    closed = eqn.params["jaxpr"]
    shardings = (*eqn.params["in_shardings"], *eqn.params["out_shardings"])
    if any(type(sharding).__name__ != "UnspecifiedValue" for sharding in shardings):
        return None
    if not (_places(closed.jaxpr) or any(_is_sum(argument) for argument in arguments)):
        return None
    return evaluate(closed.jaxpr, closed.consts, arguments)


def _remat(eqn: Any, *arguments: Any) -> list[Any] | None:
    """The function inside returns the dy's of its sums, so that these are computed outside."""
    inner = eqn.params["jaxpr"]
    if not _places(inner):
        return None
    rebuild: list[Callable[[Any], Any]] = []

    def body(*values: Any) -> list[Any]:
        results = evaluate(inner, (), values)
        flat, rebuild[:] = _taken_apart(results)
        return flat

    closed = _traced(body, [v.aval for v in inner.invars])
    jaxpr = closed.jaxpr.replace(constvars=[], invars=[*closed.jaxpr.constvars, *closed.jaxpr.invars], debug_info=None)
    flat = iter(remat_p.bind(*closed.consts, *_arrays(arguments), **{**eqn.params, "jaxpr": jaxpr}))
    return [make(flat) for make in rebuild]


def _taken_apart(results: Sequence[Any]) -> tuple[list[Any], list[Callable[[Any], Any]]]:
    """Arrays alone, and for each result what makes it of them again, taken one by one."""
    flat: list[Any] = []
    makers: list[Callable[[Any], Any]] = []
    for result in results:
        if isinstance(result, Sum) and result.plain is None and result.value is None:
            flat += [dy for _, dy in result.terms] + [result.base] * (result.base is not None)
            makers.append(_maker([taken for taken, _ in result.terms], result.base is not None))
        else:
            flat += _arrays([result])
            makers.append(next)
    return flat, makers


def _maker(selections: list[Any], has_base: bool) -> Callable[[Any], Sum]:
    return lambda flat: Sum(tuple((taken, next(flat)) for taken in selections), next(flat) if has_base else None)


def _shard_map(eqn: Any, *arguments: Any) -> list[Any] | None:
    """Made anew with a body that is fused."""
    params = dict(eqn.params)
    inner, manual = params.pop("jaxpr"), params.pop("newly_manual_axes", None)
    if manual is None or not _places(inner):
        return None

    def body(*values: Any) -> tuple[Any, ...]:
        return tuple(_arrays(evaluate(inner, (), values)))

    return list(jax.shard_map(body, axis_names=manual, **params)(*_arrays(arguments)))


# --- operations that place elements


def _varying(eqn: Any, operand: Any) -> list[Any] | None:
    """Inside shard_map JAX marks the zeros of a pad as different on each device."""
    return [Sum((), plain=lambda: _bind(eqn.primitive, [operand], eqn.params)[0])] if _is_zero(operand) else None


def _pad(eqn: Any, operand: Any, value: Any) -> list[Any] | None:
    padding = tuple((int(low), int(high), int(between)) for low, high, between in eqn.params["padding_config"])
    if not _is_zero(value) or any(low < 0 or high < 0 for low, high, _ in padding):
        return None
    return [Sum(padded(terms_of(operand), eqn.outvars[0].aval.shape, padding))]


def _is_zero(value: Any) -> bool:
    if isinstance(value, Sum):
        return not value.terms and value.base is None
    return not isinstance(value, jax.core.Tracer) and np.ndim(value) == 0 and bool(np.asarray(value) == 0)


def _add(eqn: Any, a: Any, b: Any) -> list[Any] | None:
    if not (_is_sum(a) or _is_sum(b)):
        return None
    terms = tuple(term for value in (a, b) if _is_sum(value) for term in value.terms)
    bases = [value.base if _is_sum(value) else value for value in (a, b)]
    given = _arrays([base for base in bases if base is not None])
    base = add_jaxvals_p.bind(*given) if len(given) == 2 else given[0] if given else None
    return [Sum(terms, base)]


def _is_sum(value: Any) -> bool:
    """Whether something was placed among zeros; the rest JAX adds as well."""
    return isinstance(value, Sum) and value.plain is None


def _view(eqn: Any, operand: Any, terms: Any) -> list[Any]:
    """Elements in another order or of another shape: of an array, this is left to JAX unless a pad follows."""
    if _is_sum(operand):
        return [Sum(terms)]
    return [Sum(terms, plain=lambda: _bind(eqn.primitive, _arrays([operand]), eqn.params)[0])]


def _rev(eqn: Any, operand: Any) -> list[Any]:
    return _view(eqn, operand, reversed_along(terms_of(operand), eqn.params["dimensions"]))


def _unit_axes(eqn: Any, operand: Any, *dynamic: Any) -> list[Any] | None:
    """Operations that add or drop axes of extent 1 and do nothing else; a sum along such an axis is one."""
    if dynamic:
        return None
    old, new = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    kept = _kept_axes(old, new)
    if kept is None or (eqn.primitive is broadcast_in_dim_p and not _keeps_order(eqn, old)):
        return None
    terms = reshaped(terms_of(operand), new, kept)
    return _view(eqn, operand, terms) if terms else None


def _kept_axes(old: Sequence[int], new: Sequence[int]) -> list[int] | None:
    """For each new axis the old one, or -1; None where more than axes of extent 1 differs."""
    of_old = [axis for axis, extent in enumerate(old) if extent != 1]
    if [old[axis] for axis in of_old] != [extent for extent in new if extent != 1]:
        return None
    remaining = iter(of_old)
    return [-1 if extent == 1 else next(remaining) for extent in new]


def _keeps_order(eqn: Any, old: Sequence[int]) -> bool:
    """Whether no axis is repeated: one of extent 1 that becomes longer."""
    new = eqn.outvars[0].aval.shape
    return all(new[axis] == extent for axis, extent in zip(eqn.params["broadcast_dimensions"], old, strict=True))


RULES: dict[Primitive, Callable[..., list[Any] | None]] = {
    add_jaxvals_p: _add,
    broadcast_in_dim_p: _unit_axes,
    jit_p: _jit,
    pad_p: _pad,
    reduce_sum_p: _unit_axes,
    remat_p: _remat,
    reshape_p: _unit_axes,
    rev_p: _rev,
    squeeze_p: _unit_axes,
}

# Of those JAX has no public names.
NAMED_RULES: dict[str, Callable[..., list[Any] | None]] = {
    "pcast": _varying,
    "pvary": _varying,
    "shard_map": _shard_map,
}
