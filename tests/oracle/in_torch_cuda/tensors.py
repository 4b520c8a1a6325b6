"""Tensors on the device, and runs without and with backslice."""

from collections.abc import Callable
from typing import Any

import compare
import torch
from compare import slices_of

__all__ = ["leaf", "same_both_ways", "slices_of", "whole_numbers"]


def whole_numbers(*shape: int, dtype: torch.dtype = torch.float64) -> Any:
    """Small ones, whose sums are exact in any order."""
    return torch.randint(-3, 4, shape).to(dtype).cuda()


def leaf(*shape: int, dtype: torch.dtype = torch.float64) -> Any:
    return whole_numbers(*shape, dtype=dtype).requires_grad_()


def same_both_ways(run: Callable[[], Any], is_taken: bool = True) -> Any:
    """Check that `run` returns the same without and with backslice, and that the CUDA kernels ran."""

    def finished() -> Any:
        result = run()
        torch.cuda.synchronize()
        return result

    return compare.same_both_ways(finished, is_taken, "CUDA")
