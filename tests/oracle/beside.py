"""Runs backslice beside a peer: in the peer's environment, with this package and pytest added."""

import atexit
import os
import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp

# The packages that peers' environments lack. All others, NumPy above all, are their own.
ADDED = ("backslice", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": ""}


@cache
def folder(*lacking: str) -> Path:
    made = Path(mkdtemp(prefix="backslice-beside-"))
    atexit.register(shutil.rmtree, made)
    for name in (*ADDED, *lacking):
        spec = find_spec(name)
        assert spec is not None and spec.origin is not None, name
        module = Path(spec.origin)
        source = module.parent if module.stem == "__init__" else module
        (made / (name + source.suffix)).symlink_to(source)
    return made


def environment(*lacking: str, **more: str) -> dict[str, str]:
    """Make the additions for a peer's Python. `lacking` are packages that backslice needs and this peer does not
    bring."""
    return os.environ | QUIET | {"PYTHONPATH": str(folder(*lacking))} | more
