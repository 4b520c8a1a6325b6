"""Random programs of slices for JAX."""

import random

from . import cases
from .cases import elements, random_slice, random_slices, selected_shape
from .program import Program, program

DTYPES = ("float32", "float16", "bfloat16", "complex64")
STEPS = (1, 1, 2, 3, -1, -2)
HEAD = "import jax, jax.numpy as jnp, numpy as np, backslice as bs"
FUSE = "from backslice.jax import fuse_slices"
FOUND = "found = np.asarray(gradient({x}, dy), np.complex128)"


def random_program(rng: random.Random, with_adapter: bool) -> Program:
    title, *lines = rng.choice((one_slice, nested_slices, many_slices, update_of_slice))(rng)
    run = "jax.jit({})" if rng.random() < 0.2 else "{}"
    gradient = "gradient = " + run.format("fuse_slices(vjp)" if with_adapter else "vjp")
    lines.insert(-2, gradient)
    return program(title + (", compiled" if "jit" in run else ""), HEAD, FUSE if with_adapter else "", *lines)


def one_slice(rng: random.Random) -> list[str]:
    return _taken(rng, cases.one_slice(rng, STEPS))


def nested_slices(rng: random.Random) -> list[str]:
    return _taken(rng, cases.nested_slices(rng, STEPS))


def _taken(rng: random.Random, taken: cases.Taken) -> list[str]:
    return [
        taken.title,
        taken.dy,
        f"vjp = lambda x, dy: jax.vjp(lambda x: x{taken.index}, x)[1](jnp.asarray(dy, x.dtype))[0]",
        FOUND.format(x=zeros(rng, taken.shape)),
        taken.expected,
    ]


def many_slices(rng: random.Random) -> list[str]:
    shape, slices = random_slices(rng, STEPS)
    return [
        "many slices of one array",
        f"slices = [{slices}]",
        "dy = [dy for _, dy in slices]",
        "take = lambda x: [x[i] for i, _ in slices]",
        "vjp = lambda x, dy: jax.vjp(take, x)[1]([jnp.asarray(d, x.dtype) for d in dy])[0]",
        FOUND.format(x=zeros(rng, shape)),
        f"expected = bs.multi_slice_grad({shape}, slices)",
    ]


def update_of_slice(rng: random.Random) -> list[str]:
    shape, index = random_slice(rng, STEPS)
    return [
        "an update of a slice",
        f"dy = {elements(shape)}",
        f"update = lambda x: jnp.zeros({shape}, x.dtype).at[{index}].set(x)",
        "vjp = lambda x, dy: jax.vjp(update, x)[1](jnp.asarray(dy, x.dtype))[0]",
        FOUND.format(x=zeros(rng, selected_shape(shape, index))),
        f"expected = bs.slice(dy, np.s_[{index}])",
    ]


def zeros(rng: random.Random, shape: tuple[int, ...]) -> str:
    return f"jnp.zeros({shape}, jnp.{rng.choice(DTYPES)})"
