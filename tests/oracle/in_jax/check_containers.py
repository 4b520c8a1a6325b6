"""Gradients of sparse and ragged tensors."""

import backslice as bs
import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest
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


def test_ragged_gradients() -> None:
    pieces = [jnp.ones((2, 3)), None, jnp.full((1, 3), 2.0), jnp.zeros((0, 3))]
    values = jax.jit(lambda pieces: bsj.ragged_gradient(pieces, [0, 2, 5, 6, 6], (6, 3)))(pieces)
    assert values[:, 0].tolist() == [1, 1, 0, 0, 0, 2]


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
