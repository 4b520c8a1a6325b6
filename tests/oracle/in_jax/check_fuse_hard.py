"""Cases that fuse_slices must leave alone: lookalikes of slice gradients, and programs that would grow."""

from functools import partial

import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax.extend.core.primitives import add_jaxvals_p

X = jnp.asarray(np.random.default_rng(0).normal(size=(6, 6)))
AROUND = [(1, 0, 0), (0, 2, 0), (0, 0, 1)]

pytestmark = pytest.mark.usefixtures("way")


def same(a: jax.Array, b: jax.Array) -> None:
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def pads(x, value=0.0):
    return jax.lax.pad(x[None], jnp.asarray(value, x.dtype), AROUND)


# Functions that are left as they are, or partly.
FUNCTIONS = {
    "a reshape of another order": lambda x: jax.lax.pad(jax.lax.reshape(x, (1, 6, 6), (1, 0)), 0.0, AROUND),
    "a pad with -0.0": lambda x: pads(x, -0.0),
    "a pad with a complex -0": lambda x: pads(x * (1 + 2j), complex(-0.0, 0.0)),
    "a pad with nan": lambda x: pads(x, jnp.nan),
    "a pad that takes away": lambda x: jax.lax.pad(x, 0.0, [(-1, 2, 0), (1, -2, 1)]),
    "a pad of a number": lambda x: jax.lax.pad(x[0, 0], 0.0, []) + x,
    "a pad of nothing": lambda x: jax.lax.pad(x[:0], 0.0, [(3, 3, 0), (0, 0, 0)]),
    "pads of nothing, without an axis": lambda x: jax.lax.pad(x[:0, :1].reshape(0), 0.0, [(3, 0, 2)]),
    "a pad that adds nothing": lambda x: jax.lax.pad(x, 0.0, [(0, 0, 0)] * 2) + pads(x)[0, :6, :6],
    "a pad that is traced": lambda x: pads(x, x[0, 0]),
    "a pad of a pad": lambda x: pads(pads(x)[0]),
    "a pad of integers": lambda x: jax.lax.pad(x.astype(int), 0, [(1, 1, 1)] * 2),
    "a pad of booleans": lambda x: jax.lax.pad(x > 0, False, [(1, 1, 1)] * 2),
    "the result of a jit twice": lambda x: sum(jax.jit(lambda x: (pads(x),) * 2)(x)),
    "a constant": lambda x: pads(jnp.arange(36.0).reshape(6, 6)) + x[0, 0],
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_equal_the_originals_bit_for_bit(name: str) -> None:
    f = FUNCTIONS[name]
    same(jax.jit(bsj.fuse_slices(f))(X), jax.jit(f)(X))
    same(bsj.fuse_slices(f)(X), f(X))


def weighted(x, steps, weight, name="sum"):
    return getattr(jnp, name)(jnp.stack([weight * x[t] for t in range(steps)])) + weight


def test_arguments_that_are_no_arrays_reach_the_function_as_they_are() -> None:
    expected = jax.grad(weighted)(X, 3, 2.0, name="mean")
    fused = bsj.fuse_slices(jax.grad(weighted))
    same(fused(X, 3, 2.0, name="mean"), expected)
    same(jax.jit(fused, static_argnums=1, static_argnames="name")(X, 3, 2.0, name="mean"), expected)
    same(fused(np.asarray(X), np.int64(3), 2.0, name="mean"), expected)
    assert fused(2.0 * X[0], 3, 1.0).shape == (6,)


def test_numbers_of_pythons_are_arguments_and_addends() -> None:
    same(bsj.fuse_slices(jax.grad(lambda x: x[2, 3] + x[1, 2] * 0.0))(X), jax.grad(lambda x: x[2, 3])(X))
    assert bsj.fuse_slices(jax.grad(lambda x: x**2))(3.0) == 6.0
    ones = bsj.fuse_slices(lambda x: add_jaxvals_p.bind(jax.lax.pad(x, 0.0, []), 1.0))(jnp.float64(2))
    assert ones == 3.0


def gradients(jaxpr) -> list[int]:
    """How many dy's each call of ours has."""
    calls = [eqn for eqn in jaxpr.eqns if eqn.primitive.name.startswith("backslice_multi_slice")]
    return [len(eqn.params["slices"].selections) for eqn in calls]


def test_residual_loops_add_each_slice_once() -> None:
    def loss(x, steps=40):
        for t in range(steps):
            x = x + jnp.sin(x[t % 6])
        return jnp.sum(x)

    jaxpr = jax.make_jaxpr(bsj.fuse_slices(jax.grad(loss)))(X)
    assert sum(gradients(jaxpr.jaxpr)) == 40
    np.testing.assert_allclose(jax.jit(bsj.fuse_slices(jax.grad(loss)))(X), jax.grad(loss)(X), rtol=1e-12)


def test_sums_that_are_read_several_times_are_computed_once() -> None:
    def partial_sums(x, dys):
        sums = [jax.lax.pad(dys[0], 0.0, [(0, 5, 0), (0, 0, 0)])]
        for k in range(1, 6):
            sums.append(add_jaxvals_p.bind(sums[-1], jax.lax.pad(dys[k], 0.0, [(k, 5 - k, 0), (0, 0, 0)])))
        return sums[::-1]

    dys = list(X[:, None])
    jaxpr = jax.make_jaxpr(bsj.fuse_slices(partial_sums))(X, dys)
    assert sum(gradients(jaxpr.jaxpr)) <= 6 + 5
    for a, b in zip(bsj.fuse_slices(partial_sums)(X, dys), partial_sums(X, dys), strict=True):
        same(a, b)


def test_sums_that_double() -> None:
    def doubled(x, times=40):
        total = pads(x)
        for _ in range(times):
            total = jax.jit(lambda t: (t, t))(add_jaxvals_p.bind(total, total))[0]
        return total

    same(jax.jit(bsj.fuse_slices(doubled))(X), jax.jit(doubled)(X))


def test_slices_of_slices_of_slices() -> None:
    """Each level adds its own; the tree is as deep as there are levels."""

    def loss(x):
        total = 0.0
        for _ in range(x.shape[0] - 1):
            total, x = total + x[0], x[1:]
        return total**2

    jaxpr = jax.make_jaxpr(bsj.fuse_slices(jax.grad(loss)))(jnp.arange(500.0))
    assert gradients(jaxpr.jaxpr) == [499]
    x = jnp.arange(30.0)
    np.testing.assert_array_equal(jax.jit(bsj.fuse_slices(jax.grad(loss)))(x), jax.jit(jax.grad(loss))(x))


def test_many_views_in_a_row() -> None:
    def f(x, times):
        for _ in range(times):
            x = jax.lax.rev(x, (1,))
        return jax.lax.pad(x, 0.0, [(1, 1, 0)] * 2)

    jax.make_jaxpr(lambda x: bsj.fuse_slices(f)(x, 2000))(X)
    same(jax.jit(lambda x: bsj.fuse_slices(f)(x, 33))(X), jax.jit(lambda x: f(x, 33))(X))


def test_shapes_of_symbols_stay_jaxs() -> None:
    rows = export.symbolic_shape("n, 6")
    f = bsj.fuse_slices(jax.grad(lambda x: jnp.sum(x[1:, 2:] ** 2)))
    exported = export.export(jax.jit(f))(jax.ShapeDtypeStruct(rows, X.dtype))
    np.testing.assert_array_equal(exported.call(X), f(X))
    with pytest.raises(TypeError, match="x has extent n along axis 0"):
        export.export(jax.jit(lambda x: bsj.slice(x, "1:")))(jax.ShapeDtypeStruct(rows, X.dtype))


@pytest.mark.parametrize("fused", [True, False])
def test_programs_for_two_platforms(way: str, fused: bool) -> None:
    def loss(x):
        return sum(jnp.sum(y**2) for y in ([x[1:3], x[:, 2]] if fused else bsj.multi_slice(x, ["1:3", ":, 2"])))

    f = bsj.fuse_slices(jax.grad(loss)) if fused else jax.grad(loss)
    text = jax.jit(f).trace(X).lower(lowering_platforms=("cpu", "cuda")).as_text()
    assert ("stablehlo.case" in text) == (way == "handlers") and "stablehlo.pad" in text
    exported = export.export(jax.jit(f), platforms=("cpu", "cuda"), disabled_checks=bsj.export_checks())(X)
    np.testing.assert_allclose(exported.call(X), jax.grad(loss)(X), rtol=1e-12)


def test_programs_for_another_platform_have_no_calls_of_ours() -> None:
    f = partial(jax.grad, lambda x: jnp.sum(bsj.slice(x, "1:3") ** 2))()
    text = jax.jit(f).trace(X).lower(lowering_platforms=("cuda",)).as_text()
    assert "backslice" not in text and "stablehlo.pad" in text


def test_results_that_are_numbers_in_the_program_are_arrays() -> None:
    parameters = {"scale": jnp.float32(2), "unused": jnp.float32(0)}
    gradient = jax.grad(lambda p, x: jnp.sum(x[1:3] * p["scale"]).astype(jnp.float32))
    expected, got = gradient(parameters, X), bsj.fuse_slices(gradient)(parameters, X)
    assert all(isinstance(value, jax.Array) and value.dtype == jnp.float32 for value in got.values())
    assert got["unused"] == 0 and jnp.allclose(got["scale"], expected["scale"])
    assert isinstance(bsj.fuse_slices(lambda x: (x[0], 2))(X)[1], jax.Array)
