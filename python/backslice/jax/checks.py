"""Self-tests: each handler beside a known result, before the first program calls it.

They run in a thread of their own, since the first program may be in the middle of being traced and lowered: there JAX
has no contexts that the caller has entered.
"""

from functools import cache, partial
from threading import Thread

import jax
import numpy as np

from .._core import Selection
from ..self_test import SelfTest
from . import handlers
from .selections import Slices

X = np.arange(6, dtype=np.float32)
SLICES = Slices((Selection.from_index((6,), slice(1, 4)), Selection.from_index((6,), slice(5, 2, -2))))
DYS = np.array([1, 2, 3], np.float32), np.array([4, 2], np.float32)
DX = np.array([0, 1, 2, 5, 0, 4], np.float32)


CASES = {
    "slices": lambda: [*handlers.slices(SLICES, "cpu", X), X[1:4], X[5:2:-2]],
    "gradient": lambda: [handlers.gradient(SLICES, "cpu", *DYS), DX],
    "addition": lambda: [handlers.gradient(SLICES, "cpu", X, *DYS), X + DX],
}


def _compare(name: str) -> None:
    results = jax.jit(CASES[name])()
    half = len(results) // 2
    for ours, expected in zip(results[:half], results[half:], strict=True):
        if not np.array_equal(ours, expected):
            raise ValueError(f"backslice gives {np.asarray(ours)}, expected {np.asarray(expected)}")


_TESTS = SelfTest("backslice.jax", "JAX's own operations are used", {name: partial(_compare, name) for name in CASES})


def _run() -> None:
    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        _TESTS.passed()


@cache
def passed() -> bool:
    """Run the self-tests at the first call. Those of handlers for CUDA devices are not run, which differ in kernels."""
    thread = Thread(target=_run)
    thread.start()
    thread.join()
    return _TESTS.passed()


def results() -> dict[str, str]:
    return _TESTS.status()
