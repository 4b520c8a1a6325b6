"""A function transformation that computes the gradients of all slices of an array in one pass."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, wraps
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import linear_util, source_info_util
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Primitive
from jax.extend.core.primitives import (
    dynamic_update_slice_p,
    jit_p,
    pad_p,
    remat_p,
    scatter_add_p,
    slice_p,
)
from jax.interpreters import partial_eval

from . import alike, report
from .groups import group_of, member_p
from .placing import PLACING, PLACING_BY_NAME, Rule, arrays, bind, is_sum
from .primitives import multi_slice_grad_p, prepare
from .sums import rebuilt

SHORT = 16  # equations of a function that is inlined

# Primitives whose functions may be replaced by others that compute the same.
WITH_BODIES = frozenset({"closed_call", "cond", "custom_jvp_call", "custom_vjp_call", "jit", "scan", "while"})

# Gradients that are not of static slices.
LEFT = {
    dynamic_update_slice_p: "gradients of traced indices",
    scatter_add_p: "gradients of arrays of indices",
}


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

    is_program = hasattr(f, "trace") and hasattr(f, "lower")  # made by jax.jit, which says how to compile it
    found: Counter[str] = Counter()
    warned: list[str] = []

    @wraps(f)
    def fused(*args: Any, **kwargs: Any) -> Any:
        prepare()
        leaves, structure = jax.tree.flatten((args, kwargs))
        traced = [leaf for leaf in leaves if _is_array(leaf)]

        def of_arrays(*given: Any) -> Any:
            remaining = iter(given)
            args, kwargs = jax.tree.unflatten(structure, [next(remaining) if _is_array(v) else v for v in leaves])
            return f(*args, **kwargs)

        try:
            closed, shapes = jax.make_jaxpr(of_arrays, return_shape=True)(*traced)
        except ValueError as error:  # such as options of the compiler, which belong to the whole program
            if is_program:
                error.add_note("put jax.jit around fuse_slices: jax.jit(fuse_slices(f), ...)")
            raise
        with report.counted() as counts, alike.recorded():
            is_inlined = not is_program and _has(closed.jaxpr)
            results = arrays(evaluate(closed.jaxpr, closed.consts, traced, is_inlined))
        found.clear()
        found.update(counts)
        if not counts[report.PASSES] and not warned:
            warned.append(_warning(closed.jaxpr, getattr(f, "__name__", repr(f))))
            warnings.warn(warned[0], stacklevel=2)
        results = [result if isinstance(result, jax.Array) else jnp.asarray(result) for result in results]  # literals
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    fused.status = lambda: report.status_of(found)  # type: ignore[attr-defined]
    return fused


def _warning(jaxpr: Jaxpr, name: str) -> str:
    if _has(jaxpr, pad_p, *LEFT) or not _has(jaxpr, slice_p):
        return f"fuse_slices found no gradient of a static slice in {name}, so it changes nothing"
    return (
        f"fuse_slices found slices in {name}, but no gradient of one, so it changes nothing; put it around the "
        f"function that computes the gradient: jax.jit(fuse_slices(jax.grad(f)))"
    )


def _is_array(leaf: Any) -> bool:
    """Whether it is traced; numbers of Python's, texts and the like reach the function as they are."""
    if isinstance(leaf, np.ndarray):
        return leaf.dtype.kind not in "OSUMm"
    return isinstance(leaf, jax.Array | jax.Ref)


def evaluate(jaxpr: Jaxpr, consts: Sequence[Any], arguments: Sequence[Any], is_inlined: bool = True) -> list[Any]:
    """Run a jaxpr. Its arguments and its results are arrays or Sums. Values are dropped after their last use."""
    eqns = _live(jaxpr) if is_inlined else jaxpr.eqns
    uses = Counter(atom for eqn in eqns for atom in eqn.invars if not isinstance(atom, Literal))
    uses.update(atom for atom in jaxpr.outvars if not isinstance(atom, Literal))
    remaining, values = uses.copy(), dict[Any, Any]()
    sliced, groups = _sliced_arrays(jaxpr) if is_inlined and _has(jaxpr) else {}, dict[Any, Any]()

    def write(variables: Sequence[Any], results: Sequence[Any]) -> None:
        for variable, value in zip(variables, results, strict=True):
            if not uses[variable]:
                continue
            if variable in sliced and isinstance(value, jax.core.Tracer):
                shape = variable.aval.shape
                groups[shape] = group_of(shape, sliced[variable], len(jaxpr.eqns))
                value = member_p.bind(value, group=groups[shape])
            if is_sum(value):
                value.group = groups.get(variable.aval.shape, value.group)
            values[variable] = value.array() if is_sum(value) and uses[variable] > 1 else value

    def read(atom: Any) -> Any:
        if isinstance(atom, Literal):
            return atom.val
        remaining[atom] -= 1
        return values[atom] if remaining[atom] else values.pop(atom)

    write(jaxpr.constvars, consts)
    write(jaxpr.invars, arguments)
    for eqn in eqns:
        name_stack = source_info_util.current_name_stack() + eqn.source_info.name_stack
        with source_info_util.user_context(eqn.source_info.traceback, name_stack=name_stack), eqn.ctx.manager:
            write(eqn.outvars, _apply(eqn, [read(atom) for atom in eqn.invars], is_inlined))
    return [read(atom) for atom in jaxpr.outvars]


def _live(jaxpr: Jaxpr) -> list[Any]:
    """The equations that results or effects depend on."""
    needed = set(atom for atom in jaxpr.outvars if not isinstance(atom, Literal))
    live = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or any(variable in needed for variable in eqn.outvars):
            needed.update(atom for atom in eqn.invars if not isinstance(atom, Literal))
            live.append(eqn)
    return live[::-1]


def _sliced_arrays(jaxpr: Jaxpr) -> dict[Any, int]:
    """The variables that are sliced, numbered. Of several that are alike none, since gradients are known by their shape
    alone."""
    made_by_slices = {variable for eqn in jaxpr.eqns if eqn.primitive is slice_p for variable in eqn.outvars}
    found = [variable for variable in dict.fromkeys(_sliced(jaxpr)) if variable not in made_by_slices]
    shapes = Counter(variable.aval.shape for variable in found)
    return {variable: i for i, variable in enumerate(found) if shapes[variable.aval.shape] == 1}


def _sliced(jaxpr: Jaxpr) -> Iterator[Any]:
    for eqn in jaxpr.eqns:
        if eqn.primitive is slice_p and not isinstance(eqn.invars[0], Literal):
            yield eqn.invars[0]
        elif eqn.primitive is jit_p:
            inside = eqn.params["jaxpr"].jaxpr
            given = dict(zip(inside.invars, eqn.invars, strict=True))
            outside = [given[variable] for variable in _sliced(inside) if variable in given]
            yield from (atom for atom in outside if not isinstance(atom, Literal))


def _apply(eqn: Any, arguments: list[Any], is_inlined: bool) -> list[Any]:
    rule = RULES.get(eqn.primitive) or NAMED_RULES.get(eqn.primitive.name)
    results = rule(eqn, *arguments) if rule and (is_inlined or rule is not _jit) else None
    if results is not None:
        return results
    if eqn.primitive in LEFT and eqn.outvars[0].aval.ndim:
        report.count({LEFT[eqn.primitive]: 1})
    params = _with_fused_bodies(eqn.params) if eqn.primitive.name in WITH_BODIES else eqn.params
    return bind(eqn.primitive, arrays(arguments), params)


# --- functions inside: the bodies of loops, branches, and functions with rules of their own


def _with_fused_bodies(params: dict[str, Any]) -> dict[str, Any]:
    def fused(value: Any) -> Any:
        if isinstance(value, ClosedJaxpr):
            return fused_body(value) if _has(value.jaxpr) else value
        return tuple(fused(v) for v in value) if type(value) is tuple else value

    return {name: fused(value) for name, value in params.items()}


_bodies: WeakKeyDictionary[ClosedJaxpr, tuple[ClosedJaxpr, Counter[str]]] = WeakKeyDictionary()


def fused_body(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return the same object at each call, so that JAX finds its compiled program."""

    def body(*arguments: Any) -> list[Any]:
        return arrays(evaluate(closed.jaxpr, closed.consts, arguments))

    if closed not in _bodies:
        with report.counted() as counts, alike.recorded():
            _bodies[closed] = _traced(body, closed.in_avals), counts
    made, counts = _bodies[closed]
    report.count(counts)
    return made


def _traced(body: Callable[..., Any], avals: Sequence[Any]) -> ClosedJaxpr:
    debug = jax.api_util.debug_info("fuse_slices", body, avals, {})
    jaxpr, _, consts = partial_eval.trace_to_jaxpr_dynamic(linear_util.wrap_init(body, debug_info=debug), list(avals))
    return ClosedJaxpr(jaxpr, consts)


def _has(jaxpr: Jaxpr, *primitives: Primitive) -> bool:
    """Whether it or a function inside has an equation of one of them, or, of none, one that may be fused."""
    return any(
        eqn.primitive in (primitives or (pad_p, multi_slice_grad_p))
        or any(_has(getattr(inner, "jaxpr", inner), *primitives) for inner in _functions(eqn.params))
        for eqn in jaxpr.eqns
    )


def _functions(params: dict[str, Any]) -> list[Any]:
    values = [v for value in params.values() for v in (value if type(value) is tuple else (value,))]
    return [value for value in values if isinstance(value, ClosedJaxpr | Jaxpr)]


def _jit(eqn: Any, *arguments: Any) -> list[Any] | None:
    """Inline a function, so that sums cross its border, as XLA would. Not if it determines the sharding of arrays."""
    closed = eqn.params["jaxpr"]
    if _says_how_to_compile(eqn.params):
        return None
    if not (_has(closed.jaxpr) or any(map(is_sum, arguments)) or (_is_traced(arguments) and _is_short(closed.jaxpr))):
        return None
    return evaluate(closed.jaxpr, closed.consts, arguments)


def _says_how_to_compile(params: dict[str, Any]) -> bool:
    of_arrays, others = _parameters_of_a_plain_jit()
    return any(value != plain for name, plain in of_arrays.items() for value in params[name]) or any(
        params[name] != plain for name, plain in others.items()
    )


@cache
def _parameters_of_a_plain_jit() -> tuple[dict[str, Any], dict[str, Any]]:
    """Separate the options per array from the others."""
    [eqn] = jax.make_jaxpr(jax.jit(lambda x: -x))(np.float32(0)).eqns
    of_arrays = [name for name in eqn.params if name.startswith(("in_", "out_"))]
    others = [name for name in ("compiler_options_kvs",) if name in eqn.params]
    return {name: eqn.params[name][0] for name in of_arrays}, {name: eqn.params[name] for name in others}


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
    if not _has(inner):
        return None
    terms: list[tuple[Any, list[Any], int]] = []  # of each result: its type, what is placed where, how many arrays

    def body(*values: Any) -> list[Any]:
        flat: list[Any] = []
        terms.clear()
        for result in evaluate(inner, (), values):
            whole, placed = result.terms() if is_sum(result) and result.value is None else ([], [])
            given = [*(dy for _, dy in placed), *whole] if placed else arrays([result])
            terms.append((getattr(result, "aval", None), [taken for taken, _ in placed], len(given)))
            flat += given
        return flat

    closed = _traced(body, [v.aval for v in inner.invars])
    jaxpr = closed.jaxpr.replace(constvars=[], invars=[*closed.jaxpr.constvars, *closed.jaxpr.invars], debug_info=None)
    flat = iter(remat_p.bind(*closed.consts, *arrays(arguments), **{**eqn.params, "jaxpr": jaxpr}))
    return [rebuilt(aval, taken, list(islice(flat, n))) if taken else next(flat) for aval, taken, n in terms]


def _shard_map(eqn: Any, *arguments: Any) -> list[Any] | None:
    """Made anew with a body that is fused."""
    params = dict(eqn.params)
    inner, manual = params.pop("jaxpr"), params.pop("newly_manual_axes", None)
    if manual is None or not _has(inner):
        return None

    def body(*values: Any) -> tuple[Any, ...]:
        return tuple(arrays(evaluate(inner, (), values)))

    return list(jax.shard_map(body, axis_names=manual, **params)(*arrays(arguments)))


RULES: dict[Primitive, Rule] = PLACING | {jit_p: _jit, remat_p: _remat}
NAMED_RULES: dict[str, Rule] = PLACING_BY_NAME | {"shard_map": _shard_map}
