"""How much faster gradients of slices are than JAX's own, inside jit, with distinct dy's: prints a table, then JSON."""

import json
import sys
import time
from collections.abc import Callable

import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_platforms", "cpu")

LARGE, STEPS, MEDIUM = (4096, 4096), (64, 512, 1024), (1024, 1024)
SINGLE = [
    (LARGE, "1024:3072"), (LARGE, ":, 1024:3072"), (LARGE, "100:3000, 200:4000"), (LARGE, "::2, ::2"),
    (LARGE, "::-1, 1:"), (STEPS, ":, 100"), (MEDIUM, "::2"), (MEDIUM, ":, ::2"), (MEDIUM, "256:768"),
]  # fmt: skip


def best_of(runs: int, *functions: Callable[[], object]) -> list[float]:
    """The shortest time of each, taken in turns."""
    best = [float("inf")] * len(functions)
    for _ in range(runs):
        for i, f in enumerate(functions):
            start = time.perf_counter()
            jax.block_until_ready(f())
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def compiled(f: Callable, *arguments: jax.Array) -> tuple[Callable, float]:
    """The program, and the processor time that tracing and compiling took."""
    jax.clear_caches()
    start = time.process_time()
    program = jax.jit(f).lower(*arguments).compile()
    return program, time.process_time() - start


def single(shape: tuple[int, ...], text: str, runs: int) -> float:
    index = eval(f"np.s_[{text}]")
    x = jnp.zeros(shape, jnp.float32)
    dy = jnp.asarray(np.random.default_rng(0).normal(size=x[index].shape), jnp.float32)
    theirs, _ = compiled(lambda dy: jax.linear_transpose(lambda x: x[index], x)(dy)[0], dy)
    ours, _ = compiled(lambda dy: bsj.slice_grad(dy, shape, index), dy)
    a, b = best_of(runs, lambda: theirs(dy), lambda: ours(dy))
    print(f"{text:20} of {shape!s:16} {1e3 * a:8.3f} ms  {1e3 * b:8.3f} ms  {a / b:5.2f}", flush=True)
    return a / b


def weighted(steps, w) -> jax.Array:
    return sum(jnp.sum(jnp.tanh(step * w[t])) for t, step in enumerate(steps))


def many(count: int, runs: int) -> dict[str, float]:
    shape = (64, count, 1024)
    x = jnp.asarray(np.random.default_rng(0).normal(size=shape), jnp.float32)
    w = jnp.arange(1.0, count + 1)

    def loss(x, w):
        return weighted([x[:, t] for t in range(count)], w)

    def loss_of_multi_slice(x, w):
        return weighted(bsj.multi_slice(x, [(slice(None), t) for t in range(count)]), w)

    ways = {
        "JAX": jax.grad(loss),
        "fuse_slices": bsj.fuse_slices(jax.grad(loss)),
        "multi_slice": jax.grad(loss_of_multi_slice),
    }
    programs = {name: compiled(f, x, w) for name, f in ways.items()}
    [theirs] = best_of(1, lambda: programs["JAX"][0](x, w))
    found = {}
    for name in ("fuse_slices", "multi_slice"):
        [ours] = best_of(runs, lambda name=name: programs[name][0](x, w))
        found[f"{count} slices, {name}"] = theirs / ours
        found[f"{count} slices, compiling, {name}"] = programs[name][1] / programs["JAX"][1]
        print(f"{count} slices, {name}: {theirs:.3f} s, {ours:.3f} s, {theirs / ours:.1f}; "
              f"compiling {programs['JAX'][1]:.2f} s, {programs[name][1]:.2f} s", flush=True)  # fmt: skip
    return found


def steps(count: int) -> list[slice]:
    return [slice(t, t + 1) for t in range(count)]


def segments(count: int) -> list[slice]:
    """Segments of 1 to 8 steps, one after the other."""
    ends = np.cumsum(np.random.default_rng(1).integers(1, 9, count))
    return [slice(begin, end) for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]


def compiling(name: str, slices: list[slice], f: Callable) -> float:
    """A sum of cheap functions of slices, which XLA fuses into one kernel."""

    def loss(x):
        return sum(jnp.sum(f(jnp.squeeze(x[:, s], 1) if s.stop - s.start == 1 else x[:, s])) for s in slices)

    return compiling_loss(f"{len(slices)} {name}", loss, slices[-1].stop)


def recurrence(x) -> jax.Array:
    h = jnp.zeros((x.shape[0], x.shape[2]), x.dtype)
    for t in range(x.shape[1]):
        h = jnp.tanh(h + x[:, t])
    return jnp.sum(h)


def compiling_loss(name: str, loss: Callable, extent: int) -> float:
    x = jnp.zeros((64, extent, 256), jnp.float32)
    compiled(jax.grad(lambda x: jnp.sum(x[0])), x)
    theirs, ours = [], []
    for _ in range(3):
        theirs.append(compiled(jax.grad(loss), x)[1])
        ours.append(compiled(bsj.fuse_slices(jax.grad(loss)), x)[1])
    ratio = min(ours) / min(theirs)
    print(f"compiling {name}: {min(theirs):.2f} s, {min(ours):.2f} s, {ratio:.2f}", flush=True)
    return ratio


def small(runs: int) -> float:
    """Microseconds more than JAX for a slice gradient of (64, 64) inside a larger jit."""
    x = jnp.ones((64, 64), jnp.float32)

    def loss(f):
        return lambda x: jnp.sum(jnp.sin(f(jnp.cos(x) @ x)) ** 2)

    theirs, _ = compiled(jax.grad(loss(lambda x: x[1:33, ::2])), x)
    ours, _ = compiled(jax.grad(loss(lambda x: bsj.slice(x, np.s_[1:33, ::2]))), x)
    a, b = best_of(runs, lambda: theirs(x), lambda: ours(x))
    print(f"(64, 64): {1e6 * a:.1f} µs, {1e6 * b:.1f} µs", flush=True)
    return 1e6 * (b - a)


if __name__ == "__main__":
    quick = "quick" in sys.argv
    found = {f"{text} of {shape}": single(shape, text, 60 if shape == MEDIUM else 10) for shape, text in SINGLE}
    found["small slice, microseconds more"] = small(3000)
    functions = {"x ** 2": lambda y: y**2, "sin": jnp.sin, "x * 2": lambda y: 2 * y, "tanh": jnp.tanh, "exp": jnp.exp}
    for name, f in functions.items():
        for count in (8, 32, 64, 128):
            found[f"compiling {count} slices, {name}"] = compiling(f"slices, {name}", steps(count), f)
            found[f"compiling {count} segments, {name}"] = compiling(f"segments, {name}", segments(count), f)
    for count in (4, 8, 16, 32):
        found[f"compiling {count} steps of a recurrence"] = compiling_loss(f"{count} steps", recurrence, count)
    if not quick:
        found |= many(512, 3)
    print(json.dumps(found))
