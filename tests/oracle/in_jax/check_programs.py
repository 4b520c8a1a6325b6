"""fuse_slices inside real programs: control flow, weak types, series, Refs, jitted functions, and its status."""

import os
import subprocess
import sys
import warnings
from functools import partial

import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backslice.jax import checks, fuse, internals, lowering, primitives
from jax import lax
from jax.experimental.jet import jet

X = jnp.asarray(np.random.default_rng(0).normal(size=(16, 12)))
HAS_REFS_OF_SLICES = tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 11)


def halve(s):
    return s[0] + 1, s[1] - 0.1 * jax.grad(lambda x: jnp.interp(0.5, x[:, 1], x[:, 0]))(s[1])


def jitted(s):
    return s[0] + 1, s[1] - 0.1 * jax.grad(lambda x: jax.jit(lambda y: jnp.sum(jnp.where(y > 0, y**2, y)))(x[1]))(s[1])


def branch(f):
    return jax.grad(lambda x: lax.cond(x[0, 0] > 0, lambda x: jnp.sum(f(x[:, 1]) ** 2), lambda x: 0.0, x))


# JAX lowers the functions of these into a module that it has not attached yet.
CONTROL_FLOW = {
    "cumsum under cond": branch(jnp.cumsum),
    "sort under cond": branch(jnp.sort),
    "median under cond": branch(lambda y: jnp.median(y) * y),
    "interp under while": lambda x: lax.while_loop(lambda s: s[0] < 3, halve, (0, x))[1],
    "jit under while": lambda x: lax.while_loop(lambda s: s[0] < 3, jitted, (0, x))[1],
    "cumsum under checkpoint": jax.grad(jax.checkpoint(lambda x: jnp.sum(jnp.cumsum(jnp.sin(x[:, 1])) ** 2))),
}


@pytest.mark.parametrize("name", CONTROL_FLOW)
def test_functions_of_jax_under_control_flow(way: str, name: str) -> None:
    f = CONTROL_FLOW[name]
    x = jnp.abs(X)
    np.testing.assert_allclose(jax.jit(bsj.fuse_slices(f))(x), jax.jit(f)(x), rtol=1e-12)


WEAK = {
    "a pad of a slice": lambda c: lax.pad(c[1:3], 0.0, [(1, 1, 0)]),
    "a pad by a strong zero": lambda c: lax.pad(c[1:3], np.float64(0.0), [(1, 1, 0)]),
    "a sum": lambda c: lax.pad(c[1:3], 0.0, [(1, 1, 0)]) + lax.pad(c[:3], 0.0, [(0, 1, 0)]) + c,
    "a gradient": jax.grad(lambda c: jnp.sum(c[1:3] ** 2)),
    "a slice": lambda c: bsj.slice(c, "1:3"),
}


@pytest.mark.parametrize("is_weak", [True, False])
@pytest.mark.parametrize("name", WEAK)
def test_weak_types_stay(name: str, is_weak: bool) -> None:
    c = jax.jit(lambda: lax.broadcast(1.0, (4,)))() if is_weak else jnp.ones(4)
    f = (lambda c: c[1:3]) if name == "a slice" else WEAK[name]
    expected = jax.jit(f)(c)
    for got in (jax.jit(bsj.fuse_slices(WEAK[name]))(c), bsj.fuse_slices(WEAK[name])(c)):
        assert (got.dtype, got.weak_type) == (expected.dtype, expected.weak_type)
        np.testing.assert_array_equal(got, expected)


SERIES = {
    "slices": lambda x: jnp.sum(jnp.sin(x[1:3])) * x[0, 0],
    "bsj.slice": lambda x: jnp.sum(bsj.slice(x, "1:3") ** 3),
    "slices that are alike": lambda x: sum(jnp.sum(jnp.sin(x[:, t]) * t) for t in range(8)),
}


@pytest.mark.parametrize("name", SERIES)
def test_taylor_series(name: str) -> None:
    f = SERIES[name]
    series = ((X,), ([X + 1, X * 2, X - 1],))
    for g, transformed in ((f, bsj.fuse_slices(f)), (jax.grad(f), bsj.fuse_slices(jax.grad(f)))):
        got, expected = jet(transformed, *series), jet(g, *series)
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


# --- programs that are divided among devices

DIVIDED = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import backslice.jax as bsj, jax, jax.numpy as jnp, numpy as np
from backslice.jax import lowering
from jax.sharding import NamedSharding, PartitionSpec as P
lowering.LEAST_BYTES_OF_GRADIENTS = lowering.LEAST_BYTES_OF_SLICES = 0
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
events = []
jax.monitoring.register_event_listener(lambda event, **_: events.append(event))
mesh = jax.make_mesh((8,), ("a",), axis_types=(jax.sharding.AxisType.Auto,))
x = jax.device_put(jnp.arange(16.0 * 24).reshape(16, 24), NamedSharding(mesh, P("a")))
def loss(x):
    y, z = x * 2, x + 1
    parts = bsj.multi_slice(z, ["2", ":, 3"])
    return jnp.sum(y[:, 1:9] ** 2) + jnp.sum(y[FIRST : FIRST + 4] ** 2) + sum(jnp.sum(p) ** 2 for p in parts)
f = jax.jit(bsj.fuse_slices(jax.grad(loss)))
lowering.checks.passed()
events.clear()
result = f(x)
missed = "/jax/compilation_cache/cache_misses" in events
np.testing.assert_allclose(result, jax.grad(loss)(np.asarray(x)), rtol=1e-5)
print("shard" in f.lower(x).compile().as_text(), missed)
"""


def run_divided(folder, seed: int, first: int = 3) -> list[str]:
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(folder), "PYTHONHASHSEED": str(seed)}
    program = f"import jax\nfor _ in range({seed}): object()\n" + DIVIDED.replace("FIRST", str(first))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()[-2:]


def test_the_persistent_cache_has_programs_that_are_divided(tmp_path) -> None:
    """A process finds programs of another one, and not those of other slices."""
    assert run_divided(tmp_path, 1) == ["True", "True"]
    assert run_divided(tmp_path, 2) == ["True", "False"]
    assert run_divided(tmp_path, 3, first=4) == ["True", "True"]


# --- jitted functions


def test_a_jitted_function_is_compiled_once_and_keeps_its_options() -> None:
    traces = []

    def loss(x):
        traces.append(x)
        return jnp.sum(jnp.sin(x[1:3])) + jnp.sum(x[2:5] ** 2)

    fused = bsj.fuse_slices(jax.jit(jax.grad(loss), donate_argnums=0))
    expected = jax.grad(loss)(X)
    traces.clear()
    for _ in range(3):
        x = X + 0
        np.testing.assert_allclose(fused(x), expected, rtol=1e-12)
        assert x.is_deleted()
    assert len(traces) == 1
    assert fused.status().slices == 2 and fused.status().passes == 1
    jaxpr = jax.make_jaxpr(fused)(X)
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["jit"]
    assert jaxpr.eqns[0].params["donated_invars"] == (True,)


def test_compiler_options_belong_outside() -> None:
    f = jax.jit(jax.grad(lambda x: jnp.sum(x[1:3] ** 2)), compiler_options={"xla_cpu_enable_fast_math": False})
    with pytest.raises(ValueError, match="compiler_options") as caught:
        bsj.fuse_slices(f)(X)
    assert "jax.jit(fuse_slices(f), ...)" in str(caught.value.__notes__)


def test_loops_are_compiled_once_where_nothing_is_jitted() -> None:
    def pads(x):
        return lax.scan(lambda c, k: (c + lax.pad(k * x[1:4], 0.0, [(1, 12, 0), (0, 0, 0)]), None), x, jnp.arange(3.0))[
            0
        ]

    closed = jax.make_jaxpr(pads)(X)
    [scan] = [eqn for eqn in closed.eqns if eqn.primitive.name == "scan"]
    assert fuse.fused_body(scan.params["jaxpr"]) is fuse.fused_body(scan.params["jaxpr"])
    np.testing.assert_array_equal(bsj.fuse_slices(pads)(X), pads(X))


def test_values_are_freed_after_their_last_use(monkeypatch: pytest.MonkeyPatch) -> None:
    alive = []

    def counting(*arguments):
        alive.append(len(jax.live_arrays()))
        return bind(*arguments)

    def chain(x):
        for _ in range(12):
            x = jnp.sin(x)
        return x

    bind, before = fuse.bind, len(jax.live_arrays())
    monkeypatch.setattr(fuse, "bind", counting)
    bsj.fuse_slices(chain)(X)
    assert len(alive) == 12 and max(alive) <= before + 2


# --- Refs


def losses():
    def direct(x):
        return sum(jnp.sum(jnp.sin(x[:, t]) * t) for t in range(12))

    def multi(x):
        return sum(
            jnp.sum(jnp.sin(y) * t) for t, y in enumerate(bsj.multi_slice(x, [(slice(None), t) for t in range(12)]))
        )

    return {"multi_slice": multi} | ({"x[:, t]": direct} if HAS_REFS_OF_SLICES else {})


def into(loss, x, ref):
    value, vjp = jax.vjp(loss, x)
    vjp.with_refs(ref)(1.0)
    return value


@pytest.mark.parametrize("name", losses())
def test_gradients_are_added_to_a_ref(way: str, name: str) -> None:
    loss = losses()[name]

    def inside(x):
        ref = jax.new_ref(jnp.ones_like(x))
        into(loss, x, ref)
        return ref[...]

    expected = jax.grad(loss)(X)
    for f in (inside, bsj.fuse_slices(inside), jax.jit(inside), jax.jit(bsj.fuse_slices(inside))):
        np.testing.assert_allclose(f(X), 1 + expected, rtol=1e-12)
    for f in (bsj.fuse_slices(partial(into, loss)), jax.jit(bsj.fuse_slices(partial(into, loss)))):
        ref = jax.new_ref(jnp.zeros_like(X))
        np.testing.assert_allclose(f(X, ref), loss(X), rtol=1e-12)
        np.testing.assert_allclose(ref[...], expected, rtol=1e-12)


def test_multi_slice_adds_in_the_memory_of_a_ref(way: str) -> None:
    def f(x, total):
        ref = jax.new_ref(total)
        into(losses()["multi_slice"], x, ref)
        return ref[...]

    text = jax.jit(f, donate_argnums=1).lower(X, X).compile().as_text()
    assert ("backslice_multi_slice_add" in text) == (way == "handlers")
    assert "copy(" not in text or way == "native"


# --- what it tells


def test_a_wrapper_that_does_nothing_warns_once() -> None:
    def loss(x):
        return jnp.sum(x[1:3] ** 2)

    fused = bsj.fuse_slices(loss)
    with pytest.warns(UserWarning, match=r"jax\.jit\(fuse_slices\(jax\.grad\(f\)\)\)"):
        jax.jit(jax.grad(fused))(X)
    with pytest.warns(UserWarning, match="no gradient of a static slice in"):
        bsj.fuse_slices(lambda x: x + 1)(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jax.jit(jax.grad(fused))(X)
        bsj.fuse_slices(jax.grad(loss))(X)


def test_status_counts_slices_passes_and_reasons() -> None:
    def loss(x):
        return jnp.sum(x[1:3] ** 2) + jnp.sum(x[:, 2] ** 3) + x[jnp.argmax(x[0]), 0]

    fused = bsj.fuse_slices(jax.grad(loss))
    assert (fused.status().slices, fused.status().passes) == (0, 0)
    jax.jit(fused)(X)
    status = fused.status()
    assert (status.slices, status.passes) == (2, 1)
    assert "gradients of traced indices" in status.left
    assert "2 gradients of slices in 1 passes" in str(status)


def test_status_counts_what_was_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    before = bsj.status()
    jax.jit(lambda dy: bsj.slice_grad(dy, (4, 3), "1:3"))(jnp.ones((2, 3)))
    assert bsj.status().left.get(lowering.SMALL, 0) == before.left.get(lowering.SMALL, 0) + 1
    monkeypatch.setattr(lowering, "LEAST_BYTES_OF_GRADIENTS", 0)
    monkeypatch.setattr(lowering, "BYTES_OF_ONE_SLICE_OF_ROWS", 0)
    jax.jit(lambda dy: bsj.slice_grad(dy, (4, 5), "1:3"))(jnp.ones((2, 5)))
    after = bsj.status()
    assert (after.slices, after.passes) == (before.slices + 1, before.passes + 1)
    assert after.self_tests == {"slices": "passed", "gradient": "passed", "addition": "passed"}


# --- fallbacks


FAILING = """
import warnings
import backslice.jax as bsj, jax, jax.numpy as jnp, numpy as np
from backslice.jax import checks, lowering
lowering.LEAST_BYTES_OF_GRADIENTS = 0
jax.config.update("jax_platforms", "cpu")
checks.DX[0] = 7
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    f = jax.jit(lambda dys: bsj.multi_slice_grad((4,), [("1:3", dys), ("0:2", dys)]))
    assert f(jnp.ones(2)).tolist() == [1, 2, 1, 0]
    assert "backslice_multi" not in f.lower(jnp.ones(2)).as_text()
assert "JAX's own operations are used" in str(warned[0].message), warned
assert bsj.status().self_tests["gradient"].startswith("failed")
assert bsj.status().left == {"a self-test failed": 2}
"""


def test_a_self_test_that_fails_leaves_all_to_jax() -> None:
    done = subprocess.run([sys.executable, "-c", FAILING], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_self_tests_run_where_a_program_is_traced() -> None:
    checks.passed.cache_clear()
    f = jax.jit(jax.vmap(lambda x: jnp.sum(jax.jit(lambda x: bsj.slice(x, "1:3"))(x))))
    assert f(X[:, :4]).shape == (16,)
    assert checks.passed()


def test_without_private_names_jax_does_more_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internals, "find", lambda module, name: None)
    primitives.prepare.cache_clear()
    gradient = jax.grad(lambda x: jnp.sum(x[1:3] ** 2) + jnp.sum(bsj.slice(x, ":, 2") ** 3))
    np.testing.assert_allclose(jax.jit(bsj.fuse_slices(gradient))(X), gradient(X), rtol=1e-12)
    assert internals.primitives_that_need_devices() is None and internals.callbacks_of_partitioning() is None
    assert internals.rules_for_refs() == {}
