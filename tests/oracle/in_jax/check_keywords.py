"""A wrong keyword is answered with the nearest right one, as everywhere else."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from misspelt_keywords import check_module

NAMES = {
    "fuse_slices",
    "multi_slice",
    "multi_slice_grad",
    "ragged_gradient",
    "slice",
    "slice_grad",
    "sparse_slice_grad",
}


def test_every_function_names_the_right_keyword() -> None:
    assert check_module("backslice.jax") >= NAMES
