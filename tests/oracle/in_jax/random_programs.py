"""Random functions of one array, made of slices and of what can be around them. Their numbers are integers that
float64 holds, so that sums are exact in any order."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

MOST_ELEMENTS = 200


def function(seed: int, steps: int = 8) -> Callable[[jax.Array], jax.Array]:
    """A function from an array to a number, the same at every trace."""

    def loss(x):
        return Program(np.random.default_rng(seed), steps, depth=2).run(x)

    return loss


class Program:
    def __init__(self, rng: np.random.Generator, steps: int, depth: int) -> None:
        self.rng, self.steps, self.depth = rng, steps, depth

    def run(self, x):
        pool = [x]
        for _ in range(self.steps):
            value = pool[self.rng.integers(max(0, len(pool) - 3), len(pool))]
            result = self.pick()(value, pool)
            if result.size <= MOST_ELEMENTS:
                pool.append(result)
        return sum(float(self.rng.integers(-2, 3)) * jnp.sum(value) for value in pool) + jnp.sum(pool[-1])

    def pick(self):
        plain = [self.slice] * 6 + [
            self.scale,
            self.multiply,
            self.add,
            self.reshape,
            self.order,
            self.pad,
            self.unit_axes,
            self.unrolled,
            self.library,
        ]
        inside = [self.jit, self.scan, self.cond, self.remat, self.vmap, self.custom, self.split, self.residual]
        several = plain * 2 + inside if self.depth else plain
        return several[self.rng.integers(len(several))]

    def inner(self) -> Callable[[jax.Array], jax.Array]:
        """A program of its own, to be traced any number of times."""
        seed = int(self.rng.integers(1 << 30))
        return lambda x: Program(np.random.default_rng(seed), 4, self.depth - 1).run(x)

    # --- operations on arrays

    def slice(self, x, pool):
        return x[tuple(self.item(extent) for extent in x.shape[: self.rng.integers(x.ndim + 1)])]

    def item(self, extent: int):
        kind = self.rng.integers(5)
        if kind == 0 and extent:
            return int(self.rng.integers(-extent, extent))
        start, stop = (int(self.rng.integers(-extent - 1, extent + 2)) for _ in range(2))
        if kind == 1:
            return slice(None, None, int(self.rng.choice([-1, 2, -2, 3])))
        if kind == 2:
            return slice(max(start, stop), min(start, stop), -int(self.rng.integers(1, 3)))
        return slice(min(start, stop), max(start, stop)) if kind == 3 else slice(start, None)

    def scale(self, x, pool):
        return x * float(self.rng.integers(-2, 3))

    def multiply(self, x, pool):
        """A gradient that depends on the numbers, which stay small."""
        return x * jnp.sign(x)

    def add(self, x, pool):
        alike = [value for value in pool if value.shape == x.shape]
        return x + alike[self.rng.integers(len(alike))]

    def reshape(self, x, pool):
        order = tuple(int(axis) for axis in self.rng.permutation(x.ndim)) if self.rng.integers(2) else None
        extents = [extent for extent in (x.shape if order is None else [x.shape[axis] for axis in order])]
        new = self.rng.choice(["flat", "units", "merged"])
        if new == "flat" or not extents:
            shape = [x.size]
        elif new == "units":
            shape = [extent for extent in extents if extent != 1]
            shape.insert(self.rng.integers(len(shape) + 1), 1)
        else:
            shape = [*extents[:-2], int(np.prod(extents[-2:]))]
        return jax.lax.reshape(x, shape, order)

    def order(self, x, pool):
        if self.rng.integers(2):
            return jnp.transpose(x, [int(axis) for axis in self.rng.permutation(x.ndim)])
        return jax.lax.rev(x, [axis for axis in range(x.ndim) if self.rng.integers(2)])

    def pad(self, x, pool):
        value = self.rng.choice([0.0, 0.0, -0.0, 1.0])
        low = 0 if self.rng.integers(3) else -1
        config = [tuple(int(n) for n in self.rng.integers([low, low, 0], 3)) for _ in x.shape]
        config = [(a, b, c) if n + a + b >= 0 else (0, 0, 0) for (a, b, c), n in zip(config, x.shape, strict=True)]
        return jax.lax.pad(x, jnp.asarray(value, x.dtype), config)

    def unit_axes(self, x, pool):
        if x.ndim > 4 or (1 in x.shape and self.rng.integers(2)):
            return jnp.squeeze(x)
        axis = int(self.rng.integers(x.ndim + 1))
        return jnp.expand_dims(x, axis) if self.rng.integers(2) else jnp.sum(jnp.expand_dims(x, axis), axis)

    def split(self, x, pool):
        if not x.ndim or x.shape[0] < 2:
            return jnp.stack([x, x])
        first, second = jnp.split(x, [int(self.rng.integers(1, x.shape[0]))])
        return jnp.concatenate([second * 2.0, first])

    def residual(self, x, pool):
        """The array is read again after its slices were used."""
        if not x.ndim or not x.shape[0]:
            return x
        for k in range(3):
            x = x + jnp.sum(x[k % x.shape[0]]) * float(self.rng.integers(0, 2))
        return x

    def unrolled(self, x, pool):
        """Slices that are used alike."""
        if not x.ndim:
            return x
        return sum(jnp.sign(x[t]) * x[t] * float(self.rng.integers(-1, 2)) for t in range(x.shape[0])) + jnp.sum(x)

    def library(self, x, pool):
        """Functions that JAX makes programs of their own."""
        functions = [jnp.cumsum, jnp.sort, lambda x: jnp.where(x > 0, x, 2.0 * x), lambda x: jnp.roll(x, 1)]
        return functions[self.rng.integers(len(functions))](x.reshape(-1))

    # --- functions inside

    def jit(self, x, pool):
        inner, shape = self.inner(), self.rng.integers(2)
        return jax.jit(lambda x: x[: max(1, x.shape[0] // 2)] * inner(x) if x.ndim and shape else inner(x))(x)

    def scan(self, x, pool):
        inner, outer, items = self.inner(), self.inner(), x if x.ndim else x[None]

        def body(carry, item):
            y = x[::-1] if x.ndim else x
            return carry + 0.0 * inner(y), carry * 0.0 + outer(item) + (y[:1].sum() if x.ndim else y)

        last, values = jax.lax.scan(body, jnp.zeros((), x.dtype), items)
        return values + last

    def cond(self, x, pool):
        a, b = self.inner(), self.inner()
        return jax.lax.cond(jnp.sum(x) > float(self.rng.integers(-3, 4)), a, b, x)

    def remat(self, x, pool):
        inner = self.inner()
        return jax.checkpoint(lambda x: (x[-1:] if x.ndim else x) + inner(x))(x)

    def vmap(self, x, pool):
        return jax.vmap(self.inner())(x) if x.ndim and x.shape[0] else x

    def custom(self, x, pool):
        inner = self.inner()

        @jax.custom_vjp
        def f(x):
            return inner(x)

        f.defvjp(lambda x: jax.vjp(inner, x), lambda back, dy: back(dy))
        return f(x)


def argument(seed: int) -> jax.Array:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 4)))
    return jnp.asarray(rng.integers(-1, 2, shape), jnp.float64)


def descent(f):
    """Gradients in the body of a while_loop."""

    def run(x):
        step = jax.grad(f)
        return jax.lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1] - jnp.sign(step(s[1]))), (0, x))[1]

    return run


def sharded(f):
    """The gradient of an array that is divided between two devices, if an axis allows it."""

    def loss(x):
        mesh = jax.make_mesh((2,), ("d",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices()[:2])
        even = [axis for axis, extent in enumerate(x.shape) if extent % 2 == 0]
        spec = jax.sharding.PartitionSpec(*["d" if axis in even[:1] else None for axis in range(x.ndim)])
        return f(jax.lax.with_sharding_constraint(x, jax.sharding.NamedSharding(mesh, spec)))

    return jax.grad(loss)


transforms: dict[str, Callable] = {
    "grad": jax.grad,
    "value_and_grad": jax.value_and_grad,
    "vmap of grad": lambda f: lambda x: jax.vmap(jax.grad(f))(jnp.stack([x, 1 - x])),
    "jvp of grad": lambda f: lambda x: jax.jvp(jax.grad(f), (x,), (jnp.ones_like(x),)),
    "grad of remat": lambda f: jax.grad(jax.checkpoint(f)),
    "grad in scan": lambda f: (
        lambda x: jax.lax.scan(
            lambda c, k: (c + jax.grad(f)(x * k), None), jnp.zeros_like(x), jnp.array([1.0, -1.0], x.dtype)
        )[0]
    ),
    "grad in while": descent,
    "sharded grad": sharded,
    "vjp": lambda f: lambda x: partial(jax.vjp(f, x)[1])(jnp.asarray(2.0, x.dtype)),
}
