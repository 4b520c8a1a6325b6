"""How fast gradients of slices are on a CUDA device beside JAX's own, inside jit: prints tables, then JSON.

`python speed_cuda.py [many] [single] [few] [small]`; all of them without arguments. Shares are of a copy within the
device's memory in the same run: bytes of dx written and of dy read, over the time.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial

import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
from backslice.jax import on_cuda

LARGE, STEPS, IMAGES = (16384, 16384), (4096, 128, 512), (256, 64, 112, 112)
SINGLE = [
    (LARGE, "4096:12288"), (LARGE, ":, 4096:12288"), (LARGE, ":, 4097:12288"), (LARGE, "::2"), (LARGE, ":, ::2"),
    (LARGE, ":, ::3"), (LARGE, ":, ::-1"), (LARGE, "100:16000, 64:16000"), (STEPS, ":, 7"), (STEPS, ":, 7:40"),
    (STEPS, "..., :256"), (IMAGES, ":, :, 8:104, 8:104"),
]  # fmt: skip
CHOICES = {name: getattr(on_cuda, name) for name in ("gradient_pays", "addition_pays", "slices_pay")}


def choose(called: bool | None) -> None:
    """Return whether gradients are calls of ours; None for what users get."""
    for name, original in CHOICES.items():
        setattr(on_cuda, name, original if called is None else lambda *_: called)
    on_cuda.slices_pay = CHOICES["slices_pay"]
    jax.clear_caches()


def compiled(f: Callable, *arguments: jax.Array) -> tuple[Callable, float, bool]:
    start = time.perf_counter()
    lowered = jax.jit(f).lower(*arguments)
    program = lowered.compile()
    return program, time.perf_counter() - start, "backslice_multi_slice_" in lowered.as_text()


def seconds(f: Callable, *arguments: jax.Array, calls: int = 20, rounds: int = 5) -> float:
    """Per call, of calls that are queued one after the other: the best round."""
    jax.block_until_ready(f(*arguments))
    jax.block_until_ready(f(*arguments))
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            result = f(*arguments)
        jax.block_until_ready(result)
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def copy_speed() -> float:
    x = jnp.zeros(1 << 28, jnp.float32)
    return 2 * x.nbytes / seconds(jax.jit(jnp.copy), x)


def ways(f: Callable, plain: Callable, *arguments: jax.Array) -> dict[str, tuple[float, float, bool]]:
    """Seconds, seconds of compiling and whether it is a call: JAX, the handler, and what users get."""
    found = {}
    for name, g, called in (("JAX", plain, None), ("handler", f, True), ("chosen", f, None)):
        choose(called)
        program, compiling, is_call = compiled(g, *arguments)
        found[name] = (seconds(program, *arguments), compiling, is_call)
    return found


def random(shape: tuple[int, ...], dtype=jnp.float32) -> jax.Array:
    return jax.random.normal(jax.random.key(0), shape, jnp.float32).astype(dtype)


def single(copy: float, dtype) -> dict[str, float]:
    found = {}
    print(f"\none slice, {jnp.dtype(dtype).name}: TB/s and share of a copy ({copy / 1e12:.2f} TB/s)")
    for shape, text in SINGLE:
        index = eval(f"np.s_[{text}]")
        x = jax.ShapeDtypeStruct(shape, dtype)
        dy = random(jax.eval_shape(lambda x, i=index: x[i], x).shape, dtype)
        size = (int(np.prod(shape)) + dy.size) * dy.itemsize
        kinds = {"dy given": lambda dy: dy} | (
            {"dy computed": lambda dy: jnp.sin(dy) * 2} if dtype == jnp.float32 else {}
        )
        for kind, made in kinds.items():
            times = ways(
                lambda dy, m=made, i=index, s=shape: bsj.slice_grad(m(dy), s, i),
                lambda dy, m=made, i=index, x=x: jax.linear_transpose(lambda x: x[i], x)(m(dy))[0],
                dy,
            )
            line = "  ".join(
                f"{name} {size / t / 1e12:5.2f} {size / t / copy:5.2f}" for name, (t, _, _) in times.items()
            )
            print(f"{text:22} {shape!s:22} {kind:12} {line}  {'call' if times['chosen'][2] else 'XLA'}", flush=True)
            found[f"{text} of {shape}, {dtype.__name__}, {kind}"] = times["JAX"][0] / times["chosen"][0]
        del dy
    return found


def few(copy: float) -> dict[str, float]:
    """Print the number of slices from which on a call is faster."""
    found = {}
    shape = (256, 512, 1024)
    x = random(shape)
    print(f"\nsome slices of {shape}, float32: ms")
    patterns = {
        "x[:, t]": lambda t: np.s_[:, t],
        "x[:, t:t+8]": lambda t: np.s_[:, t : t + 8],
        "x[t:t+32]": lambda t: np.s_[t : t + 32],
        "x[..., t:t+512]": lambda t: np.s_[..., t : t + 512],
    }
    for pattern, index_of in patterns.items():
        for count in (2, 4, 8, 16, 32):
            indices = [index_of(t) for t in range(count)]
            for kind in ("given", "computed"):

                def dys_of(x, dys, kind=kind, indices=indices):
                    return dys if kind == "given" else [jnp.sin(x[i]) * t for t, i in enumerate(indices)]

                dys = [x[i] + 1 for i in indices] if kind == "given" else []
                if sum(dy.nbytes for dy in dys) > 20e9:
                    continue
                times = ways(
                    lambda x, dys, i=indices: bsj.multi_slice_grad(shape, list(zip(i, dys_of(x, dys), strict=True))),
                    lambda x, dys, i=indices: jax.linear_transpose(lambda x: [x[j] for j in i], x)(dys_of(x, dys))[0],
                    x, dys,
                )  # fmt: skip
                line = "  ".join(f"{name} {1e3 * t:7.3f}" for name, (t, _, _) in times.items())
                print(
                    f"{count:4} {pattern:16} dy's {kind:9} {line}  {'call' if times['chosen'][2] else 'XLA'}",
                    flush=True,
                )
                found[f"{count} {pattern}, {kind}"] = times["JAX"][0] / times["chosen"][0]
                del dys
    return found


def many(copy: float) -> dict[str, float]:
    shape, count = (256, 512, 1024), 512
    x, w = random(shape), jnp.arange(1.0, count + 1, dtype=jnp.float32)
    indices = [np.s_[:, t] for t in range(count)]

    def weighted(steps, w):
        return sum(jnp.sum(jnp.tanh(step * w[t])) for t, step in enumerate(steps))

    def loss(x, w):
        return weighted([x[i] for i in indices], w)

    def given(x, dys):
        return jax.linear_transpose(lambda x: [x[i] for i in indices], x)(dys)[0]

    dys = [x[i] + 1 for i in indices]
    programs = {
        "dy's given: JAX": (given, x, dys),
        "dy's given: multi_slice_grad": (
            lambda x, dys: bsj.multi_slice_grad(shape, list(zip(indices, dys, strict=True))), x, dys
        ),
        "dy's given: fuse_slices": (bsj.fuse_slices(given), x, dys),
        "tanh of each: JAX": (jax.grad(loss), x, w),
        "tanh of each: fuse_slices": (bsj.fuse_slices(jax.grad(loss)), x, w),
        "tanh of each: multi_slice": (jax.grad(lambda x, w: weighted(bsj.multi_slice(x, indices), w)), x, w),
    }  # fmt: skip
    found: dict[str, float] = {}
    print(f"\n{count} slices x[:, t] of {shape}, float32; a copy of as many bytes: {1e3 * 2 * x.nbytes / copy:.3f} ms")
    for name, (f, *arguments) in programs.items():
        choose(None)
        program, compiling, is_call = compiled(f, *arguments)
        run = seconds(program, *arguments, calls=10)
        found[name] = run
        print(f"{name:30} {1e3 * run:8.3f} ms  share {2 * x.nbytes / run / copy:5.2f}  compiling {compiling:5.1f} s  "
              f"{'call' if is_call else 'XLA'}", flush=True)  # fmt: skip
    return found


def small(copy: float) -> dict[str, float]:
    x = random((64, 64))
    print("\n(64, 64): µs per call")
    times = ways(
        lambda x: bsj.slice_grad(jnp.sin(x[1:33]), x.shape, "1:33"),
        lambda x: jax.linear_transpose(lambda x: x[1:33], x)(jnp.sin(x[1:33]))[0],
        x,
    )
    print("  ".join(f"{name} {1e6 * t:6.1f}" for name, (t, _, _) in times.items()), flush=True)
    return {"small": times["JAX"][0] / times["chosen"][0]}


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["many", "single", "few", "small"]
    copy = copy_speed()
    found: dict[str, float] = {"copy": copy}
    tables = {
        "many": [many],
        "single": [partial(single, dtype=dtype) for dtype in (jnp.float32, jnp.bfloat16, jnp.uint8)],
        "few": [few],
        "small": [small],
    }
    for name, made in tables.items():
        for table in made if name in wanted else ():
            found |= table(copy)
    print(json.dumps(found))
