"""What jax.export is to be told about programs that call our kernels."""

from typing import Any

from jax import export

from .library import HANDLERS


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
