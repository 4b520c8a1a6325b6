"""A function transformation that computes the gradients of all slices of an array in one pass."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import linear_util, source_info_util
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Primitive
from jax.extend.core.primitives import jit_p, pad_p, remat_p, slice_p
from jax.interpreters import partial_eval

from .groups import member_p, new_group
from .placing import PLACING, PLACING_BY_NAME, Rule, arrays, bind, is_sum
from .sums import Sum, rebuilt

SHORT = 16  # equations of a function that is inlined

# Primitives whose functions may be replaced by others that compute the same.
WITH_BODIES = frozenset({"closed_call", "cond", "custom_jvp_call", "custom_vjp_call", "jit", "scan", "while"})


def fuse_slices(f: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function whose gradients of static slices are one pass over memory.

    JAX makes the gradient of every slice an array of the size of what was sliced, and adds them up. The new function
    computes the same with one call per array, however many slices there are: ``jax.jit(fuse_slices(jax.grad(loss)))``.
    Only the order of additions may differ: where slices overlap, their gradients are added in the order in which JAX
    adds them, from the left. Everything else that `f` does is left as it is, also what it does with traced indices.

    Parameters
    ----------
    f : callable
        A function of arrays and pytrees of them, such as what ``jax.grad`` returns. Arguments that are no arrays, such
        as numbers of Python's and texts, reach it as they are.

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
        leaves, structure = jax.tree.flatten((args, kwargs))
        traced = [leaf for leaf in leaves if _is_array(leaf)]

        def of_arrays(*given: Any) -> Any:
            remaining = iter(given)
            args, kwargs = jax.tree.unflatten(structure, [next(remaining) if _is_array(v) else v for v in leaves])
            return f(*args, **kwargs)

        closed, shapes = jax.make_jaxpr(of_arrays, return_shape=True)(*traced)
        results = arrays(evaluate(closed.jaxpr, closed.consts, traced))
        results = [result if isinstance(result, jax.Array) else jnp.asarray(result) for result in results]  # literals
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    return fused


def _is_array(leaf: Any) -> bool:
    """Whether it is traced; numbers of Python's, texts and the like reach the function as they are."""
    return isinstance(leaf, jax.Array) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind not in "OSUMm")


def evaluate(jaxpr: Jaxpr, consts: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
    """Run a jaxpr. Its arguments and its results are arrays or Sums."""
    uses = Counter(atom for eqn in jaxpr.eqns for atom in eqn.invars if not isinstance(atom, Literal))
    uses.update(atom for atom in jaxpr.outvars if not isinstance(atom, Literal))
    values: dict[Any, Any] = {}
    sliced, groups = _sliced_arrays(jaxpr), dict[Any, Any]()

    def write(variables: Sequence[Any], results: Sequence[Any]) -> None:
        for variable, value in zip(variables, results, strict=True):
            if variable in sliced and not isinstance(value, Sum) and (group := new_group(value)) is not None:
                groups[variable.aval.shape] = group
                value = member_p.bind(value, group=group)
            if is_sum(value):
                value.group = groups.get(variable.aval.shape)
            values[variable] = value.array() if is_sum(value) and uses[variable] > 1 else value

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else values[atom]

    write(jaxpr.constvars, consts)
    write(jaxpr.invars, arguments)
    for eqn in jaxpr.eqns:
        name_stack = source_info_util.current_name_stack() + eqn.source_info.name_stack
        with source_info_util.user_context(eqn.source_info.traceback, name_stack=name_stack), eqn.ctx.manager:
            write(eqn.outvars, _apply(eqn, [read(atom) for atom in eqn.invars]))
    return [read(atom) for atom in jaxpr.outvars]


def _sliced_arrays(jaxpr: Jaxpr) -> set[Any]:
    """The variables that are sliced. Of several that are alike none, since gradients are known by their shape alone."""
    found = list(dict.fromkeys(_sliced(jaxpr)))
    shapes = Counter(variable.aval.shape for variable in found)
    return {variable for variable in found if shapes[variable.aval.shape] == 1}


def _sliced(jaxpr: Jaxpr) -> Iterator[Any]:
    for eqn in jaxpr.eqns:
        if eqn.primitive is slice_p and not isinstance(eqn.invars[0], Literal):
            yield eqn.invars[0]
        elif eqn.primitive is jit_p:
            inside = eqn.params["jaxpr"].jaxpr
            given = dict(zip(inside.invars, eqn.invars, strict=True))
            outside = [given[variable] for variable in _sliced(inside) if variable in given]
            yield from (atom for atom in outside if not isinstance(atom, Literal))


def _apply(eqn: Any, arguments: list[Any]) -> list[Any]:
    rule = RULES.get(eqn.primitive) or NAMED_RULES.get(eqn.primitive.name)
    results = rule(eqn, *arguments) if rule else None
    if results is not None:
        return results
    params = _with_fused_bodies(eqn.params) if eqn.primitive.name in WITH_BODIES else eqn.params
    return bind(eqn.primitive, arrays(arguments), params)


# --- functions inside: the bodies of loops, branches, and functions with rules of their own


def _with_fused_bodies(params: dict[str, Any]) -> dict[str, Any]:
    def fused(value: Any) -> Any:
        if isinstance(value, ClosedJaxpr):
            return fused_body(value) if _places(value.jaxpr) else value
        return tuple(fused(v) for v in value) if type(value) is tuple else value

    return {name: fused(value) for name, value in params.items()}


def fused_body(closed: ClosedJaxpr) -> ClosedJaxpr:
    def body(*arguments: Any) -> list[Any]:
        return arrays(evaluate(closed.jaxpr, closed.consts, arguments))

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
    if not (
        _places(closed.jaxpr) or any(map(is_sum, arguments)) or (_is_traced(arguments) and _is_short(closed.jaxpr))
    ):
        return None
    return evaluate(closed.jaxpr, closed.consts, arguments)


def _is_traced(arguments: Sequence[Any]) -> bool:
    """Whether a function of them becomes part of a program. Of arrays it is computed at once, as a program itself."""
    arrays = [argument for argument in arguments if isinstance(argument, jax.Array)]
    return not arrays or any(isinstance(array, jax.core.Tracer) for array in arrays)


def _is_short(jaxpr: Jaxpr) -> bool:
    """Whether it is one of the functions that JAX makes of jnp.where and the like, of which dy's consist."""
    return len(jaxpr.eqns) <= SHORT and all(
        _is_short(eqn.params["jaxpr"].jaxpr) if eqn.primitive is jit_p else not _functions(eqn.params)
        for eqn in jaxpr.eqns
    )


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
    flat = iter(remat_p.bind(*closed.consts, *arrays(arguments), **{**eqn.params, "jaxpr": jaxpr}))
    return [make(flat) for make in rebuild]


def _taken_apart(results: Sequence[Any]) -> tuple[list[Any], list[Callable[[Any], Any]]]:
    """Arrays alone, and for each result what makes it of them again, taken one by one."""
    flat: list[Any] = []
    makers: list[Callable[[Any], Any]] = []
    for result in results:
        whole, placed = result.terms() if is_sum(result) and result.value is None else ([], [])
        if placed:
            flat += [dy for _, dy in placed] + whole
            makers.append(_maker(result.aval, [taken for taken, _ in placed], len(placed) + len(whole)))
        else:
            flat += arrays([result])
            makers.append(next)
    return flat, makers


def _maker(aval: Any, selections: list[Any], count: int) -> Callable[[Any], Sum]:
    return lambda flat: rebuilt(aval, selections, [next(flat) for _ in range(count)])


def _shard_map(eqn: Any, *arguments: Any) -> list[Any] | None:
    """Made anew with a body that is fused."""
    params = dict(eqn.params)
    inner, manual = params.pop("jaxpr"), params.pop("newly_manual_axes", None)
    if manual is None or not _places(inner):
        return None

    def body(*values: Any) -> tuple[Any, ...]:
        return tuple(arrays(evaluate(inner, (), values)))

    return list(jax.shard_map(body, axis_names=manual, **params)(*arrays(arguments)))


RULES: dict[Primitive, Rule] = PLACING | {jit_p: _jit, remat_p: _remat}
NAMED_RULES: dict[str, Rule] = PLACING_BY_NAME | {"shard_map": _shard_map}
