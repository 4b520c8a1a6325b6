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
