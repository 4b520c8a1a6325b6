"""Arrays that XLA is to shard alike: what is sliced, and its gradient.

Nothing else tells XLA how a gradient is sharded along the axes that are cut, and it would be the same on every device.
A group is a number; its members say so where they are lowered, without reading one another.
"""

import itertools
import zlib
from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.interpreters.xla import apply_primitive

try:
    from jaxlib.mlir.dialects import sdy
except ImportError:  # then gradients are sharded as out_shardings say
    sdy = None

Group = Any  # None for none; a number, or a pair of a group and the size of a batch
_numbers = itertools.count()


def new_group(member: Any) -> Group:
    """For an array of a program that is being traced. Operations that run at once have none: a new number would be a
    new program each time."""
    while type(member).__name__ == "BatchTracer":
        member = member.val
    return next(_numbers) if type(member).__name__ == "DynamicJaxprTracer" else None


def of_batch(group: Group, size: int) -> Group:
    return None if group is None else (group, size)


def declare(ctx: Any, group: Group, member: Any) -> None:
    """Puts a value of the program that is being lowered into the group."""
    context = ctx.module_context.axis_context
    is_divided = isinstance(context, mlir.ShardingContext) and context.num_devices != 1
    if group is not None and sdy is not None and is_divided and jax.config.jax_use_shardy_partitioner:
        sdy.sharding_group(member, zlib.crc32(repr(group).encode()))


# --- for arrays that are sliced by JAX's own operations: the array itself

member_p = Primitive("backslice_member")


def _batch(arguments: Sequence[Any], axes: Sequence[Any], *, group: Group) -> Any:
    [x], [axis] = arguments, axes
    moved = batching.bdim_at_front(x, axis, x.shape[axis])
    return member_p.bind(moved, group=of_batch(group, moved.shape[0])), 0


def _lower(ctx: Any, x: Any, *, group: Group) -> list[Any]:
    declare(ctx, group, x)
    return [x]


member_p.def_impl(lambda x, *, group: apply_primitive(member_p, x, group=group))
member_p.def_abstract_eval(lambda x, *, group: x)
ad.deflinear2(member_p, lambda ct, x, *, group: [ct])
batching.primitive_batchers[member_p] = _batch
mlir.register_lowering(member_p, _lower)
