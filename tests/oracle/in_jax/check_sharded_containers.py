"""Gradients of sparse and ragged tensors, and of slices in a scan, in programs that are divided among eight devices."""

from contextlib import nullcontext

import backslice as bs
import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from check_sharding import SHAPE, X, calls, compiled, gathers
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

ENTRIES, START, TAKEN = np.argwhere(np.ones((4, 4))), np.array([1, 0]), np.argwhere(np.ones((2, 4)))
GRAD = np.random.default_rng(1).normal(size=(8, 2))


@pytest.mark.parametrize("kind", ["mesh", "explicit_mesh"])
@pytest.mark.parametrize("specs", [(P("a"), P(), P()), (P("a", "b"), P("a"), P("a")), (P(), P("b"), P())], ids=str)
def test_sparse_gradients_of_sharded_arrays(request, kind: str, specs: tuple[P, P, P]) -> None:
    """Every device gets all of them."""
    mesh = request.getfixturevalue(kind)
    with jax.set_mesh(mesh) if kind == "explicit_mesh" else nullcontext():
        grad, entries, taken = (
            jax.device_put(a, NamedSharding(mesh, spec)) for a, spec in zip((GRAD, ENTRIES, TAKEN), specs, strict=True)
        )
        expected = bs.sparse_slice_grad(GRAD, ENTRIES, START, TAKEN)
        values = jax.jit(bsj.sparse_slice_grad)(grad, entries, START, taken)
        np.testing.assert_array_equal(values, expected)
        assert values.sharding.is_fully_replicated
        back = jax.jit(jax.grad(lambda grad: jnp.sum(bsj.sparse_slice_grad(grad, entries, START, taken) ** 2)))(grad)
        np.testing.assert_allclose(back, 2 * GRAD, rtol=1e-12)


@pytest.mark.parametrize("axes", [{"a", "b"}, {"b"}], ids=str)
def test_sparse_gradients_inside_shard_map(mesh, axes: set[str]) -> None:
    def f(grad):
        return bsj.sparse_slice_grad(grad, ENTRIES, START, TAKEN)

    of_columns = jax.shard_map(f, mesh=mesh, in_specs=P(None, "b"), out_specs=P(None, "b"), axis_names=axes)
    np.testing.assert_array_equal(jax.jit(of_columns)(GRAD), bs.sparse_slice_grad(GRAD, ENTRIES, START, TAKEN))
    back = jax.jit(jax.grad(lambda grad: jnp.sum(of_columns(grad) ** 2)))(jnp.asarray(GRAD))
    np.testing.assert_allclose(back, 2 * GRAD, rtol=1e-12)


def test_sparse_gradients_of_entries_that_each_device_has(mesh) -> None:
    """While the gradient is the same on all."""
    f = jax.shard_map(
        lambda grad, entries: bsj.sparse_slice_grad(grad, entries, START, TAKEN),
        mesh=mesh,
        in_specs=(P(), P("a")),
        out_specs=P("a"),
    )
    entries = np.concatenate([ENTRIES] * 4)
    expected = np.concatenate([bs.sparse_slice_grad(GRAD, ENTRIES, START, TAKEN)] * 4)
    np.testing.assert_array_equal(jax.jit(f)(GRAD, entries), expected)
    back = jax.jit(jax.grad(lambda grad: jnp.sum(f(grad, entries) ** 2)))(jnp.asarray(GRAD))
    np.testing.assert_allclose(back, 8 * GRAD, rtol=1e-12)


def test_ragged_gradients_of_sharded_arrays(mesh, way: str) -> None:
    def f(first, last):
        return bsj.ragged_gradient([first, None, last], [0, 5, 8, 16], (16, 8))

    first, last = (jax.device_put(X[:n, :, 0], NamedSharding(mesh, P(None, "b"))) for n in (5, 8))
    program = compiled(f, first, last, out_shardings=NamedSharding(mesh, P("a", "b")))
    if way == "handlers":
        assert calls(program) == {"backslice_shard_of_gradient"} and "all-gather" not in program.as_text()
    np.testing.assert_array_equal(program(first, last), np.concatenate([first, np.zeros((3, 8)), last]))


def test_a_scan_in_a_program_that_is_divided(mesh, way: str) -> None:
    """There, the carried array is added to a gradient shard by shard, not in place."""

    def loss(x):
        return jax.lax.scan(lambda c, k: (c + jnp.sum(jnp.sin(k * x[3:11, ::2])), None), 0.0, jnp.arange(3.0))[0]

    x = jax.device_put(X, NamedSharding(mesh, P("a")))
    program = compiled(bsj.fuse_slices(jax.grad(loss)), x, out_shardings=x.sharding)
    if way == "handlers":
        assert calls(program) == {"backslice_shard_of_gradient"}
    assert not gathers(program.as_text(), SHAPE)
    np.testing.assert_allclose(program(x), jax.grad(loss)(X), rtol=1e-12, atol=1e-12)
