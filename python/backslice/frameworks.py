"""Imports of frameworks, with instructions in the error if one is missing or too old."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any


def imported(module: str, lead: str, *names: str) -> Any:
    """Return the module. `lead` begins the message if it cannot be imported or lacks one of `names`: who needs what."""
    try:
        found = import_module(module)
    except Exception as error:  # a module that is half installed may raise anything
        reason = type(error).__name__ if "\n" in str(error) else error
        text = f"{lead}, which cannot be imported here; `pip install {module}` installs it ({reason})"
        raise ImportError(text) from error
    repair = f"`pip install --force-reinstall {module}` repairs it"
    is_folder = hasattr(found, "__path__") and getattr(found, "__file__", None) is None
    if is_folder:  # a folder of that name is a package, too
        raise ImportError(f"{lead}, which is incomplete here ({list(found.__path__)}); {repair}")
    for name in names:
        if not hasattr(found, name):
            raise ImportError(
                f"{lead}, but the module {module} has no {name}: its installation is incomplete; {repair}"
            )
    return found


def check_version(found: str, lead: str, oldest: tuple[int, int]) -> None:
    """Refuse a version before `oldest`; `lead` begins the message. Versions that do not begin with two numbers pass."""
    numbers = re.match(r"(\d+)\.(\d+)", found)
    if numbers is not None and (int(numbers[1]), int(numbers[2])) < oldest:
        raise ImportError(f"{lead} {oldest[0]}.{oldest[1]} or later, but {found} is installed")


def adapter_library(path: Path) -> Path:
    """The path of a library that a framework loads, if this build of the package has it."""
    if not path.exists():
        raise ImportError(
            f"{path.name} is not part of this build of backslice. In a source tree, `make adapters` builds it; "
            "otherwise install backslice's wheel, or `pip install .` from its sources"
        )
    return path
