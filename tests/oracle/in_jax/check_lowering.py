"""Which gradients are calls of ours: those that XLA's own operations are slower for."""

import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest


def is_called(shape: tuple[int, ...], *texts: str) -> bool:
    def gradient(*dys):
        return bsj.multi_slice_grad(shape, list(zip(texts, dys, strict=True)))

    x = np.empty(shape, np.float32)
    dys = [jax.ShapeDtypeStruct(eval(f"x[{text}]", {"x": x}).shape, jnp.float32) for text in texts]
    return "backslice_multi_slice_grad" in jax.jit(gradient).lower(*dys).as_text()


@pytest.mark.parametrize(
    ("shape", "texts", "called"),
    [
        ((64, 64), ["1:3"], False),
        ((64, 64), [f"{row}" for row in range(64)], True),
        ((1024, 1024), ["::2"], False),
        ((1024, 1024), ["256:768"], False),
        ((1024, 1024), ["256:768", "0:512"], True),
        ((1024, 1024), [":, ::2"], True),
        ((1024, 1024), ["100:900, 200:800"], True),
        ((1024, 1024), [":, ::-1"], True),
        ((65536, 16), ["::2"], True),
        ((4096, 4096), ["1024:3072"], True),
    ],
)
def test_gradients_are_calls_where_that_pays(shape: tuple[int, ...], texts: list[str], called: bool) -> None:
    assert is_called(shape, *texts) == called


def calls_of_windows(extents: list[int], f=lambda y: y**2) -> int:
    """The gradient of windows that end where their array does."""

    def loss(x):
        return sum(jnp.sum(f(x[-extent:])) for extent in extents)

    x = jax.ShapeDtypeStruct((128, 256), jnp.float32)
    return jax.jit(bsj.fuse_slices(jax.grad(loss))).lower(x).as_text().count("backslice_multi_slice_grad")


def test_windows_that_xla_computes_inside_their_sum_are_its_own() -> None:
    assert calls_of_windows([*range(60, 76)]) == 0
    assert calls_of_windows([*range(60, 67)]) == 1  # few kernels
    assert calls_of_windows([*range(1, 17)]) == 1  # small parts, of which XLA's sum would look at all
    assert calls_of_windows([64] * 16) == 1  # of one shape
    assert calls_of_windows([*range(60, 76)], lambda y: y @ jnp.ones((256, 256), y.dtype)) == 1  # computed before
