"""backslice beside the real TensorFlow: TensorFlow's environment, with this package and pytest added to it."""

import os
from pathlib import Path

import added_packages
from backslice.bench.venvs import ensure


def folder() -> Path:
    return added_packages.folder(("backslice", *added_packages.PYTEST))


def python() -> str:
    return str(ensure("tensorflow"))


def environment(**more: str) -> dict[str, str]:
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": ""}
    return os.environ | quiet | {"PYTHONPATH": str(folder())} | more
