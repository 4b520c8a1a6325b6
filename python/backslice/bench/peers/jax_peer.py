"""JAX: the transpose of the slice, compiled."""

import itertools

import jax
import jax.numpy as jnp
from slices import index_of, result_shape

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

COMPILES = True  # in the first call


def prepare(workload):
    call = prepare_queued(workload)
    return call and (lambda: call().block_until_ready())


def prepare_queued(workload):
    """A call that returns its result, which may still be computed."""
    shape, dtype, index = tuple(workload["shape"]), workload["dtype"], index_of(workload)
    if workload["threads"] == 1 or workload["kind"] in ("limit", "into", "accumulate"):
        return None
    dy = jnp.ones(result_shape(workload), dtype)
    like = jax.ShapeDtypeStruct(shape, dtype)
    if workload["kind"] == "gradient":
        gradient = jax.jit(lambda g: jax.linear_transpose(lambda x: x[index], like)(g)[0])
        return lambda: gradient(dy)
    if workload["kind"] == "forward":
        x, forward = jnp.ones(shape, dtype), jax.jit(lambda x: x[index])
        return lambda: forward(x)
    if workload["kind"] == "buffer":
        starts = itertools.cycle(range(0, shape[0] - 64, 64))
        moving = jax.jit(lambda g, k: jax.lax.dynamic_update_slice(jnp.zeros(shape, dtype), g, (k, 0)))
        return lambda: moving(dy, next(starts))
    dys = [dy + 0 for _ in range(workload["slices"])]
    many = jax.jit(lambda gs: jax.linear_transpose(lambda x: [x[:, t] for t in range(len(dys))], like)(gs)[0])
    return lambda: many(dys)
