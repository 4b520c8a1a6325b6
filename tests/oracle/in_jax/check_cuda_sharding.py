"""Programs for CUDA devices that XLA divides, run by the CPU's handlers of the same names, on eight devices."""

import os
import re

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"

import backslice as bs
import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backslice.jax import handlers, lowering, on_cuda
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

SHAPE = (16, 8, 6)
X = np.random.default_rng(0).normal(size=SHAPE)
INDICES = [np.s_[3:11, :, ::2], np.s_[::-2, :, None, 1], np.s_[5]]  # all of them take axis 1 whole
EXPECTED = bs.multi_slice_grad(SHAPE, [(index, X[index]) for index in INDICES])
GRADIENT = {"backslice_multi_slice_grad"}


@pytest.fixture(autouse=True)
def as_on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules for CUDA, without the memory for tables, of which the CPU's handlers know nothing."""
    monkeypatch.setattr(lowering, "_platforms", lambda ctx: {"cuda"})
    monkeypatch.setattr(lowering, "_is_handled", lambda platform: True)
    monkeypatch.setattr(handlers, "scratch", lambda *_: [])
    for name in ("gradient_pays", "addition_pays", "slices_pay"):
        monkeypatch.setattr(on_cuda, name, lambda *_: True)
    jax.clear_caches()


def calls(program) -> set[str]:
    return set(re.findall(r'custom_call_target="(backslice_\w+)"', program.as_text()))


@pytest.mark.parametrize(
    ("spec", "called"),
    [
        (P(), GRADIENT),
        (P(None, "a"), GRADIENT),  # each device has some of an axis that the slices take whole
        (P(None, ("a", "b")), GRADIENT),
        (P("a"), set()),
        (P("a", "b"), set()),
        (P(("a", "b")), set()),
        (P(None, None, "b"), set()),
    ],
    ids=str,
)
def test_gradients_are_computed_where_they_lie(mesh, spec: P, called: set[str]) -> None:
    wanted = NamedSharding(mesh, spec)
    dys = [jnp.asarray(X[index]) for index in INDICES]
    f = jax.jit(lambda *dys: bsj.multi_slice_grad(SHAPE, list(zip(INDICES, dys, strict=True))), out_shardings=wanted)
    program = f.lower(*dys).compile()
    assert calls(program) == called
    assert "all-gather" not in program.as_text()
    result = program(*dys)
    assert result.sharding.is_equivalent_to(wanted, 3)
    np.testing.assert_array_equal(result, EXPECTED)


@pytest.mark.parametrize("spec", [P(None, "a"), P("a", "b"), P("b"), P()], ids=str)
def test_grad_of_slices_and_of_fused_functions(mesh, spec: P) -> None:
    def loss(slices):
        return sum(jnp.sum(jnp.sin(y)) for y in slices)

    x = jax.device_put(X, NamedSharding(mesh, spec))
    expected = jax.grad(lambda x: loss([x[i] for i in INDICES]))(X)
    of_slices = jax.grad(lambda x: loss(bsj.multi_slice(x, INDICES)))
    fused = bsj.fuse_slices(jax.grad(lambda x: loss([x[i] for i in INDICES])))
    for f in (of_slices, fused):
        np.testing.assert_allclose(jax.jit(f)(x), expected, rtol=1e-12)


def test_sums_in_loops(mesh) -> None:
    def loss(x):
        return jax.lax.scan(lambda c, k: (c + k * jnp.sum(jnp.sin(x[3:9, 2])), None), 0.0, jnp.arange(4.0))[0]

    x = jax.device_put(X, NamedSharding(mesh, P("a", "b")))
    np.testing.assert_allclose(jax.jit(bsj.fuse_slices(jax.grad(loss)))(x), jax.grad(loss)(X), rtol=1e-12)
