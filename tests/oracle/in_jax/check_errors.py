"""What is refused, and how."""

import re

import backslice as bs
import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest

X = jnp.zeros((4, 5))
ONES = jnp.ones(2)

REFUSED = {
    "a traced integer": (lambda: jax.jit(lambda i: bsj.slice(X, i))(1), TypeError, "indices[0][0] is a traced"),
    "a traced bound": (
        lambda: jax.jit(lambda i: bsj.slice(X, (0, slice(i, None))))(1), TypeError, "indices[0][1].start is a traced",
    ),
    "an array": (lambda: bsj.slice(X, jnp.arange(2)), TypeError, "indices[0][0] has shape (2,)"),
    "a list": (lambda: bsj.slice(X, ([0, 1],)), TypeError, "x[...] takes lists and arrays"),
    "out of range": (lambda: bsj.slice(X, 4), IndexError, "4"),
    "too many items": (lambda: bsj.slice(X, (0, 0, 0)), IndexError, "3"),
    "a Selection of another shape": (lambda: bsj.slice(X, bs.Selection.from_index(3, "1")), ValueError, "(4, 5)"),
    "keys": (lambda: bsj.slice(jax.random.split(jax.random.key(0), 3), 1), TypeError, "x has dtype key"),
    "no slices": (lambda: bsj.multi_slice_grad((4,), []), ValueError, "slices is empty"),
    "a dy of another shape": (lambda: bsj.slice_grad(jnp.ones(3), (4,), "1:3"), ValueError, "has shape (3,)"),
    "dy's of two dtypes": (
        lambda: bsj.multi_slice_grad((4,), [("0:2", ONES), ("0:2", ONES.astype(int))]), TypeError, "slices[1][1]",
    ),
    "float8_e8m0fnu, which has no zero": (
        lambda: bsj.slice_grad(jnp.ones(2, jnp.float8_e8m0fnu), (4,), "1:3"), TypeError, "has no zero",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=re.escape(text)):
        call()


def test_refused_while_tracing() -> None:
    with pytest.raises(IndexError):
        jax.make_jaxpr(lambda x: bsj.slice(x, 4))(X)


def test_integers_have_no_gradient_as_in_jax() -> None:
    with pytest.raises(TypeError, match="input dtype"):
        jax.grad(lambda x: bsj.slice(x, 1).sum())(np.zeros(3, int))
