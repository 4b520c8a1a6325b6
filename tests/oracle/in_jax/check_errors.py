"""Refused arguments, and their messages."""

import re
import subprocess
import sys

import backslice as bs
import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest

X = jnp.zeros((4, 5))
ONES = jnp.ones(2)

REFUSED = {
    "a traced integer": (lambda: jax.jit(lambda i: bsj.slice(X, i))(1), TypeError, "index[0] is a traced"),
    "a traced bound": (
        lambda: jax.jit(lambda i: bsj.slice(X, (0, slice(i, None))))(1), TypeError, "index[1].start is a traced",
    ),
    "a traced index among several": (
        lambda: jax.jit(lambda i: bsj.multi_slice(X, [0, i]))(1), TypeError, "indices[1][0] is a traced",
    ),
    "a traced index beside its dy": (
        lambda: jax.jit(lambda i: bsj.multi_slice_grad((4,), [(i, 1.0)]))(1), TypeError, "slices[0][0][0] is a traced",
    ),
    "a traced index of a gradient": (
        lambda: jax.jit(lambda i: bsj.slice_grad(1.0, (4,), i))(1), TypeError, "index[0] is a traced",
    ),
    "an array": (lambda: bsj.slice(X, jnp.arange(2)), TypeError, "index[0] has shape (2,)"),
    "a list": (lambda: bsj.slice(X, ([0, 1],)), TypeError, "x[...] takes lists and arrays"),
    "a number that is no integer": (lambda: bsj.slice(X, 1.5), TypeError, "1.5"),
    "an array of a float": (lambda: bsj.slice(X, jnp.float32(1)), TypeError, "index[0] is"),
    "out of range": (lambda: bsj.slice(X, 4), IndexError, "index 4"),
    "out of range among several": (lambda: bsj.multi_slice(X, ["0", 4]), IndexError, "indices[1]"),
    "out of range beside its dy": (lambda: bsj.multi_slice_grad((4,), [(7, 1.0)]), IndexError, "slices[0][0]"),
    "a text that is none": (lambda: bsj.multi_slice(X, ["0", "one"]), ValueError, "indices[1]"),
    "too many items": (lambda: bsj.slice(X, (0, 0, 0)), IndexError, "3"),
    "a Selection of another shape": (lambda: bsj.slice(X, bs.Selection.from_index(3, "1")), ValueError, "index is a"),
    "keys": (lambda: bsj.slice(jax.random.split(jax.random.key(0), 3), 1), TypeError, "x has dtype key"),
    "no array": (lambda: bsj.slice("text", 1), TypeError, "x is str"),
    "no array as dy": (lambda: bsj.slice_grad(object(), (4,), 1), TypeError, "dy is object"),
    "no slices": (lambda: bsj.multi_slice_grad((4,), []), ValueError, "slices is empty"),
    "slices that are no pairs": (lambda: bsj.multi_slice_grad((4,), ["0:2", ONES]), TypeError, "slices[0] is str"),
    "indices that are no list": (lambda: bsj.multi_slice(X, 3), TypeError, "indices is 3"),
    "one text for indices": (lambda: bsj.multi_slice(X, "1:3"), TypeError, "indices is '1:3'"),
    "a dy of another shape": (lambda: bsj.slice_grad(jnp.ones(3), (4,), "1:3"), ValueError, "dy has shape (3,)"),
    "a dy of another shape among several": (
        lambda: bsj.multi_slice_grad((4,), [("0", 1.0), ("1:3", jnp.ones(3))]), ValueError, "slices[1][1] has shape",
    ),
    "dy's of two dtypes": (
        lambda: bsj.multi_slice_grad((4,), [("0:2", ONES), ("0:2", ONES.astype(int))]), TypeError, "slices[1][1]",
    ),
    "a traced shape": (lambda: jax.jit(lambda n: bsj.slice_grad(1.0, (n,), 0))(4), TypeError, "shape[0] is a traced"),
    "a shape of floats": (lambda: bsj.slice_grad(1.0, (2.5,), 0), TypeError, "shape[0] is 2.5"),
    "a negative shape": (lambda: bsj.slice_grad(1.0, (2, -1), 0), ValueError, "shape[1] is -1"),
    "an enormous shape": (lambda: bsj.slice_grad(1.0, (1 << 62, 4), (0, 0)), ValueError, "more than 2**63 - 1"),
    "float8_e8m0fnu, which has no zero": (
        lambda: bsj.slice_grad(jnp.ones(2, jnp.float8_e8m0fnu), (4,), "1:3"), TypeError, "has no zero",
    ),
    "a traced split": (
        lambda: jax.jit(lambda n: bsj.ragged_gradient([ONES], [0, n], (2,)))(2), TypeError, "row_splits[1] is a traced",
    ),
    "pieces of two dtypes": (
        lambda: bsj.ragged_gradient([ONES, None, ONES.astype(int)], [0, 2, 2, 4], 4), TypeError, "pieces[2] has dtype",
    ),
    "a piece that is no array": (lambda: bsj.ragged_gradient([object()], [0, 2], 2), TypeError, "pieces[0] is object"),
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


@pytest.mark.parametrize("name", ["jax.extend.core.primitives.squeeze_p", "jax.interpreters.mlir.register_lowering"])
def test_a_version_of_jax_without_a_name_that_is_used(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    program = f"import jax, {module} as module; del module.{attribute}; import backslice.jax"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    message = done.stderr.splitlines()[-1]
    assert message.startswith("ImportError: backslice.jax is tested with JAX 0.10.2 and 0.11.2, but " + jax.__version__)
    assert attribute in message
