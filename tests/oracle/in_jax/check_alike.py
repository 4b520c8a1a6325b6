"""dy's that are computed alike are computed by one kernel: the same numbers, and less to compile."""

import re
from functools import partial

import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backslice.jax import fuse
from jax import export

X = jnp.asarray(np.random.default_rng(0).normal(size=(16, 24, 64)), jnp.float32)
Y = jnp.asarray(np.random.default_rng(1).normal(size=X.shape), jnp.float32)
WEIGHTS = jnp.ones((128, 4), jnp.float32) / 64
W = jnp.arange(1.0, 25.0, dtype=jnp.float32)
SEGMENTS = [(0, 3), (3, 4), (4, 9), (9, 12), (12, 17), (17, 19), (19, 24), (23, 24)]


def steps(f, of=lambda x, t: x[:, t], count=8):
    return lambda x: sum(jnp.sum(f(of(x, t), t)) for t in range(count))


def segments(f):
    return lambda x: sum(jnp.sum(f(x[:, a:b])) for a, b in SEGMENTS)


@jax.jit
def halved_where_negative(y):
    return jnp.where(y < 0, y * y / 2, jnp.sin(y))


# Functions of an array, and how many kernels compute four or more of the dy's of their gradients.
LOSSES = {
    "one function": (steps(lambda y, t: jnp.tanh(y)), 1),
    "with a weight of an array": (steps(lambda y, t: jnp.tanh(y * W[t])), 1),
    "with a number": (steps(lambda y, t: t * y**3), 1),
    "with a number that is computed": (steps(lambda y, t: jnp.sin(y) * jax.lax.stop_gradient(jnp.max(y))), 1),
    "with another array": (steps(lambda y, t: jnp.sin(y * Y[:, t])), 1),
    "with what all have": (steps(lambda y, t: jnp.sin(y) * Y[:, 0]), 1),
    "two functions in turn": (steps(lambda y, t: (jnp.sin, jnp.exp)[t % 2](y)), 2),
    "a function of its own, once": (steps(lambda y, t: jnp.exp(y) if t == 3 else jnp.sin(y)), 1),
    "branches": (steps(lambda y, t: halved_where_negative(y)), 1),
    "in steps": (steps(lambda y, t: y**3, lambda x, t: x[:, t, t % 3 :: 3]), 1),
    "backwards": (steps(lambda y, t: y**3, lambda x, t: x[::-1, t, ::-2]), 1),
    "pairs of steps": (steps(lambda y, t: y**3, lambda x, t: x[:, t : t + 2]), 1),
    "windows that begin anywhere": (steps(lambda y, t: y**3, lambda x, t: x[t * t % 11 :][:5, t]), 1),
    "slices of slices": (steps(lambda y, t: y**3, lambda x, t: x[2:][:, t]), 1),
    "the transpose of a stack": (
        lambda x: jnp.sum(jnp.tanh(jnp.stack([x[:, t : t + 2].reshape(16, 128) for t in range(8)], 1) @ WEIGHTS)),
        1,
    ),
    "the transpose of a concatenation": (
        lambda x: jnp.sum(jnp.tanh(jnp.concatenate([x[:, t].reshape(64, 16) for t in range(8)], 1) @ WEIGHTS)),
        1,
    ),
    "multi_slice": (
        lambda x: sum(jnp.sum(y**3) for y in bsj.multi_slice(x, [np.s_[2:, t, ::3] for t in range(8)])),
        1,
    ),
    "slices of multi_slice": (
        lambda x: sum(jnp.sum(y[t:][:3] ** 3) for t, y in enumerate(bsj.multi_slice(x, [np.s_[::2]] * 4))),
        1,
    ),
    "multi_slice with two integers": (
        lambda x: sum(jnp.sum(y**3) for y in bsj.multi_slice(x, [np.s_[t % 5, t, 1:] for t in range(12)])),
        1,
    ),
    "multi_slice with new axes": (
        lambda x: sum(jnp.sum(y**3) for y in bsj.multi_slice(x, [np.s_[2:, None, t] for t in range(12)])),
        0,
    ),
    "multi_slice backwards": (
        lambda x: sum(jnp.sum(y**3) for y in bsj.multi_slice(x, [np.s_[::-1, t] for t in range(12)])),
        0,
    ),
    "with a new axis": (steps(lambda y, t: y**3, lambda x, t: x[:, None, t]), 1),
    "segments": (segments(lambda y: y**3), 0),
    "segments with a mean": (segments(lambda y: jnp.mean(y**3) * 100), 0),
    "numbers alone": (steps(lambda y, t: t * y), 1),
    "segments of one number": (segments(lambda y: 3 * y), 0),
    "the same for all": (steps(lambda y, t: 3 * y), 0),
    "the same slice for all": (steps(lambda y, t: 3 * y * jnp.sin(Y[:, 0])), 0),
    "few": (steps(lambda y, t: y**3, count=3), 0),
    "a product of matrices": (steps(lambda y, t: jnp.sin(y @ jnp.ones((64, 8), y.dtype))), 0),
    "one after the other": (
        lambda x: jnp.sum(jax.lax.fori_loop(0, 2, lambda i, h: jnp.tanh(h + x[:, 3] * x[:, 4]), x[:, 0])),
        0,
    ),
}


def kernels_in(f, *arguments) -> int:
    """How many operands of calls have dy's that are computed together."""
    stacks = re.findall(r"stacks=\((.*?\))\)", str(jax.make_jaxpr(f)(*arguments)), re.DOTALL)
    return sum(group.count(",") >= 3 for each in stacks for group in re.findall(r"\(([^()]*)\)", each))


def check(f, *arguments, **tolerance) -> None:
    expected = jax.jit(f)(*arguments)
    got = jax.jit(bsj.fuse_slices(f))(*arguments)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(
            np.asarray(a, complex), np.asarray(b, complex), **{"rtol": 2e-6, "atol": 1e-6} | tolerance
        )


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_of_the_original(name: str) -> None:
    loss, _ = LOSSES[name]
    check(jax.grad(loss), X)


@pytest.mark.parametrize("name", LOSSES)
def test_what_is_alike_is_one_kernel(name: str) -> None:
    loss, kernels = LOSSES[name]
    assert kernels_in(bsj.fuse_slices(jax.grad(loss)), X) == kernels


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64", "complex64"])
def test_dtypes(dtype: str) -> None:
    loss = steps(lambda y, t: jnp.real(y * y * (t + 1)).astype(jnp.float32))
    gradient = jax.grad(loss)
    x = X.astype(dtype)
    assert kernels_in(bsj.fuse_slices(gradient), x) == 1
    expected, got = jax.jit(gradient)(x), jax.jit(bsj.fuse_slices(gradient))(x)
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(got, np.complex128), np.asarray(expected, np.complex128))


def test_values_that_are_needed_elsewhere_are_not_computed_twice() -> None:
    loss = steps(lambda y, t: jnp.tanh(y))
    both = jax.value_and_grad(loss)
    check(both, X)
    fused = jax.jit(bsj.fuse_slices(both)).lower(X).as_text()
    assert fused.count("stablehlo.tanh") == jax.jit(both).lower(X).as_text().count("stablehlo.tanh")


def test_a_scan_that_slices_in_its_body() -> None:
    def loss(x):
        return jax.lax.scan(lambda c, k: (c + steps(lambda y, t: jnp.sin(k * y))(x), None), 0.0, jnp.arange(3.0))[0]

    check(jax.grad(loss), X, atol=1e-4)


def test_a_batch() -> None:
    gradient = jax.vmap(jax.grad(steps(lambda y, t: jnp.tanh(y * W[t]))))
    check(gradient, jnp.stack([X, Y]))
    assert kernels_in(bsj.fuse_slices(gradient), jnp.stack([X, Y])) == 1


def test_the_second_derivative() -> None:
    loss = steps(lambda y, t: jnp.sin(y * W[t]))
    check(lambda x, v: jax.jvp(jax.grad(loss), (x,), (v,)), X, Y, atol=1e-3)
    check(jax.grad(lambda x: jnp.sum(jax.grad(loss)(x) ** 2)), X, atol=1e-2)


def test_inside_shard_map_each_device_computes_its_own() -> None:
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")
    check(jax.shard_map(jax.grad(steps(lambda y, t: jnp.tanh(y))), mesh=mesh, in_specs=spec, out_specs=spec), X)


def test_slices_of_one_length_are_computed_together() -> None:
    def loss(x, lengths):
        return sum(jnp.sum(jnp.sin(x[:, i, :n])) for i, n in enumerate(lengths))

    gradient = jax.grad(partial(loss, lengths=[30, 31] * 4 + [7]))
    check(gradient, X)
    assert kernels_in(bsj.fuse_slices(gradient), X) == 2


def test_slices_at_the_end_of_their_array_are_not_taken_beyond_it() -> None:
    def loss(x):
        return sum(jnp.sum(jnp.sin(x[:, -n:]) * jnp.cos(Y[:, 24 - n :])) for n in (1, 2, 3, 4, 5))

    check(jax.grad(loss), X)


def test_slices_that_end_differently() -> None:
    def loss(x):
        return sum(jnp.sum(jnp.sin(x[:, -n:]) * jnp.cos(Y[:, :n])) for n in (1, 2, 3, 4, 5, 6))

    check(jax.grad(loss), X)


def test_slices_that_differ_along_two_axes() -> None:
    extents = [(16, 2), (12, 3), (12, 3), (12, 3), (12, 3), (9, 5)]

    def loss(x):
        return sum(jnp.sum(jnp.sin(x[-m:, :n]) * jnp.cos(Y[-m:, i : i + n])) for i, (m, n) in enumerate(extents))

    def other(x):
        return sum(jnp.sum(jnp.sin(x[:m, -n:]) * jnp.cos(Y[-m:, :n])) for m, n in extents)

    check(jax.grad(loss), X)
    check(jax.grad(other), X)


def test_an_array_that_is_taken_apart_row_by_row() -> None:
    """Slices of slices, nested more deeply than Python calls functions."""

    def loss(x):
        total = 0.0
        while x.shape[0]:
            total, x = total + jnp.sum(x[0] ** 3), x[1:]
        return total

    rows = jnp.ones((1010, 1))
    assert kernels_in(bsj.fuse_slices(jax.grad(loss)), rows) == 1


def test_a_program_that_is_made_again_is_the_same() -> None:
    def text() -> str:
        jax.clear_caches()
        return jax.jit(bsj.fuse_slices(jax.grad(steps(lambda y, t: jnp.tanh(y * W[t]))))).lower(X).as_text()

    assert text() == text()


def test_extents_that_are_not_known_when_a_program_is_exported() -> None:
    n = export.symbolic_shape("n, 24, 64")
    gradient = bsj.fuse_slices(
        jax.grad(lambda x, y: sum(jnp.sum(jnp.sin(x[:, t] * y[0, t])) for t in range(8)), argnums=0)
    )
    shapes = [jax.ShapeDtypeStruct(s, jnp.float32) for s in (X.shape, n)]
    exported = export.export(jax.jit(gradient), disabled_checks=bsj.export_checks())(*shapes)
    np.testing.assert_allclose(exported.call(X, Y[:3]), jax.jit(gradient)(X, Y[:3]), rtol=1e-6)


def test_slices_without_elements() -> None:
    dys = [jnp.zeros((16, 0, 64)) * t for t in range(6)]
    total = jax.jit(lambda dys: bsj.multi_slice_grad(X.shape, [((slice(None), slice(0, 0, 2)), 2 * dy) for dy in dys]))
    assert not total(dys).any()


def test_short_functions_stay_whole_where_nothing_is_traced() -> None:
    closed = jax.make_jaxpr(halved_where_negative)(X)
    [eqn] = closed.eqns
    assert fuse._jit(eqn, X) is None
    assert jax.make_jaxpr(lambda x: fuse._jit(eqn, x))(X).eqns[0].primitive.name != "jit"


def test_programs_with_common_kernels_can_be_exported() -> None:
    gradient = bsj.fuse_slices(jax.grad(lambda x: steps(lambda y, t: jnp.tanh(y * W[t]))(x) + jnp.sum(x**2)))
    exported = export.export(jax.jit(gradient), platforms=["cpu"], disabled_checks=bsj.export_checks())(X)
    np.testing.assert_array_equal(exported.call(X), jax.jit(gradient)(X))
    assert "backslice_multi_slice_add" in exported.mlir_module()


@pytest.mark.parametrize("transform", ["vmap", "jvp", "linear_transpose", "grad of jit"])
def test_programs_with_common_kernels_can_be_transformed(transform: str) -> None:
    """Concatenated values are split again."""
    gradient = jax.grad(lambda x: steps(lambda y, t: jnp.sin(y * W[t]))(x) + jnp.sum(x**2))
    linear = jax.linearize(gradient, X)[1]
    transforms = {
        "vmap": lambda f: jax.vmap(f)(jnp.stack([X, Y])),
        "jvp": lambda f: jax.jvp(f, (X,), (Y,)),
        "linear_transpose": lambda f: jax.linear_transpose(f, X)(Y),
        "grad of jit": lambda f: jax.grad(lambda x: jnp.sum(f(x) ** 2))(X),
    }
    f = linear if transform == "linear_transpose" else gradient
    got = jax.jit(lambda: transforms[transform](jax.jit(bsj.fuse_slices(f))))()
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(transforms[transform](f)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-3)
