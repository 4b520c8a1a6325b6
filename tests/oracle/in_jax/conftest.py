import jax
import pytest
from backslice.jax import lowering

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)


@pytest.fixture(params=["handlers", "native"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to run a slice of any size: by a handler, and by JAX's own operations."""
    least = 0 if request.param == "handlers" else 1 << 60
    monkeypatch.setattr(lowering, "LEAST_BYTES_OF_SLICES", least)
    monkeypatch.setattr(lowering, "LEAST_BYTES_OF_GRADIENTS", least)
    monkeypatch.setattr(lowering, "BYTES_OF_ONE_SLICE_OF_ROWS", least)
    jax.clear_caches()
    return request.param


@pytest.fixture(scope="module")
def mesh():
    """A mesh of the devices that files with this fixture request from XLA."""
    assert jax.device_count() == 8
    return jax.make_mesh((4, 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


@pytest.fixture(scope="module")
def explicit_mesh():
    """A mesh with the defaults of jax.make_mesh: shardings belong to types."""
    mesh = jax.make_mesh((4, 2), ("a", "b"))
    assert set(mesh.axis_types) == {jax.sharding.AxisType.Explicit}
    return mesh
