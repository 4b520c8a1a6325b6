"""JAX with backslice.jax: the same compiled functions as JAX alone, many slices through fuse_slices."""

import importlib.util
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
from slices import index_of, result_shape


def load_package():
    """This package, without the rest of the environment that it is installed in."""
    folder = Path(__file__).parents[2]
    spec = importlib.util.spec_from_file_location("backslice", folder / "__init__.py")
    module = sys.modules["backslice"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


load_package()
import backslice.jax as bsj  # noqa: E402

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

COMPILES = True  # in the first call


def prepare(workload):
    shape, dtype, index = tuple(workload["shape"]), workload["dtype"], index_of(workload)
    if workload["threads"] == 1 or workload["kind"] not in ("gradient", "forward", "many"):
        return None
    if workload["kind"] == "forward":
        x, forward = jnp.ones(shape, dtype), jax.jit(lambda x: bsj.slice(x, index))
        return lambda: forward(x).block_until_ready()
    dy = jnp.ones(result_shape(workload), dtype)
    if workload["kind"] == "gradient":
        gradient = jax.jit(lambda g: bsj.slice_grad(g, shape, index))
        return lambda: gradient(dy).block_until_ready()
    dys, like = [dy + 0 for _ in range(workload["slices"])], jax.ShapeDtypeStruct(shape, dtype)
    transposed = jax.linear_transpose(lambda x: [x[:, t] for t in range(len(dys))], like)
    many = jax.jit(bsj.fuse_slices(lambda gs: transposed(gs)[0]))
    return lambda: many(dys).block_until_ready()
