"""This package and a few others beside a peer's environment, of which all else, NumPy above all, is its own."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp

PYTEST = ("pytest", "_pytest", "pluggy", "iniconfig", "py")


@cache
def folder(names: Sequence[str]) -> Path:
    """A folder for PYTHONPATH that holds those of this environment's packages."""
    made = Path(mkdtemp(prefix="backslice-packages-"))
    for name in names:
        spec = find_spec(name)
        assert spec is not None and spec.origin is not None, name
        module = Path(spec.origin)
        source = module.parent if module.stem == "__init__" else module
        (made / (name + source.suffix)).symlink_to(source)
    return made
