"""Names of JAX and jaxlib that are not public. Each is looked up at first use; without it, JAX does more itself.

- the primitives that must know the devices while they are lowered: without it, programs that XLA divides among devices
  consist of JAX's own operations.
- the rules that add gradients to a Ref: without it, such a gradient is computed first and then added.
- the callbacks of custom_partitioning: without it, JAX's persistent cache never has a program that XLA divides.
- the operation of sharding groups: without it, gradients are sharded as out_shardings say, not as their arrays.
"""

from importlib import import_module
from typing import Any


def find(module: str, name: str) -> Any:
    """Return what a module has under a name, or None."""
    try:
        return getattr(import_module(module), name, None)
    except ImportError:
        return None


def primitives_that_need_devices() -> Any:
    return find("jax._src.dispatch", "prim_requires_devices_during_lowering")


def rules_for_refs() -> Any:
    return find("jax._src.interpreters.ad", "fancy_transposes") or {}


def callbacks_of_partitioning() -> Any:
    return find("jax._src.custom_partitioning", "_sharding_callbacks")


def operation_of_sharding_groups() -> Any:
    return find("jaxlib.mlir.dialects.sdy", "sharding_group")
