"""Slices and their gradients on a CUDA device, against plain indexing there, and bit for bit against the CPU."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import backslice as bs
import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backslice.jax import library

SHAPE = (6, 5, 4)
INDICES = [
    np.s_[:], np.s_[2], np.s_[-1, :, 2], np.s_[..., 1:3], np.s_[1:5:2, ::-1], np.s_[5:0:-2, None, 3, ::3], np.s_[2:2],
    np.s_[:, 4:1, None, ...], np.s_[1, 2, 3], np.s_[::-1, ::-1, ::-1],
]  # fmt: skip
DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
    "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
]  # fmt: skip
# JAX's own operations are the same for every dtype.
WAYS_AND_DTYPES = [("handlers", dtype) for dtype in DTYPES] + [("native", dtype) for dtype in ("bool", "bfloat16")]
PACKED = ("int4", "uint4", "int2", "uint2", "float4_e2m1fn")


def values(shape: tuple[int, ...], dtype: str = "float32", seed: int = 0) -> np.ndarray:
    """Small numbers of either sign, whose sums are rounded in the types of few bits."""
    drawn = np.random.default_rng(seed).integers(0, 64, shape) / 8 - 2
    if dtype == "bool" or dtype.startswith(("int", "uint")):
        drawn = np.abs(np.floor(drawn)) % 2
    return np.asarray(drawn).astype(jnp.dtype(dtype))


def same(got: jax.Array, expected: np.ndarray | jax.Array) -> None:
    assert {device.platform for device in got.devices()} == {"gpu"}
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert np.asarray(got).tobytes() == np.asarray(expected).tobytes()


def close(got, expected) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12), got, expected)


def on_cpu(shape: tuple[int, ...], slices) -> np.ndarray:
    return bs.multi_slice_grad(shape, [(index, np.asarray(dy)) for index, dy in slices])


def calls(f, *arguments) -> list[str]:
    return re.findall(r"custom_call @(backslice\w+)", jax.jit(f).lower(*arguments).as_text())


def test_the_handlers_are_used() -> None:
    assert "cuda" in library.PLATFORMS and library.runs_on_cuda()
    x = jax.ShapeDtypeStruct((4096, 4096), jnp.float32)
    assert calls(lambda dy: bsj.slice_grad(dy, (16384, 4096), "1024:5120"), x) == ["backslice_multi_slice_grad"]


# --- values


@pytest.mark.parametrize(("way", "dtype"), WAYS_AND_DTYPES, indirect=["way"])
def test_gradients_equal_the_cpus_bit_for_bit(way: str, dtype: str) -> None:
    dys = [values(np.empty(SHAPE)[index].shape, dtype, seed) for seed, index in enumerate(INDICES)]
    got = jax.jit(lambda dys: [bsj.slice_grad(dy, SHAPE, i) for i, dy in zip(INDICES, dys, strict=True)])(dys)
    for index, dy, dx in zip(INDICES, dys, got, strict=True):
        same(dx, on_cpu(SHAPE, [(index, dy)]))
    jax.clear_caches()
    found = calls(lambda dy: bsj.slice_grad(dy, SHAPE, INDICES[1]), dys[1])
    assert found == (["backslice_multi_slice_grad"] if way == "handlers" else [])


@pytest.mark.parametrize(("way", "dtype"), WAYS_AND_DTYPES, indirect=["way"])
def test_slices_equal_those_of_indexing(way: str, dtype: str) -> None:
    x = values(SHAPE, dtype)
    for taken, index in zip(jax.jit(lambda x: bsj.multi_slice(x, INDICES))(x), INDICES, strict=True):
        same(taken, np.asarray(x[index]))


@pytest.mark.parametrize("way", ["handlers"], indirect=True)
@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_sums_of_overlapping_slices_equal_the_cpus_bit_for_bit(way: str, dtype: str) -> None:
    rng = np.random.default_rng(3)
    shape = (7, 40, 33)
    indices = [np.s_[a : a + 4, b : b + 30 : s, c:] for a, b, s, c in rng.integers(1, 4, (50, 4))]
    dys = [values(np.empty(shape)[index].shape, dtype, seed) for seed, index in enumerate(indices)]
    slices = list(zip(indices, dys, strict=True))
    same(
        jax.jit(lambda dys: bsj.multi_slice_grad(shape, list(zip(indices, dys, strict=True))))(dys),
        on_cpu(shape, slices),
    )
    total = values(shape, dtype, 99)
    expected = total.copy()
    bs.multi_slice_grad(shape, slices, out=expected, accumulate=True)
    same(added(total, dys, indices), expected)


def added(total, dys, indices):
    """Add by the primitive that adds in place, as fuse_slices binds it."""
    from backslice.jax.primitives import bind_gradient
    from backslice.jax.selections import Slices, selection_of

    slices = Slices(tuple(selection_of(index, total.shape) for index in indices))
    run = jax.jit(lambda total, dys: bind_gradient([total, *dys], slices))
    assert "backslice_multi_slice_add" in run.lower(total, dys).as_text()
    return run(total, dys)


def test_sums_equal_those_of_indexing(way: str) -> None:
    dys = [values(np.empty(SHAPE)[index].shape, "float64", seed) for seed, index in enumerate(INDICES)]
    x = jax.ShapeDtypeStruct(SHAPE, jnp.float64)
    [expected] = jax.jit(lambda dys: jax.linear_transpose(lambda x: [x[i] for i in INDICES], x)(dys))(dys)
    close(bsj.multi_slice_grad(SHAPE, list(zip(INDICES, dys, strict=True))), expected)


def test_booleans_are_joined_by_or(way: str) -> None:
    ones = jnp.ones(2, bool)
    assert bsj.multi_slice_grad((4,), [("0:2", ones), ("1:3", ones)]).tolist() == [True, True, True, False]


def test_minus_zero_stays_minus_zero(way: str) -> None:
    assert np.signbit(bsj.slice_grad(jnp.full(2, -0.0), (4,), "1:3")).tolist() == [False, True, True, False]


def test_arrays_without_elements(way: str) -> None:
    for shape, index in (((0, 3), np.s_[1:]), ((4, 0), np.s_[1:3]), ((4, 3), np.s_[2:2])):
        dy = np.empty(np.empty(shape)[index].shape, np.float32)
        same(bsj.slice_grad(dy, shape, index), np.zeros(shape, np.float32))
        same(bsj.multi_slice_grad(shape, [(index, dy)] * 9), np.zeros(shape, np.float32))
        same(bsj.slice(np.zeros(shape, np.float32), index), dy)


def test_views_and_constants_of_a_program(way: str) -> None:
    """Arguments that XLA hands over at other addresses than it allocated itself."""
    constant = values((3, 5), "float32", 5)

    def f(x):
        return bsj.multi_slice_grad((9, 5), [("1:4", constant), ("2:5", x[1:4]), ("5:", x[:4] * 2)])

    x = values((6, 5))
    same(jax.jit(f)(x), on_cpu((9, 5), [(np.s_[1:4], constant), (np.s_[2:5], x[1:4]), (np.s_[5:], x[:4] * 2)]))


# --- types that XLA packs: its own operations, with which it may abort the process


def outcomes(way: str) -> dict[str, str]:
    """Return for each dtype "right", "wrong" or the end of its process; one process after the other."""
    found: dict[str, str] = {}
    memory = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    while remaining := [dtype for dtype in PACKED if dtype not in found]:
        program = [sys.executable, str(Path(__file__).with_name("packed_program.py")), way, *remaining]
        done = subprocess.run(program, capture_output=True, text=True, timeout=120, env=os.environ | memory)
        lines = [line.split() for line in done.stdout.splitlines() if line.startswith(("right ", "wrong "))]
        found |= {dtype: outcome for outcome, dtype in lines}
        if len(lines) < len(remaining):
            found[remaining[len(lines)]] = f"ended with {done.returncode}: {done.stderr.strip()[-300:]}"
    return found


def test_packed_types_are_as_right_as_jaxs() -> None:
    ours, plain = outcomes("ours"), outcomes("plain")
    print("\n".join(f"{dtype}: JAX {plain[dtype]!r}, backslice.jax {ours[dtype]!r}" for dtype in PACKED))
    assert [dtype for dtype in PACKED if ours[dtype] != "right" and plain[dtype] == "right"] == []
    assert [dtype for dtype in PACKED if ours[dtype] == "wrong"] == []


# --- transformations


def loss(slices):
    return sum((k + 1.0) * jnp.sum(y**3) for k, y in enumerate(slices))


def ours(x):
    return loss(bsj.multi_slice(x, INDICES))


def plain(x):
    return loss([x[index] for index in INDICES])


TRANSFORMS = {
    "nothing": lambda f: f,
    "grad": jax.grad,
    "grad of grad": lambda f: jax.grad(lambda x: jnp.sum(jax.grad(f)(x) ** 2)),
    "hessian": jax.hessian,
    "vjp": lambda f: lambda x: jax.vjp(f, x)[1](2.0),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (x * 2,)),
    "jvp of grad": lambda f: lambda x: jax.jvp(jax.grad(f), (x,), (x + 1,)),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(f)),
    "vmap of grad": lambda f: lambda x: jax.vmap(jax.grad(f))(jnp.stack([x, 2 * x])),
    "scan": lambda f: jax.grad(lambda x: jax.lax.scan(lambda c, k: (c + f(x * k), None), 0.0, jnp.arange(3.0))[0]),
    "scan over x": lambda f: jax.grad(
        lambda x: jax.lax.scan(lambda c, k: (c * 0.9, f(c) * k), x, jnp.arange(3.0))[1].sum()
    ),
    "cond": lambda f: jax.grad(lambda x: jax.lax.cond(x[0, 0, 0] > 0, f, lambda x: f(2 * x), x)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transformations_equal_those_of_indexing(way: str, name: str) -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(size=SHAPE))
    close(jax.jit(TRANSFORMS[name](ours))(x), jax.jit(TRANSFORMS[name](plain))(x))


FUSED = {
    "steps": lambda x: sum((t + 1) * jnp.sum(jnp.sin(x[:, t])) for t in range(5)),
    "steps that depend on one another": lambda x: jnp.sum(
        jax.lax.fori_loop(0, 1, lambda _, h: h, jnp.tanh(x[:, 0] + jnp.tanh(x[:, 1] + jnp.tanh(x[:, 2]))))
    ),
    "windows": lambda x: sum(jnp.sum(x[t : t + 3] ** 2) for t in range(4)),
    "slices of slices": lambda x: sum(jnp.sum(x[1:, t][::2] ** 3) for t in range(4)),
    "the body of a scan": lambda x: jax.lax.scan(
        lambda c, k: (c + k * jnp.sum(jnp.sin(x[:, 3])) * jnp.sum(x[2]), None), 0.0, jnp.arange(4.0)
    )[0],
}


@pytest.mark.parametrize("name", FUSED)
def test_fuse_slices_equals_the_original(way: str, name: str) -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(size=SHAPE))
    close(jax.jit(bsj.fuse_slices(jax.grad(FUSED[name])))(x), jax.jit(jax.grad(FUSED[name]))(x))
    close(bsj.fuse_slices(jax.grad(FUSED[name]))(x), jax.grad(FUSED[name])(x))


@pytest.mark.parametrize("way", ["handlers", "chosen"], indirect=True)
def test_512_steps_in_one_call(way: str) -> None:
    def loss(x, w):
        return sum(jnp.sum(jnp.tanh(x[:, t] * w[t])) for t in range(512))

    rng = np.random.default_rng(0)
    x, w = (jnp.asarray(rng.normal(size=s), jnp.float32) for s in ((32, 512, 256), (512,)))
    fused = bsj.fuse_slices(jax.grad(loss))
    assert calls(fused, x, w) == ["backslice_multi_slice_grad"]
    np.testing.assert_allclose(jax.jit(fused)(x, w), (1 - jnp.tanh(x * w[:, None]) ** 2) * w[:, None], atol=1e-5)


# --- graphs, threads, memory


def test_programs_are_right_each_time_they_run(way: str) -> None:
    """XLA puts such a program into a CUDA graph when it has run once, and its buffers come and go."""

    def f(x):
        for k in range(4):
            x = bsj.multi_slice_grad(x.shape, [(np.s_[t:], jnp.sin(x[t:]) * (k + t)) for t in range(8)]) + x[::-1]
        return x

    run, kept = jax.jit(f), []
    for seed in range(8):
        x = values((64, 130), "float64", seed)
        canary = jnp.full((seed + 1, 4096), seed, jnp.float32) + 0  # in memory that was just given back
        got = run(x)
        kept.append((got, np.asarray(got).copy(), canary, seed))
        with jax.default_device(jax.devices("cpu")[0]):
            expected = jax.jit(f)(x)
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)  # sines of both processors differ
    for got, copy, canary, seed in kept:
        np.testing.assert_array_equal(got, copy)
        assert bool(jnp.all(canary == seed))


def test_a_sum_is_added_to_in_place_in_a_loop(way: str) -> None:
    def loss(x):
        return jax.lax.fori_loop(0, 50, lambda k, c: c + k * jnp.sum(jnp.sin(x[:, 3])), 0.0)

    def scanned(x):
        return jax.lax.scan(lambda c, k: (c + k * jnp.sum(jnp.sin(x[:, 3])), None), 0.0, jnp.arange(50.0))[0]

    x = jnp.asarray(np.random.default_rng(0).normal(size=(16, 8, 32)))
    got = jax.jit(bsj.fuse_slices(jax.grad(scanned)))(x)
    close(got, jnp.zeros_like(x).at[:, 3].set(jnp.cos(x[:, 3]) * sum(range(50))))
    close(jax.jit(bsj.fuse_slices(jax.jit(loss)))(x), loss(x))


def test_threads_run_programs_at_once(way: str) -> None:
    indices = [np.s_[t : t + 9] for t in range(20)]
    run = jax.jit(lambda x: bsj.multi_slice_grad(x.shape, [(i, x[i] * 2) for i in indices]))
    xs = [values((64, 33), "float32", seed) for seed in range(4)]
    expected = [on_cpu((64, 33), [(i, x[i] * 2) for i in indices]) for x in xs]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(30):
            if np.asarray(run(xs[number])).tobytes() != expected[number].tobytes():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("way", ["handlers"], indirect=True)
def test_results_of_more_than_2_to_the_31_elements(way: str) -> None:
    length = (1 << 31) + 4097
    dy = jax.jit(lambda: jax.lax.iota(jnp.uint32, length - 3).astype(jnp.uint8))()
    dx = jax.jit(lambda dy: bsj.slice_grad(dy, (length,), "2:-1"))(dy)
    assert bool(jnp.all(dx[2:-1] == dy)) and dx[:2].tolist() == [0, 0] and int(dx[-1]) == 0
    del dx
    parts = [np.s_[: length - 5], np.s_[length - 4 :], np.s_[7:9]]
    dx = jax.jit(lambda dy: bsj.multi_slice_grad((length,), [(i, dy[: len(range(length)[i])]) for i in parts]))(dy)
    assert bool(jnp.all(dx[9 : length - 5] == dy[9 : length - 5])) and dx[length - 5 :].tolist() == [0, 0, 1, 2, 3]
    assert dx[7:9].tolist() == [7, 9]


# --- sparse and ragged tensors


ENTRIES = np.argwhere(np.random.default_rng(0).random((50, 60)) < 0.6)
START, SIZE = np.array([10, 20]), np.array([30, 30])
INSIDE = np.all((ENTRIES >= START) & (ENTRIES < START + SIZE), axis=1)
TAKEN = ENTRIES[INSIDE] - START
GRAD = np.random.default_rng(1).normal(size=(len(TAKEN), 2))


@pytest.mark.parametrize("order", ["in_order", "any"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_sparse_gradients_equal_the_cpus(dtype: str, order: str) -> None:
    arguments = [np.asarray(a, dtype) for a in (ENTRIES, START, TAKEN)]
    run = jax.jit(lambda grad, *indices: bsj.sparse_slice_grad(grad, *indices, order=order))
    same(run(GRAD, *arguments), bs.sparse_slice_grad(GRAD, ENTRIES, START, TAKEN))
    shuffled = np.random.default_rng(2).permutation(len(TAKEN))
    if order == "any":
        got = run(GRAD[shuffled], arguments[0], arguments[1], arguments[2][shuffled])
        same(got, bs.sparse_slice_grad(GRAD, ENTRIES, START, TAKEN))


def test_sparse_derivatives_and_batches() -> None:
    def gradient(grad):
        return bsj.sparse_slice_grad(grad, ENTRIES, START, TAKEN)

    ct = np.arange(2.0 * len(ENTRIES)).reshape(-1, 2)
    [back] = jax.vjp(gradient, jnp.asarray(GRAD))[1](jnp.asarray(ct))
    np.testing.assert_array_equal(back, ct[INSIDE])
    batch = jnp.stack([jnp.asarray(GRAD) * k for k in range(3)])
    np.testing.assert_array_equal(jax.vmap(gradient)(batch), jnp.stack([gradient(g) for g in batch]))
    each = jax.vmap(lambda grad, start: bsj.sparse_slice_grad(grad, ENTRIES, start, TAKEN))(
        batch, jnp.stack([START] * 3)
    )
    np.testing.assert_array_equal(each, jax.vmap(gradient)(batch))


def test_sparse_gradients_of_nothing() -> None:
    nothing = np.zeros((0, 2), int)
    assert bsj.sparse_slice_grad(np.zeros((0, 3)), nothing, [0, 0], nothing).shape == (0, 3)
    assert bsj.sparse_slice_grad(np.zeros(0), ENTRIES, [0, 0], nothing).tolist() == [0] * len(ENTRIES)
    assert bsj.sparse_slice_grad(np.zeros((len(TAKEN), 0)), ENTRIES, START, TAKEN).shape == (len(ENTRIES), 0)


@pytest.mark.parametrize("order", ["in_order", "any"])
def test_sparse_entries_that_match_nothing_are_an_error(order: str) -> None:
    with pytest.raises(
        jax.errors.JaxRuntimeError, match="backslice: Elements of backprop_val_grad aren't all propagated"
    ):
        bsj.sparse_slice_grad(jnp.ones(1), [[0, 0]], [0, 0], [[3, 3]], order=order).block_until_ready()
    test_sparse_gradients_equal_the_cpus("int64", order)  # the device is as it was


def test_ragged_gradients(way: str) -> None:
    pieces = [values((length, 3), "bfloat16", length) for length in range(40)]
    splits = np.cumsum([0, *range(40)])
    given = [None if row % 7 == 3 else piece for row, piece in enumerate(pieces)]
    expected = np.concatenate([np.zeros_like(p) if given[row] is None else p for row, p in enumerate(pieces)])
    got = jax.jit(lambda given: bsj.ragged_gradient(given, splits.tolist(), (int(splits[-1]), 3)))(given)
    same(got, expected)


# --- errors


def refused(text: str, call) -> None:
    with pytest.raises(jax.errors.JaxRuntimeError, match=text):
        jax.block_until_ready(call())
    same(bsj.slice_grad(jnp.ones(2), (4,), "1:3"), np.array([0.0, 1, 1, 0]))  # the device is as it was


def raw(slices, results, *arrays, parts=(1,), name="grad"):
    numbers = np.array(slices, np.int64)
    call = jax.ffi.ffi_call(f"backslice_multi_slice_{name}", results)
    return call(*arrays, slices=numbers, parts=np.array(parts, np.int64))


def test_what_cannot_be_is_an_error_of_the_program() -> None:
    dx, dy = jax.ShapeDtypeStruct((4,), jnp.float32), jnp.ones(2, jnp.float32)
    band = [1, 1, 4, 1, 1, 2, 1, 0]
    two = [2, 1, 4, *band[3:], *band[3:]]
    assert raw(band, [dx], dy)[0].tolist() == [0, 1, 1, 0]
    refused("`slices` is malformed", lambda: raw([9], [dx], dy))
    refused("`parts` is malformed: it has more numbers", lambda: raw(band, [dx], dy, parts=(1, 0)))
    refused("is not the dy's", lambda: raw(band, [dx], jnp.ones(3, jnp.float32)))
    refused("dtype", lambda: raw(band, [dx], jnp.ones(2, jnp.int8)))
    refused("shape", lambda: raw([1, 1, 5, 1, 1, 2, 1, 0], [dx], dy))
    refused("needs .* bytes of memory for itself, but has 0", lambda: raw(two, [dx], dy, dy, parts=(1, 1)))
    small = jax.ShapeDtypeStruct((64,), jnp.uint8)
    refused("needs .* bytes of memory for itself", lambda: raw(two, [dx, small], dy, dy, parts=(1, 1)))


@pytest.mark.parametrize("way", ["handlers"], indirect=True)
def test_types_without_zero_are_refused(way: str) -> None:
    dy = jnp.ones(2, jnp.float8_e8m0fnu)
    with pytest.raises(TypeError, match="has no zero"):
        bsj.slice_grad(dy, (4,), "1:3")
    assert np.asarray(bsj.slice_grad(dy, (2,), ":")).tobytes() == np.asarray(dy).tobytes()
