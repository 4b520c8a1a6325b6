"""Tensors on the device, and runs without and with backslice."""

from collections.abc import Callable
from typing import Any

import backslice.torch as bt
import torch
from backslice.torch import counting
from compare import assert_equal, slices_of
from torch.utils._pytree import tree_leaves

__all__ = ["leaf", "same_both_ways", "slices_of", "whole_numbers"]


def whole_numbers(*shape: int, dtype: torch.dtype = torch.float64) -> Any:
    """Small ones, whose sums are exact in any order."""
    return torch.randint(-3, 4, shape).to(dtype).cuda()


def leaf(*shape: int, dtype: torch.dtype = torch.float64) -> Any:
    return whole_numbers(*shape, dtype=dtype).requires_grad_()


def same_both_ways(run: Callable[[], Any], is_taken: bool = True) -> Any:
    """What `run` returns without and with backslice is equal, and with it the CUDA kernels had something to do."""
    torch.manual_seed(0)
    without = tree_leaves(run())
    torch.manual_seed(0)
    with bt.enabled():
        counting.reset()
        result = run()
        taken = sum(count for (_, key), count in counting.taken_on.items() if key == "CUDA")
    torch.cuda.synchronize()
    assert_equal(tree_leaves(result), without)
    assert (taken > 0) == is_taken, (dict(counting.taken_on), counting.left)
    return result
