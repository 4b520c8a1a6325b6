"""backslice beside a peer: a folder for PYTHONPATH, without the packages that the peer has itself."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp

# What the peers' environments lack; all else, NumPy above all, is their own.
ADDED = ("backslice", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")


@cache
def folder() -> str:
    made = Path(mkdtemp(prefix="backslice-beside-"))
    for name in ADDED:
        spec = find_spec(name)
        assert spec is not None and spec.origin is not None, name
        origin = Path(spec.origin)
        (made / (name if origin.stem == "__init__" else origin.name)).symlink_to(
            origin.parent if origin.stem == "__init__" else origin
        )
    return str(made)
