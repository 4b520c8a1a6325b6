"""Sharded arrays, on eight devices of the CPU: each shard is computed on its own device."""

import os
import re

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"

import backslice as bs
import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backslice.jax import internals, sharding
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

SHAPE = (16, 8, 6)
X = np.random.default_rng(0).normal(size=SHAPE)
INDICES = [np.s_[3:11, :, ::2], np.s_[::-2, :, None, 1], np.s_[5]]
SPECS = [P("a"), P(None, "a"), P("a", "b"), P("b", "a"), P(("a", "b")), P(None, ("a", "b")), P(None, None, "b"), P()]
SOME_SPECS = [P("a"), P("b", "a"), P(None, ("a", "b")), P(None, None, "b")]

pytestmark = pytest.mark.usefixtures("way")


def compiled(f, *arguments, **shardings):
    return jax.jit(f, **shardings).lower(*arguments).compile()


def calls(program) -> set[str]:
    """The handlers of ours that a program calls."""
    return set(re.findall(r'custom_call_target="(backslice_\w+)"', program.as_text()))


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_gradients_of_sharded_arrays(mesh, way: str, spec: P) -> None:
    wanted = NamedSharding(mesh, spec)
    dys = [jnp.asarray(X[index]) for index in INDICES]
    f = compiled(
        lambda *dys: bsj.multi_slice_grad(SHAPE, list(zip(INDICES, dys, strict=True))), *dys, out_shardings=wanted
    )
    if way == "handlers":
        assert "all-gather" not in f.as_text()
    result = f(*dys)
    assert result.sharding.is_equivalent_to(wanted, 3)
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


def in_shard_map(f, mesh, **options):
    return jax.shard_map(f, mesh=mesh, in_specs=P("a"), out_specs=P("a"), **options)


@pytest.mark.parametrize("axes", [{"a", "b"}, {"a"}], ids=["all axes", "some axes"])
@pytest.mark.parametrize("where", ["grad inside", "grad outside"])
def test_fuse_slices_reaches_into_shard_map(mesh, axes: set[str], where: str) -> None:
    def loss(x):
        return sum(t * jnp.sum(jnp.sin(x[1:, t]), keepdims=True) for t in range(8)).reshape(1)

    if where == "grad inside":
        f = in_shard_map(jax.grad(lambda x: loss(x)[0]), mesh, axis_names=axes)
    else:
        f = jax.grad(lambda x: jnp.sum(in_shard_map(loss, mesh, axis_names=axes)(x)))
    x = jax.device_put(X[:, :, 0], NamedSharding(mesh, P("a")))
    fused = str(jax.make_jaxpr(bsj.fuse_slices(f))(x))
    assert fused.count("= backslice_multi_slice_grad") == 1 and "= pad[" not in fused
    np.testing.assert_allclose(jax.jit(bsj.fuse_slices(f))(x), jax.jit(f)(x), rtol=1e-12)


def test_slices_inside_a_shard_map_over_some_axes(mesh) -> None:
    f = in_shard_map(jax.grad(lambda x: jnp.sum(bsj.slice(x, "1:3, ::2") ** 3)), mesh, axis_names={"a"})
    x = jax.device_put(X, NamedSharding(mesh, P("a", "b")))
    expected = in_shard_map(jax.grad(lambda x: jnp.sum(x[1:3, ::2] ** 3)), mesh, axis_names={"a"})
    compiled_text = compiled(f, x).as_text()
    assert "all-gather" not in compiled_text
    np.testing.assert_allclose(jax.jit(f)(x), jax.jit(expected)(jax.device_put(X)), rtol=1e-12)


def test_versions_of_jax_that_hide_what_partitioning_needs(mesh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharding, "is_possible", lambda: False)
    dy = jnp.asarray(X[INDICES[0]])
    f = compiled(lambda dy: bsj.slice_grad(dy, SHAPE, INDICES[0]), dy, out_shardings=NamedSharding(mesh, P("a", "b")))
    np.testing.assert_array_equal(f(dy), bs.slice_grad(X[INDICES[0]], SHAPE, INDICES[0]))


@pytest.mark.parametrize("shape", [(10, 7), (3, 8), (16, 5)], ids=str)
@pytest.mark.parametrize("spec", [P("a", "b"), P(None, "a"), P(("a", "b"))], ids=str)
def test_shards_that_are_uneven(mesh, shape: tuple[int, int], spec: P) -> None:
    def gradient(f):
        def loss(x):
            x = jax.lax.with_sharding_constraint(jnp.sin(x), NamedSharding(mesh, spec))
            return sum(jnp.sum(y**3) for y in f(x, [np.s_[1:, ::2], np.s_[-1], np.s_[:, 2:4]]))

        return jax.jit(jax.grad(loss))

    x = jnp.asarray(X.ravel()[: shape[0] * shape[1]].reshape(shape))
    expected = gradient(lambda x, indices: [x[index] for index in indices])
    np.testing.assert_allclose(gradient(bsj.multi_slice)(x), expected(x), rtol=1e-12)


def test_axes_whose_shards_are_uneven_are_gathered_and_the_others_are_not(mesh, way: str) -> None:
    def f(x):
        x = jax.lax.with_sharding_constraint(jnp.sin(x), NamedSharding(mesh, P("a", "b")))
        return bsj.multi_slice(x, [np.s_[1:, ::2], np.s_[:, 2:5]])

    for shape, gathered in {(10, 8): (10, 4), (16, 7): (4, 7), (16, 8): None}.items():
        x = jnp.asarray(X.ravel()[: shape[0] * shape[1]].reshape(shape))
        text = compiled(f, x).as_text()
        if way == "handlers":
            assert calls(compiled(f, x)) == {"backslice_slices_of_shard"}
            assert not gathers(text, shape)
            assert bool(re.search("all-gather|all-to-all|collective-permute", text)) == (gathered is not None)
            assert gathered is None or f"f64[{gathered[0]},{gathered[1]}]" in text  # what a device has in the end
        for got, index in zip(jax.jit(f)(x), [np.s_[1:, ::2], np.s_[:, 2:5]], strict=True):
            np.testing.assert_allclose(got, np.sin(x)[index], rtol=1e-12)


@pytest.mark.parametrize("spec", SOME_SPECS, ids=str)
def test_meshes_with_explicit_axes(explicit_mesh, way: str, spec: P) -> None:
    """Gradients have the type of their arrays, slices that along the axes that they take whole."""

    def loss(slices):
        return sum(jnp.sum(y**3) for y in slices)

    with jax.set_mesh(explicit_mesh):
        x = jax.device_put(X, NamedSharding(explicit_mesh, spec))
        for run in (lambda f: f, jax.jit) if spec == SPECS[0] else (jax.jit,):
            slices = run(lambda x: bsj.multi_slice(x, INDICES))(x)
            for got, index in zip(slices, INDICES, strict=True):
                np.testing.assert_array_equal(got, X[index])
            gradient = jax.grad(lambda x: loss(bsj.multi_slice(x, INDICES)))
            if way == "handlers":
                assert calls(compiled(gradient, x)) == {"backslice_shard_of_gradient", "backslice_slices_of_shard"}
            dx = run(gradient)(x)
            assert dx.sharding.is_equivalent_to(x.sharding, 3)
            np.testing.assert_allclose(dx, jax.grad(lambda x: loss([x[i] for i in INDICES]))(X), rtol=1e-12)
    assert jax.typeof(slices[0]).sharding.spec[1] == (spec[1] if len(spec) > 1 else None)


@pytest.mark.parametrize("spec", [P("a"), P(("a", "b")), P()], ids=str)
def test_fuse_slices_with_explicit_axes(explicit_mesh, way: str, spec: P) -> None:
    def loss(x):
        return sum(jnp.sum(jnp.sin(x[:, t] * t)) for t in range(8)) + jnp.sum(x[:, ::-2] ** 2)

    with jax.set_mesh(explicit_mesh):
        x = jax.device_put(X, NamedSharding(explicit_mesh, spec))
        if way == "handlers":
            assert calls(compiled(bsj.fuse_slices(jax.grad(loss)), x)) == {"backslice_shard_of_gradient"}
        for run in (lambda f: f, jax.jit) if spec == P() else (jax.jit,):
            dx, expected = (run(f)(x) for f in (bsj.fuse_slices(jax.grad(loss)), jax.grad(loss)))
            assert dx.sharding.is_equivalent_to(expected.sharding, 3)
            np.testing.assert_allclose(dx, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["multi_slice", "fuse_slices"])
def test_arrays_whose_gradients_are_summed_over_devices_later(explicit_mesh, kind: str) -> None:
    """An array that is reduced along an axis of the mesh has a gradient that is not reduced yet."""

    def loss(x, f):
        return sum(jnp.sum(y) for y in f(x))

    slices = {
        "multi_slice": lambda x: bsj.multi_slice(x, ["1:3", ":, 2:4"]),
        "fuse_slices": lambda x: [x[1:3], x[:, 2:4]],
    }
    transform = bsj.fuse_slices if kind == "fuse_slices" else lambda f: f
    with jax.set_mesh(explicit_mesh):
        x = jax.device_put(X[..., 0], P(reduced={"a"}))
        gradient = jax.grad(lambda x: loss(x, slices[kind]))
        [taken, _] = jax.jit(bsj.fuse_slices(slices[kind]))(x)
        assert taken.sharding == NamedSharding(explicit_mesh, P(None, None, reduced={"a"}))
        dx = jax.jit(transform(gradient))(x)
        assert dx.sharding == NamedSharding(explicit_mesh, P(None, None, unreduced={"a"}))
        plain = jax.grad(lambda x: loss(x, slices["fuse_slices"]))
        expected = jax.sharding.reshard(jax.jit(plain)(x), P())
        np.testing.assert_allclose(jax.sharding.reshard(dx, P()), expected, rtol=1e-12)


def test_dys_of_which_some_are_the_same_on_every_device(mesh) -> None:
    """Their sum is not, and JAX must know; otherwise it returns that of one device, or loses a sum in a gradient."""

    def of_each(same, own):
        dx = bsj.multi_slice_grad((6, 6), [("0:4", same), ("2:6", own)])
        total = bsj.multi_slice_grad((6, 6), [("2:6", own), ("0:4", same)])
        assert [jax.typeof(v).manual_axis_type.varying for v in (dx, total)] == [{"a"}] * 2
        return dx + total

    f = jax.shard_map(of_each, mesh=mesh, in_specs=(P(), P("a")), out_specs=P("a"))
    same, own = jnp.asarray(X[:4, :6, 0]), jnp.asarray(X[:, :6, 1])
    expected = np.concatenate(
        [2 * bs.multi_slice_grad((6, 6), [("0:4", same), ("2:6", own[4 * k : 4 * k + 4])]) for k in range(4)]
    )
    np.testing.assert_allclose(jax.jit(f)(same, own), expected, rtol=1e-12)
    back = jax.jit(jax.grad(lambda same: jnp.sum(f(same, own) ** 2)))(same)
    np.testing.assert_allclose(back, sum(4 * expected[6 * k : 6 * k + 4] for k in range(4)), rtol=1e-12)
    with pytest.raises(ValueError, match="out_specs"):
        jax.shard_map(of_each, mesh=mesh, in_specs=(P(), P("a")), out_specs=P())(same, own)


def test_fuse_slices_of_dys_of_which_some_are_the_same_on_every_device(mesh) -> None:
    def loss(shared, own):
        return jnp.sum(shared[1:3] * 2.0) + jnp.sum(shared[2:5] * own[:3]) + jnp.sum(shared[0]) + jnp.sum(own[1:] ** 2)

    def gradients(transform):
        f = transform(jax.grad(loss, argnums=(0, 1)))
        return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=(P(), P("a")), out_specs=(P(), P("a"))))

    shared, own = jnp.asarray(X[:6, :6, 0]), jnp.asarray(X[:, :6, 1])
    for a, b in zip(gradients(bsj.fuse_slices)(shared, own), gradients(lambda f: f)(shared, own), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    outside = bsj.fuse_slices(gradients(lambda f: f))
    for a, b in zip(jax.jit(outside)(shared, own), gradients(lambda f: f)(shared, own), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_without_shardy_programs_are_jaxs_own(mesh) -> None:
    jax.config.update("jax_use_shardy_partitioner", False)
    try:
        x = jax.device_put(X, NamedSharding(mesh, P("a", "b")))
        f = compiled(jax.grad(lambda x: sum(jnp.sum(y**3) for y in bsj.multi_slice(x, INDICES[1:]))), x)
        assert "custom-call" not in f.as_text()
        np.testing.assert_allclose(
            f(x), jax.grad(lambda x: sum(jnp.sum(x[i] ** 3) for i in INDICES[1:]))(X), rtol=1e-12
        )
    finally:
        jax.config.update("jax_use_shardy_partitioner", True)


@pytest.mark.parametrize("spec", SOME_SPECS, ids=str)
@pytest.mark.parametrize("kind", ["multi_slice", "fuse_slices", "fuse_slices of jit"])
def test_gradients_are_sharded_as_their_arrays(mesh, spec: P, kind: str) -> None:
    def loss(x):
        slices = bsj.multi_slice(x, INDICES) if kind == "multi_slice" else [x[index] for index in INDICES]
        return sum(jnp.sum(y**3) for y in slices)

    gradient = jax.grad(jax.jit(loss) if kind == "fuse_slices of jit" else loss)
    x = jax.device_put(X, NamedSharding(mesh, spec))
    f = compiled(gradient if kind == "multi_slice" else bsj.fuse_slices(gradient), x)
    dx = f(x)
    assert dx.sharding.is_equivalent_to(x.sharding, 3)
    assert not gathers(f.as_text(), SHAPE)
    np.testing.assert_allclose(dx, jax.grad(lambda x: sum(jnp.sum(x[i] ** 3) for i in INDICES))(X), rtol=1e-12)


def gathers(text: str, shape: tuple[int, ...]) -> list[str]:
    """Return the operations that gather an array of that shape."""
    whole = f"[{','.join(map(str, shape))}]"
    return [line for line in text.splitlines() if "all-gather" in line and whole in line.split("all-gather")[0]]


def test_without_groups_gradients_are_sharded_as_they_are_wanted(mesh, monkeypatch: pytest.MonkeyPatch) -> None:
    find = internals.find
    monkeypatch.setattr(internals, "find", lambda module, name: None if "sdy" in module else find(module, name))
    x = jax.device_put(X, NamedSharding(mesh, P("a")))
    gradient = jax.grad(lambda x: jnp.sum(x[3:11] ** 2) + jnp.sum(x[:, 2] ** 3))
    got = jax.jit(bsj.fuse_slices(gradient), out_shardings=x.sharding)(x)
    assert internals.operation_of_sharding_groups() is None and got.sharding == x.sharding
    np.testing.assert_allclose(got, gradient(X), rtol=1e-12)
