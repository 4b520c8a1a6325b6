"""Deprecated names of modules, which work and warn at the caller's line.

if not TYPE_CHECKING:
    __getattr__ = deprecated_names(__name__, {"old": (new, "new")})
"""

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["deprecated_names"]


def deprecated_names(
    module: str, names: Mapping[str, tuple[Any, str]], removed_in: str = "0.5"
) -> Callable[[str], Any]:
    """Return a module's ``__getattr__`` for deprecated names, each with its value and what to use instead."""

    def get_deprecated(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules[module])
        value, instead = names[name]
        message = f"{module}.{name} is deprecated and removed in {removed_in}; use {instead}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return value

    return get_deprecated
