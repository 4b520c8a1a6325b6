"""Random programs have equal gradients with and without backslice."""

import os
import random
from typing import Any

import backslice.torch as bt
import pytest
import torch
from backslice import verify
from backslice.torch import counting
from programs import gradient, program, tensor

CASES = int(os.environ.get("BACKSLICE_ORACLE_CASES", "600"))


def start(seed: int) -> Any:
    rng = random.Random(seed)
    return tensor(rng, tuple(rng.randrange(1, 7) for _ in range(rng.randrange(1, 5))))


def second_gradient(seed: int) -> Any:
    x = start(seed).requires_grad_()
    (first,) = torch.autograd.grad(program(seed)(x) + (program(seed + 1)(x) * x.sum()), x, create_graph=True)
    return torch.autograd.grad(program(seed + 2)(first), x)[0]


def assert_equal_both_ways(compute: Any, seeds: range) -> None:
    without = [compute(seed) for seed in seeds]
    with bt.enabled():
        for seed, expected in zip(seeds, without, strict=True):
            assert torch.equal(compute(seed), expected), f"seed {seed}"
    assert all(counting.taken[op, "CPU"] > 10 for op in ("select_backward", "slice_backward"))


def test_programs() -> None:
    assert_equal_both_ways(lambda seed: gradient(program(seed), start(seed)), range(CASES))


def test_programs_of_the_verifier() -> None:
    report = verify.torch_programs(range(CASES))
    assert report.different == [] and report.taken > report.programs


def test_gradients_of_gradients_of_programs() -> None:
    assert_equal_both_ways(second_gradient, range(CASES // 4))


def test_programs_with_hooks_that_keep_and_change_gradients() -> None:
    def compute(seed: int) -> Any:
        rng, x = random.Random(seed), start(seed).requires_grad_()
        kept: list[Any] = []

        def hook(g: Any) -> Any:
            kept.append(g)
            what = rng.randrange(5)
            if what == 0 and len(kept) > 1:
                kept[rng.randrange(len(kept))].add_(1)  # somebody else's gradient, which was passed on already
            return g * 2 if what == 1 else None

        def hooked(y: Any) -> Any:
            if y.requires_grad and torch._debug_has_internal_overlap(y) == 0:
                y.register_hook(hook)
            return y

        program(seed, look=hooked)(x * 1).backward()
        return torch.cat([x.grad.reshape(-1)] + [k.reshape(-1) for k in kept])

    assert_equal_both_ways(compute, range(CASES // 2))


DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.complex64, torch.complex128)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_that_autograd_takes(dtype: torch.dtype) -> None:
    def run() -> Any:
        x = tensor(random.Random(0), (5, 9, 4), dtype).requires_grad_()
        y = x[:, ::2]
        parts = [x[:, t] * (t % 3) for t in range(9)] + [y[1:, 3], x.unfold(1, 4, 2)[..., 1].sum(1), x.diagonal()]
        total = sum(part.sum() for part in parts)
        (total.real if dtype.is_complex else total).backward()
        return x.grad

    without = run()
    with bt.enabled():
        assert torch.equal(run(), without)
    assert counting.taken["select_backward", "CPU"] > 6
