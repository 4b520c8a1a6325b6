"""Arrays that XLA is to shard alike: a sliced array and its gradient.

Nothing else tells XLA how a gradient is sharded along the axes that are cut, and it would be the same on every device.
A group is a number; its members say so where they are lowered, without reading one another. The number depends on the
program alone, so that JAX's persistent cache knows a program that is made again.
"""

import zlib
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.interpreters.xla import apply_primitive

from . import internals

Group = int | None


def group_of(*facts: Any) -> int:
    """Number a group by facts about its arrays that are equal whenever the program is made."""
    return zlib.crc32(repr(facts).encode())


def of_batch(group: Group, size: int) -> Group:
    return None if group is None else group_of(group, size)


def is_divided(ctx: Any) -> bool:
    """Whether XLA will divide the program among devices; inside shard_map it is divided already."""
    context = ctx.module_context.axis_context
    return isinstance(context, mlir.ShardingContext) and context.num_devices != 1


def declare(ctx: Any, group: Group, member: Any) -> None:
    """Put a value of the program that is being lowered into the group."""
    sharding_group = internals.operation_of_sharding_groups()
    is_in_use = is_divided(ctx) and jax.config.jax_use_shardy_partitioner
    if group is not None and is_in_use and sharding_group is not None:
        sharding_group(member, group)


# --- for arrays that are sliced by JAX's own operations: the array itself

member_p = Primitive("backslice_member")


def _batch(arguments: Any, axes: Any, *, group: Group) -> Any:
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
