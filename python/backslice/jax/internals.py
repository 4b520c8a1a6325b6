"""JAX's private names. Each is looked up at first use; without it, JAX does more of the work itself.

- the primitives that must know the devices while they are lowered: without it, programs that XLA divides among devices
  consist of JAX's own operations.
- the rules that add gradients to a Ref: without it, such a gradient is computed first and then added.
- the callbacks of custom_partitioning: without it, JAX's persistent cache never has a program that XLA divides.
"""

from importlib import import_module
from typing import Any


def find(module: str, name: str) -> Any:
    """Return what a module of JAX has under a name, or None."""
    try:
        return getattr(import_module(f"jax._src.{module}"), name, None)
    except ImportError:
        return None


def primitives_that_need_devices() -> set[Any] | None:
    found: set[Any] | None = find("dispatch", "prim_requires_devices_during_lowering")
    return found


def rules_for_refs() -> dict[Any, Any]:
    found = find("interpreters.ad", "fancy_transposes")
    return {} if found is None else found


def callbacks_of_partitioning() -> Any:
    return find("custom_partitioning", "_sharding_callbacks")
