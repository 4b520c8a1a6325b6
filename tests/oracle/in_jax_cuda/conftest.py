"""backslice.jax on a CUDA device: `python -m pytest -c pytest.ini check_cuda.py`, here, beside a JAX that has one.

XLA puts programs of several kernels into CUDA graphs, with `XLA_FLAGS=--xla_gpu_graph_min_graph_size=1` all of them.
"""

import jax
import pytest
from backslice.jax import on_cuda

jax.config.update("jax_enable_x64", True)


try:
    jax.devices("cuda")
except RuntimeError as error:
    pytest.exit(f"*** NO CUDA DEVICE: NOTHING WAS CHECKED ({error}) ***", returncode=5)


@pytest.fixture(params=["handlers", "native"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How a slice of any size runs: by a handler, by JAX's own operations, or by the choice that users get."""
    if request.param != "chosen":
        for name in ("gradient_pays", "addition_pays", "slices_pay"):
            monkeypatch.setattr(on_cuda, name, lambda *_, called=request.param == "handlers": called)
    jax.clear_caches()
    return request.param
