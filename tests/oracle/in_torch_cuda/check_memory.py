"""Memory of the device: how much is held, and what happens if there is no more."""

from typing import Any

import backslice.torch as bt
import pytest
import torch
from backslice.torch import counting
from tensors import leaf

MIB = 2**20


def peak(run: Any) -> int:
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run()
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated() - before)


def test_a_backward_pass_holds_one_sum_and_the_first_gradient(as_shipped: None) -> None:
    x = torch.zeros(64, 512, 1024, device="cuda", requires_grad=True)  # 128 MiB
    weight = torch.ones(1024, device="cuda")

    def step() -> None:
        x.grad = None
        torch.stack([(x[:, t] * weight).sum() for t in range(512)]).sum().backward()

    with bt.enabled():
        step()
        x.grad = None
        counting.reset()
        with_it = peak(step)
        assert counting.taken["select_backward", "CUDA"] == 511  # the first one is PyTorch's own
    x.grad = None
    without = peak(step)
    assert with_it < 128 * MIB + 128 * MIB + 128 * MIB, with_it / MIB  # the sum, the first gradient, the forward pass
    assert with_it <= without, (with_it / MIB, without / MIB)


def test_no_memory_for_the_sum_is_an_ordinary_error_and_the_next_pass_works() -> None:
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    rows = int(free * 0.45) // 4096  # x takes half of what is there; its gradient does not fit beside a block
    x = torch.zeros(rows, 1024, device="cuda", requires_grad=True)
    block = torch.empty(int(free * 0.2), dtype=torch.uint8, device="cuda")
    with bt.enabled():
        with pytest.raises(torch.OutOfMemoryError):
            (x[:, 3] * 2).sum().backward()
        with pytest.raises(torch.OutOfMemoryError):
            bt.slice(x, ":, 3").sum().backward()
        del block
        assert x.grad is None
        small = leaf(4, 5)
        (small[:, 3] * 2).sum().backward()
        assert small.grad.sum() == 8
        (x[:5, 3] * 2).sum().backward()
        assert float(x.grad[:, 3].sum()) == 10
    del x
    torch.cuda.empty_cache()
