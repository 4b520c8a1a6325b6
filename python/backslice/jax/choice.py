"""A primitive that is one of two programs with the same results: a loop on a CPU, and one kernel elsewhere."""

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir
from jax.interpreters.xla import apply_primitive

choice_p = Primitive("backslice_choice")


def choose(on_cpu: Any, elsewhere: Any, operands: Sequence[Any]) -> Any:
    """Call one of two functions, when it is known where the program runs."""
    programs = [jax.make_jaxpr(f)(*operands) for f in (on_cpu, elsewhere)]
    return choice_p.bind(*operands, on_cpu=programs[0], elsewhere=programs[1])


def function_of(elsewhere: ClosedJaxpr) -> Any:
    return lambda *operands: jaxpr_as_fun(elsewhere)(*operands)[0]


def _lower(ctx: Any, *operands: Any, on_cpu: ClosedJaxpr, elsewhere: ClosedJaxpr) -> Any:
    context = ctx.module_context.axis_context
    is_alone = isinstance(context, mlir.ShardingContext) and context.num_devices == 1
    is_on_cpu = set(ctx.platforms or ctx.module_context.platforms) == {"cpu"} and is_alone
    return mlir.lower_fun(function_of(on_cpu if is_on_cpu else elsewhere), multiple_results=False)(ctx, *operands)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, on_cpu: ClosedJaxpr, elsewhere: ClosedJaxpr) -> Any:
    return jax.jvp(function_of(elsewhere), tuple(primals), tuple(map(ad.instantiate_zeros, tangents)))


def _transpose(ct: Any, *operands: Any, on_cpu: ClosedJaxpr, elsewhere: ClosedJaxpr) -> list[Any]:
    linear = [i for i, operand in enumerate(operands) if ad.is_undefined_primal(operand)]

    def of_linear(*given: Any) -> Any:
        replaced = dict(zip(linear, given, strict=True))
        return function_of(elsewhere)(*(replaced.get(i, operand) for i, operand in enumerate(operands)))

    cts = jax.linear_transpose(of_linear, *(operands[i].aval for i in linear))(ad.instantiate_zeros(ct))
    found = dict(zip(linear, cts, strict=True))
    return [found.get(i) for i in range(len(operands))]


def _batch(operands: Sequence[Any], axes: Sequence[Any], *, on_cpu: ClosedJaxpr, elsewhere: ClosedJaxpr) -> Any:
    return jax.vmap(function_of(elsewhere), tuple(axes))(*operands), 0


choice_p.def_impl(lambda *operands, **programs: apply_primitive(choice_p, *operands, **programs))
choice_p.def_abstract_eval(lambda *avals, on_cpu, elsewhere: elsewhere.out_avals[0])
ad.primitive_jvps[choice_p] = _jvp
ad.primitive_transposes[choice_p] = _transpose
batching.primitive_batchers[choice_p] = _batch
mlir.register_lowering(choice_p, _lower)
