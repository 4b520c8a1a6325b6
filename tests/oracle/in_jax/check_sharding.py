"""Sharded arrays, on eight devices of the CPU: each shard is computed where it lies."""

import os

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"

import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

SHAPE = (16, 8, 6)
X = np.random.default_rng(0).normal(size=SHAPE)
INDICES = [np.s_[3:11, :, ::2], np.s_[::-2, :, None, 1], np.s_[5]]
SPECS = [P("a"), P(None, "a"), P("a", "b"), P("b", "a"), P(("a", "b")), P(None, ("a", "b")), P(None, None, "b"), P()]

pytestmark = pytest.mark.usefixtures("way")


@pytest.fixture(scope="module")
def mesh():
    assert jax.device_count() == 8
    return jax.make_mesh((4, 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def compiled(f, *arguments, **shardings):
    return jax.jit(f, **shardings).lower(*arguments).compile()


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_gradients_of_sharded_arrays(mesh, way: str, spec: P) -> None:
    sharding = NamedSharding(mesh, spec)
    dys = [jnp.asarray(X[index]) for index in INDICES]
    f = compiled(
        lambda *dys: bsj.multi_slice_grad(SHAPE, list(zip(INDICES, dys, strict=True))), *dys, out_shardings=sharding
    )
    if way == "handlers":
        assert "all-gather" not in f.as_text()
    result = f(*dys)
    assert result.sharding.is_equivalent_to(sharding, 3)
    np.testing.assert_array_equal(result, bsj.multi_slice_grad(SHAPE, list(zip(INDICES, dys, strict=True))))


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_slices_of_sharded_arrays(mesh, way: str, spec: P) -> None:
    x = jax.device_put(X, NamedSharding(mesh, spec))
    f = compiled(lambda x: bsj.multi_slice(x, INDICES), x)
    if way == "handlers":
        assert "all-gather" not in f.as_text()
    for got, index in zip(f(x), INDICES, strict=True):
        np.testing.assert_array_equal(got, X[index])


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_grad_and_vmap_of_sharded_functions(mesh, spec: P) -> None:
    def loss(slices):
        return sum(jnp.sum(jnp.sin(y)) for y in slices)

    x = jax.device_put(X, NamedSharding(mesh, spec))
    f = jax.jit(jax.grad(lambda x: loss(bsj.multi_slice(x, INDICES))))
    expected = jax.grad(lambda x: loss([x[i] for i in INDICES]))
    np.testing.assert_allclose(f(x), expected(X), rtol=1e-12)
    batch = jax.device_put(np.stack([X, 2 * X]), NamedSharding(mesh, P("b", *[e if e == "a" else None for e in spec])))
    np.testing.assert_allclose(jax.jit(jax.vmap(f))(batch), jax.vmap(expected)(np.stack([X, 2 * X])), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "float32", "complex64", "float8_e5m2"])
def test_selected_elements_are_exchanged_as_they_are(mesh, dtype: str) -> None:
    values = jnp.asarray(np.where(X > 0, -0.0, X), dtype)
    x = jax.device_put(values, NamedSharding(mesh, P("a", "b")))
    got = jax.jit(lambda x: bsj.slice(x, np.s_[2:14:3, 1:7]))(x)
    assert np.asarray(got).tobytes() == np.asarray(values[2:14:3, 1:7]).tobytes()


def test_shard_map(mesh) -> None:
    spec = P("a", "b")
    f = jax.shard_map(
        jax.grad(lambda x: jnp.sum(bsj.slice(x, np.s_[1:3, ::2]) ** 2)), mesh=mesh, in_specs=spec, out_specs=spec
    )
    x = jax.device_put(X, NamedSharding(mesh, spec))
    expected = np.zeros(SHAPE)
    for block in np.ndindex(4, 2):
        rows, columns = (slice(n * k, n * (k + 1)) for n, k in zip((4, 4), block, strict=True))
        expected[rows, columns][1:3, ::2] = 2 * X[rows, columns][1:3, ::2]
    np.testing.assert_array_equal(jax.jit(f)(x), expected)
