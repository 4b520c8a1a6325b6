"""Random functions: fuse_slices changes nothing but the order of additions, which does not matter for these numbers."""

import os

# What is compared does not depend on how well XLA optimises, and compiling is most of the time.
os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_backend_optimization_level=0 --xla_force_host_platform_device_count=2"
)

import backslice.jax as bsj
import jax
import numpy as np
import pytest
import random_programs
from backslice.jax import lowering

CASES = int(os.environ.get("BACKSLICE_JAX_CASES", 60))
FIRST = int(os.environ.get("BACKSLICE_JAX_FIRST_CASE", 0))
BATCH = 10


def check(seed: int) -> None:
    names = list(random_programs.transforms)
    transform = random_programs.transforms[names[seed % len(names)]]
    f, x = transform(random_programs.function(seed)), random_programs.argument(seed)
    expected = jax.jit(f)(x)
    got = jax.jit(bsj.fuse_slices(f))(x)
    assert jax.tree.structure(got) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert (a.dtype, a.shape, a.weak_type) == (b.dtype, b.shape, b.weak_type)
        assert not np.any(np.abs(b) > 2**50), "numbers that are not exact"
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("first", range(FIRST, FIRST + CASES, BATCH))
def test_fused_functions_equal_the_originals(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    if first % (2 * BATCH) == 0:
        monkeypatch.setattr(lowering, "LEAST_BYTES_OF_GRADIENTS", 0)
    for seed in range(first, first + BATCH):
        try:
            check(seed)
        except Exception as error:
            error.add_note(f"the case is {seed}")
            raise
    jax.clear_caches()
