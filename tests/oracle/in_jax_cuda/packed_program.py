"""`python packed_program.py WAY DTYPE ...`: gradients of slices of types that XLA packs, by JAX or by backslice.jax.

Either way they are XLA's. Says "right DTYPE" or "wrong DTYPE" after each: XLA may abort while it compiles one.
"""

import sys

import backslice as bs
import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np

SHAPE = (6, 5, 4)
INDICES = [np.s_[2], np.s_[..., 1:3], np.s_[1:5:2, ::-1], np.s_[::-1, ::-1, ::-1]]


def gradient(way: str, dtype: str, index, dy):
    if way == "ours":
        return bsj.slice_grad(dy, SHAPE, index)
    return jax.linear_transpose(lambda x: x[index], jax.ShapeDtypeStruct(SHAPE, dtype))(dy)[0]


def is_right(way: str, dtype: str) -> bool:
    x = np.random.default_rng(0).integers(0, 2, SHAPE).astype(jnp.dtype(dtype))
    found = [jax.jit(lambda dy, i=i: gradient(way, dtype, i, dy))(np.asarray(x[i])) for i in INDICES]
    expected = [bs.slice_grad(np.ascontiguousarray(x[i]), SHAPE, i) for i in INDICES]
    return all((np.asarray(a) == b).all() for a, b in zip(found, expected, strict=True))


for dtype in sys.argv[2:]:
    print("right" if is_right(sys.argv[1], dtype) else "wrong", dtype, flush=True)
