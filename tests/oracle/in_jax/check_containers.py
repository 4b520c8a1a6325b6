"""Gradients of sparse and ragged tensors."""

import itertools
from functools import partial

import backslice as bs
import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backslice.jax import matching
from jax.test_util import check_grads

SHAPE = (5, 6)
ENTRIES = np.argwhere(np.random.default_rng(0).random(SHAPE) < 0.6)
START, SIZE = np.array([1, 2]), np.array([3, 3])
INSIDE = np.all((ENTRIES >= START) & (ENTRIES < START + SIZE), axis=1)
TAKEN = ENTRIES[INSIDE] - START
GRAD = np.random.default_rng(1).normal(size=(len(TAKEN), 2))


def gradient(grad, order="in_order"):
    return bsj.sparse_slice_grad(grad, ENTRIES, START, TAKEN, order=order)


@pytest.mark.parametrize("order", ["in_order", "any"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_sparse_gradients_equal_the_librarys(dtype: str, order: str) -> None:
    expected = bs.sparse_slice_grad(GRAD, ENTRIES, START, TAKEN)
    arguments = [np.asarray(a, dtype) for a in (ENTRIES, START, TAKEN)]
    run = jax.jit(lambda grad, *indices: bsj.sparse_slice_grad(grad, *indices, order=order))
    np.testing.assert_array_equal(run(GRAD, *arguments), expected)


def test_sparse_derivatives() -> None:
    check_grads(gradient, (jnp.asarray(GRAD),), order=2)
    [back] = jax.vjp(gradient, jnp.asarray(GRAD))[1](jnp.arange(2.0 * len(ENTRIES)).reshape(-1, 2))
    np.testing.assert_array_equal(back, np.arange(2.0 * len(ENTRIES)).reshape(-1, 2)[INSIDE])


def test_sparse_vmap() -> None:
    batch = jnp.stack([jnp.asarray(GRAD) * k for k in range(3)])
    np.testing.assert_array_equal(jax.vmap(gradient)(batch), jnp.stack([gradient(g) for g in batch]))
    start = jnp.stack([START] * 3)
    each = jax.vmap(lambda grad, start: bsj.sparse_slice_grad(grad, ENTRIES, start, TAKEN))(batch, start)
    np.testing.assert_array_equal(each, jax.vmap(gradient)(batch))


def test_sparse_entries_that_match_nothing_are_an_error() -> None:
    with pytest.raises(jax.errors.JaxRuntimeError, match="backslice"):
        bsj.sparse_slice_grad(jnp.ones(1), [[0, 0]], [0, 0], [[3, 3]]).block_until_ready()


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"order": "none"}, ValueError, "order is 'none'"),
        ({"input_start": [1.0, 2.0]}, TypeError, "input_start has dtype"),
        ({"input_indices": ENTRIES[:, 0]}, ValueError, "input_indices has shape"),
        ({"backprop_val_grad": GRAD[1:]}, ValueError, "backprop_val_grad has shape"),
        ({"input_start": [1]}, ValueError, "one per axis"),
    ],
)
def test_sparse_arguments_that_are_refused(change: dict, error: type[Exception], text: str) -> None:
    given = {"backprop_val_grad": GRAD, "input_indices": ENTRIES, "input_start": START, "output_indices": TAKEN}
    with pytest.raises(error, match=text):
        bsj.sparse_slice_grad(**{**given, **change})


@pytest.mark.parametrize("order", ["in_order", "any"])
def test_sparse_gradients_by_jaxs_own_operations_equal_the_librarys(order: str) -> None:
    """The path of devices without kernels: repeated rows, any order, starts that overflow, both integer widths."""
    random = np.random.default_rng(0)
    own = jax.jit(partial(matching.gradient, in_order=order == "in_order"))
    found = 0
    for rows, wanted, rank in itertools.product((0, 1, 6), (0, 1, 4), (0, 1, 2)):
        for _ in range(12):
            dtype = random.choice(["int32", "int64"])
            entries, start = random.integers(0, 3, (rows, rank)), random.integers(-1, 2, rank)
            taken = entries[np.sort(random.choice(rows, min(rows, wanted), replace=False))] - start
            if random.random() < 0.4:
                taken = random.permutation(taken)
            if random.random() < 0.2 and taken.size:
                start[0], taken[-1, 0] = [np.iinfo(dtype).max] * 2
            indices = [a.astype(dtype) for a in (entries, start, taken)]
            grad = random.normal(size=(len(taken), 2))
            try:
                expected = bs.sparse_slice_grad(grad, *indices, order=order)
            except bs.Error:  # which XLA cannot raise
                continue
            np.testing.assert_array_equal(own(grad, *indices), expected)
            found += 1
    assert found > 200


def test_sparse_gradients_on_other_platforms_are_jaxs_own_operations() -> None:
    arguments = [jnp.asarray(a) for a in (GRAD, ENTRIES, START, TAKEN)]
    for platforms in (("tpu",), ("rocm",), ("cpu", "tpu")):
        text = jax.jit(bsj.sparse_slice_grad).trace(*arguments).lower(lowering_platforms=platforms).as_text()
        assert ("@backslice" in text) == ("cpu" in platforms) and "stablehlo.sort" in text
    lost = matching.gradient(jnp.ones(1), jnp.zeros((1, 2), int), jnp.zeros(2, int), jnp.full((1, 2), 3), in_order=True)
    assert lost.tolist() == [0]  # an error on a CPU


def test_sparse_gradients_in_loops_and_checkpoints() -> None:
    def loss(grad, transform=lambda f: f):
        def step(total, k):
            return total + jnp.sum(jnp.sin(k * gradient(grad))), None

        return jax.lax.scan(transform(step), 0.0, jnp.arange(3.0))[0]

    dense = np.zeros((len(ENTRIES), 2))
    dense[INSIDE] = GRAD
    expected = sum(np.sum(np.sin(k * dense)) for k in range(3))
    back = sum(k * np.cos(k * GRAD) for k in range(3))
    for f in (loss, partial(loss, transform=jax.checkpoint), jax.checkpoint(loss), bsj.fuse_slices(loss)):
        np.testing.assert_allclose(jax.jit(f)(GRAD), expected, rtol=1e-12)
        np.testing.assert_allclose(jax.jit(jax.grad(f))(jnp.asarray(GRAD)), back, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["int4", "uint2", "float4_e2m1fn"])
def test_sparse_gradients_of_packed_elements_are_refused(dtype: str) -> None:
    with pytest.raises(TypeError, match=f"backprop_val_grad has dtype {dtype}, expected one of at least 8 bits"):
        gradient(jnp.asarray(GRAD[:, 0], dtype))


def test_ragged_gradients() -> None:
    pieces = [jnp.ones((2, 3)), None, jnp.full((1, 3), 2.0), jnp.zeros((0, 3))]
    values = jax.jit(lambda pieces: bsj.ragged_gradient(pieces, [0, 2, 5, 6, 6], (6, 3)))(pieces)
    assert values[:, 0].tolist() == [1, 1, 0, 0, 0, 2]


def ragged(pieces):
    return bsj.ragged_gradient([pieces[0], None, pieces[1]], [0, 2, 5, 6], (6, 3))


def test_ragged_derivatives() -> None:
    pieces = [jnp.asarray(np.random.default_rng(k).normal(size=(n, 3))) for k, n in enumerate((2, 1))]
    check_grads(ragged, (pieces,), order=2)
    value, tangent = jax.jvp(ragged, (pieces,), (pieces,))
    np.testing.assert_array_equal(value, tangent)
    first, last = jax.grad(lambda pieces: jnp.sum(ragged(pieces) * jnp.arange(18.0).reshape(6, 3)))(pieces)
    assert first.ravel().tolist() == [*range(6)] and last.ravel().tolist() == [15, 16, 17]


def test_ragged_vmap() -> None:
    batch = [jnp.asarray(np.random.default_rng(k).normal(size=(4, n, 3))) for k, n in enumerate((2, 1))]
    each = jnp.stack([ragged([piece[i] for piece in batch]) for i in range(4)])
    np.testing.assert_array_equal(jax.vmap(ragged)(batch), each)
    assert str(jax.make_jaxpr(jax.vmap(ragged))(batch)).count("= backslice_multi_slice_grad") == 1
    one_for_all = jax.vmap(lambda piece: ragged([piece, batch[1][0]]))(batch[0])
    np.testing.assert_array_equal(one_for_all[2], ragged([batch[0][2], batch[1][0]]))


@pytest.mark.parametrize(
    ("pieces", "splits", "text"),
    [
        ([None], [0, 3], "every piece is None"),
        ([jnp.ones(2)], [0, 3], "has shape"),
        ([jnp.ones(3)], [0, 1, 3], "one more than the 1 pieces"),
        ([jnp.ones(2)], [0, 2], "rise from 0 to 3"),
    ],
)
def test_ragged_arguments_that_are_refused(pieces: list, splits: list[int], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        bsj.ragged_gradient(pieces, splits, (3,))
