"""Calls of the handlers, in programs that are traced."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import export

from .library import HANDLERS, cuda_scratch
from .selections import Slices, attribute


def slices(slices: Slices, platform: str, x: Any) -> list[Any]:
    shapes = [jax.ShapeDtypeStruct(taken.result_shape, x.dtype) for taken in slices.selections]
    return list(jax.ffi.ffi_call("backslice_multi_slice", shapes)(x, slices=attribute(slices.selections)))


def gradient(slices: Slices, platform: str, *operands: Any) -> Any:
    """Return the sum of dy's, or of an array and the dy's after it."""
    is_added = bool(slices.leading(operands))
    results = [jax.ShapeDtypeStruct(slices.shape, operands[0].dtype), *scratch(slices, platform)]
    name = "backslice_multi_slice_add" if is_added else "backslice_multi_slice_grad"
    call = jax.ffi.ffi_call(name, results, input_output_aliases={0: 0} if is_added else None)
    return call(*operands, slices=attribute(slices.selections), parts=slices.parts())[0]


def scratch(slices: Slices, platform: str) -> list[Any]:
    """The second result of a gradient of several slices on a CUDA device: memory for the tables of its kernel."""
    if platform != "cuda" or len(slices.selections) < 2:
        return []
    return [jax.ShapeDtypeStruct((cuda_scratch(len(slices.selections), len(slices.shape)),), jnp.uint8)]


def export_checks() -> list[Any]:
    """List the checks that ``jax.export`` must leave out to accept calls of backslice's kernels.

    It refuses custom calls whose future it does not know. An exported program runs wherever a version of backslice with
    these kernels has been imported as ``backslice.jax``.

    Returns
    -------
    list of jax.export.DisabledSafetyCheck
        For ``disabled_checks``: one per kernel that a program may call.

    Examples
    --------
    >>> x = jnp.ones((64, 512))
    >>> loss = lambda x: jnp.sum(x[:, 1] ** 2)
    >>> gradient = jax.jit(bsj.fuse_slices(jax.grad(loss)))
    >>> checks = bsj.export_checks()
    >>> export = jax.export.export(gradient, disabled_checks=checks)
    >>> export(x).call(x).sum()
    Array(128., dtype=float32)
    """
    return [export.DisabledSafetyCheck.custom_call(name) for name in HANDLERS]
