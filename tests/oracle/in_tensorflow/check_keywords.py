"""A wrong keyword is answered with the nearest right one, as everywhere else."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from misspelt_keywords import check_module

NAMES = {
    "Status", "build", "enabled", "install", "multi_slice", "multi_slice_grad", "slice", "slice_grad", "status",
    "uninstall",
}  # fmt: skip


def test_every_function_names_the_right_keyword() -> None:
    assert check_module("backslice.tensorflow") >= NAMES
