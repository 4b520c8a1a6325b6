"""backslice beside the real TensorFlow: TensorFlow's environment, with this package and pytest added to it."""

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp

from backslice.bench.venvs import ensure

# What TensorFlow's environment lacks; all else, NumPy above all, is its own.
ADDED = ("backslice", "pytest", "_pytest", "pluggy", "iniconfig", "py")


@cache
def folder() -> Path:
    made = Path(mkdtemp(prefix="backslice-tensorflow-"))
    for name in ADDED:
        spec = find_spec(name)
        assert spec is not None and spec.origin is not None, name
        module = Path(spec.origin)
        source = module.parent if module.stem == "__init__" else module
        (made / (name + source.suffix)).symlink_to(source)
    return made


def python() -> str:
    return str(ensure("tensorflow"))


def environment(**more: str) -> dict[str, str]:
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": ""}
    return os.environ | quiet | {"PYTHONPATH": str(folder())} | more
