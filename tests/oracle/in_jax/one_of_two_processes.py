"""Slices and gradients of an array of which each of two processes has a half: `ADDRESS NUMBER`."""

import sys

import backslice as bs
import backslice.jax as bsj
import jax
import numpy as np
from backslice.jax import lowering
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

lowering.LEAST_BYTES_OF_SLICES = lowering.LEAST_BYTES_OF_GRADIENTS = 0
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(sys.argv[1], num_processes=2, process_id=int(sys.argv[2]))
assert jax.process_count() == 2 and jax.device_count() == 8 and jax.local_device_count() == 4

SHAPE = (16, 8)
X = np.random.default_rng(0).normal(size=SHAPE)
INDICES = [np.s_[3:11], np.s_[::-2, 1::3], np.s_[5, None]]
mesh = jax.make_mesh((4, 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def same(array: jax.Array, expected: np.ndarray) -> None:
    """This process sees its own shards."""
    for shard in array.addressable_shards:
        np.testing.assert_allclose(shard.data, expected[shard.index], rtol=1e-12)


@jax.jit
def gradient(x):
    return jax.grad(lambda x: sum((y**3).sum() for y in bsj.multi_slice(x, INDICES)))(x)


for spec in (P("a"), P("b"), P("a", "b"), P(None, ("a", "b")), P(("b", "a"))):
    x = jax.make_array_from_callback(SHAPE, NamedSharding(mesh, spec), lambda index: X[index])
    for y, index in zip(jax.jit(lambda x: bsj.multi_slice(x, INDICES))(x), INDICES, strict=True):
        same(y, X[index])
    program = gradient.lower(x).compile()
    assert "backslice" in program.as_text() and "all-gather" not in program.as_text()
    same(program(x), bs.multi_slice_grad(SHAPE, [(index, 3 * X[index] ** 2) for index in INDICES]))
print("both halves are right")
