"""fuse_slices: the same results as the original function's, from fewer passes."""

import re
from functools import partial

import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest

X = jnp.asarray(np.random.default_rng(0).normal(size=(6, 8)))


@partial(jax.custom_vjp)
def doubled(x):
    return 2 * x[1:3]


doubled.defvjp(lambda x: (2 * x[1:3], x), lambda x, dy: (jnp.zeros_like(x).at[1:3].set(2 * dy),))


@jax.custom_vjp
def padded(x):
    return 2 * x[1:3]


padded.defvjp(lambda x: (2 * x[1:3], None), lambda _, dy: (jnp.pad(2 * dy, ((1, 3), (0, 0))),))


@jax.custom_jvp
def tripled(x):
    return 3 * x


tripled.defjvp(lambda primals, tangents: (tripled(*primals), 3 * tangents[0]))


def recurrent(x):
    h = jnp.zeros(6)
    for t in range(8):
        h = jnp.tanh(h * 0.5 + x[:, t])
    return jnp.sum(h)


def scanned(x):
    return jax.lax.scan(lambda c, k: (c + jnp.sum(jnp.sin(k * x[1:4, ::2])), None), 0.0, jnp.arange(3.0))[0]


def scanned_by_traced_indices(x):
    return jax.lax.scan(lambda c, t: (c + jnp.sum(jnp.sin(x[:, t])), None), 0.0, jnp.arange(8))[0]


def descended(x):
    """A gradient in the body of a while_loop."""
    step = jax.grad(lambda x: jnp.sum(x[1:4] ** 2) + jnp.sum(x[2:] ** 3))
    return jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] - 0.1 * step(s[1])), (0, x))[1]


def checkpointed(x):
    step = jax.checkpoint(lambda h, x, t: jnp.tanh(h + x[:, t]), static_argnums=2)
    h = jnp.zeros(6)
    for t in range(4):
        h = step(h, x, t)
    return jnp.sum(h)


# Functions of an array, and how many passes their gradients are: calls of our primitives.
LOSSES = {
    "one slice": (lambda x: jnp.sum(x[1:3] ** 2), 1),
    "an integer": (lambda x: jnp.sum(x[:, 3] ** 2), 1),
    "two integers": (lambda x: x[2, 3] ** 2, 1),
    "a step": (lambda x: jnp.sum(x[1::2, ::3] ** 2), 1),
    "backwards": (lambda x: jnp.sum(jnp.sin(x[4:0:-2, ::-1]) * jnp.arange(8.0)), 1),
    "a new axis": (lambda x: jnp.sum(jnp.sin(x[1:3, None, 2:, None]) * 2), 1),
    "nothing taken": (lambda x: jnp.sum(x[2:2] ** 2) + jnp.sum(x[1] ** 2), 1),
    "a slice of a slice": (lambda x: jnp.sum(x[1:][:, 2:][::-2, 1] ** 2), 1),
    "slices of a slice": (lambda x: jnp.sum(x[1:5][0] ** 2) + jnp.sum(x[1:5][1:, ::2] ** 3), 1),
    "multi_slice beside slices": (
        lambda x: sum(jnp.sum(y**2) for y in bsj.multi_slice(x, [np.s_[1], np.s_[:, 2:]])) + jnp.sum(x[:2] ** 3), 1,
    ),
    "multi_slice inside jit": (
        lambda x: jax.jit(lambda x: jnp.sum(bsj.multi_slice(x, [1])[0] ** 2))(x) + jnp.sum(x[2:] ** 3), 1,
    ),
    "many columns": (lambda x: sum(t * jnp.sum(x[:, t] ** 2) for t in range(8)), 1),
    "slices that overlap": (lambda x: jnp.sum(x[0:4] * x[2:6]) + jnp.sum(x[1:5] ** 2), 1),
    "a recurrence": (recurrent, 1),
    "a slice beside the whole": (lambda x: jnp.sum(x**3) + jnp.sum(x[1:4] ** 2), 1),
    "a slice of a product": (lambda x: jnp.sum((x * x)[1:4] ** 2), 1),
    "an array and one made of it": (lambda x: jnp.sum((x[1:] * jnp.sin(x)[:-1]) ** 2), 2),
    "jnp.diff": (lambda x: jnp.sum(jnp.diff(x, axis=1) ** 2), 1),
    "jnp.squeeze and expand_dims": (lambda x: jnp.sum(jnp.squeeze(x[2:3], 0)[:, None][3:] ** 2), 1),
    "inside jit": (lambda x: jax.jit(lambda x: jnp.sum(x[1:3] ** 2))(x) + jnp.sum(x[2] ** 2), 1),
    "the output of jit": (lambda x: jnp.sum(jax.jit(lambda x: x[1:5])(x)[::2] ** 2), 1),
    "inside scan": (scanned, 1),
    "inside cond": (lambda x: jax.lax.cond(x[0, 0] > 0, lambda x: jnp.sum(x[1] ** 2), lambda x: jnp.sum(x[2:]), x), 2),
    "inside while": (
        lambda x: jnp.sum(jax.lax.fori_loop(0, 3, lambda i, x: x.at[1:].set(x[:-1] * 0.5), x)), None,
    ),
    "inside checkpoint": (checkpointed, 1),
    "custom_vjp": (lambda x: jnp.sum(doubled(x) ** 2) + jnp.sum(x[2:4] ** 2), 1),
    "custom_vjp that pads": (lambda x: jnp.sum(padded(x) ** 2) + jnp.sum(x[2:4] ** 2), 1),
    "custom_jvp": (lambda x: jnp.sum(tripled(x)[2:4] ** 2) + jnp.sum(x[2:4] ** 2), 2),
    "split and unstack": (lambda x: sum(jnp.sum(p**2) for p in [*jnp.split(x, 2), *jnp.unstack(x)]), None),
    "a traced index": (lambda x: jnp.sum(x[jnp.argmax(x[0])] ** 2) + jnp.sum(x[1] ** 2), 1),
    "traced indices inside scan": (scanned_by_traced_indices, 0),
    "an array of indices": (lambda x: jnp.sum(x[jnp.array([0, 2])] ** 2) + jnp.sum(x[1] ** 2), 1),
    "jnp.pad of the user's": (lambda x: jnp.sum(jnp.sin(jnp.pad(x, 1)) ** 2), None),
    "a pad with ones": (lambda x: jnp.sum(jnp.sin(jnp.pad(x, 1, constant_values=1.0))[2:]), None),
    "no slice": (lambda x: jnp.sum(x**2), 0),
}  # fmt: skip


def passes(jaxpr) -> int:
    return str(jaxpr).count("= backslice_multi_slice_grad")


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_equal_the_originals(way: str, name: str) -> None:
    loss, expected_passes = LOSSES[name]
    fused = bsj.fuse_slices(jax.grad(loss))
    expected = jax.jit(jax.grad(loss))(X)
    if expected_passes is not None:
        assert passes(jax.make_jaxpr(fused)(X)) == expected_passes
    np.testing.assert_allclose(jax.jit(fused)(X), expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("name", ["many columns", "a slice of a slice", "inside jit", "backwards", "a step"])
def test_gradients_of_slices_that_are_moved_alone_are_equal_bit_for_bit(way: str, name: str) -> None:
    loss, _ = LOSSES[name]
    x = jnp.where(X > 0.5, -0.0, X)
    fused, original = jax.jit(bsj.fuse_slices(jax.grad(loss)))(x), jax.jit(jax.grad(loss))(x)
    np.testing.assert_array_equal(fused, original)


@pytest.mark.parametrize(
    "name", ["a recurrence", "inside scan", "inside checkpoint", "slices of a slice", "custom_jvp"]
)
def test_fused_functions_can_be_transformed(name: str) -> None:
    loss, _ = LOSSES[name]
    grad, fused = jax.grad(loss), bsj.fuse_slices(jax.grad(loss))
    for transform in (jax.jacrev, jax.jacfwd, lambda f: lambda x: jax.jvp(f, (x,), (x + 1,)), bsj.fuse_slices):
        got, expected = transform(fused)(X), transform(grad)(X)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12), got, expected)
    batch = jnp.stack([X, X + 1, X * 2])
    np.testing.assert_allclose(jax.vmap(fused)(batch), jax.vmap(grad)(batch), rtol=1e-12, atol=1e-12)


def test_a_scan_adds_to_what_it_carries() -> None:
    jaxpr = str(jax.make_jaxpr(bsj.fuse_slices(jax.grad(scanned)))(X))
    assert passes(jaxpr) == 1 and "= pad[" not in jaxpr and "= add_any" not in jaxpr


def test_traced_indices_in_a_scan_stay_xlas() -> None:
    """It updates what the loop carries in place, by dynamic_update_slice."""
    gradient = jax.grad(scanned_by_traced_indices)
    fused, original = (str(jax.make_jaxpr(f)(X)) for f in (bsj.fuse_slices(gradient), gradient))
    assert passes(fused) == 0
    assert fused.count("= dynamic_update_slice") == original.count("= dynamic_update_slice") == 1


def test_gradients_in_the_body_of_a_while_loop(way: str) -> None:
    fused = bsj.fuse_slices(descended)
    jaxpr = str(jax.make_jaxpr(fused)(X))
    assert passes(jaxpr) == 1 and "= pad[" not in jaxpr
    np.testing.assert_allclose(jax.jit(fused)(X), jax.jit(descended)(X), rtol=1e-13)


def test_a_scan_adds_in_place(way: str) -> None:
    """XLA gives the loop's call the memory of the carried array: its program does not copy it."""
    text = jax.jit(bsj.fuse_slices(jax.grad(scanned))).lower(X).compile().as_text()
    assert ("backslice_multi_slice_add" in text) == (way == "handlers")
    assert re.findall(r"= f64\[6,8\]\S* copy\(", text) == []


def test_arguments_and_results_are_pytrees() -> None:
    def f(a, *, b):
        return {"sum": a["x"][1:] + b, "none": None, "pair": (a["x"], [1.0])}

    fused = bsj.fuse_slices(f)({"x": X}, b=1.0)
    assert jax.tree.structure(fused) == jax.tree.structure(f({"x": X}, b=1.0))
    np.testing.assert_array_equal(fused["sum"], X[1:] + 1)


def test_value_and_grad_keeps_the_name() -> None:
    value, gradient = bsj.fuse_slices(jax.value_and_grad(recurrent))(X)
    np.testing.assert_allclose(value, recurrent(X))
    np.testing.assert_allclose(gradient, jax.grad(recurrent)(X), rtol=1e-12)
    assert bsj.fuse_slices(recurrent).__name__ == "recurrent"


def test_debug_prints_stay(capfd: pytest.CaptureFixture[str]) -> None:
    def loss(x):
        jax.debug.print("seen {}", x[0, 0])
        return jnp.sum(x[1:3] ** 2)

    jax.jit(bsj.fuse_slices(jax.grad(loss)))(X).block_until_ready()
    jax.effects_barrier()
    assert "seen" in capfd.readouterr().out


def joined(f, shape: tuple[int, ...]) -> list[int]:
    """How many dy's the concatenations of a function have."""
    x = jax.ShapeDtypeStruct(shape, jnp.float32)
    text = jax.jit(bsj.fuse_slices(f)).lower(x).as_text()
    return [line.count("%") - 1 for line in text.splitlines() if "stablehlo.concatenate" in line]


def test_dys_that_are_computed_from_one_another_are_one_kernel_where_they_are_small() -> None:
    def loss(x, f=lambda h: h):
        h = jnp.zeros((x.shape[0], x.shape[2]), x.dtype)
        for t in range(x.shape[1]):
            h = jnp.tanh(f(h) + x[:, t])
        return jnp.sum(h)

    assert joined(jax.grad(loss), (64, 4, 256)) == [4]
    assert joined(jax.grad(loss), (64, 8, 256)) == [8]
    assert joined(jax.grad(loss), (64, 8, 512)) == []  # XLA would compute too much anew
    assert joined(jax.grad(loss), (16, 9, 256)) == []  # it would not compute so many in one kernel
    assert joined(jax.value_and_grad(loss), (16, 8, 256)) == []  # nor what something else reads
    assert joined(jax.grad(partial(loss, f=lambda h: h @ jnp.ones((256, 256), h.dtype))), (16, 8, 256)) == []
    x = jnp.asarray(np.random.default_rng(0).normal(size=(64, 8, 256)), jnp.float32)
    expected = jax.jit(jax.grad(loss))(x)
    np.testing.assert_allclose(jax.jit(bsj.fuse_slices(jax.grad(loss)))(x), expected, rtol=1e-6)
