"""backslice beside the real PyTorch: its environment, with this package, pytest and what they need added to it."""

import os

import added_packages

ADDED = ("backslice", "ml_dtypes", "pygments", "packaging", *added_packages.PYTEST)


def environment(**more: str) -> dict[str, str]:
    quiet = {"OMP_NUM_THREADS": "2", "CUDA_VISIBLE_DEVICES": ""}
    return os.environ | quiet | {"PYTHONPATH": str(added_packages.folder(ADDED))} | more
