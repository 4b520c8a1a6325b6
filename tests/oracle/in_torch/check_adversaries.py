"""Random programs with hooks that hold, replace and change gradients: equal with and without backslice."""

import os
import random
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import backslice.torch as bt
import torch
from backslice.torch import counting
from compare import leaf
from programs import cut, program, small, tensor

CASES = int(os.environ.get("BACKSLICE_ORACLE_CASES", "600")) // 4


def start(seed: int) -> Any:
    rng = random.Random(seed)
    return tensor(rng, tuple(rng.randrange(1, 6) for _ in range(rng.randrange(1, 5))))


class Passes(torch.autograd.Function):
    """A custom function in the middle of it, which looks at memory."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        assert type(dy) is torch.Tensor and (dy.numel() == 0 or torch.Tensor.data_ptr(dy) != 0)
        return torch.from_numpy(dy.detach().contiguous().numpy().copy())


def nested(rng: random.Random, x: Any) -> Any:
    """Windows of windows, some of them recursive."""
    total, h = x.sum() * 0, x
    for _ in range(rng.randrange(1, 9)):
        inner = cut(rng, h)
        total = total + (cut(rng, h) * rng.randrange(-2, 3)).sum() + (inner * rng.randrange(3)).sum()
        h = inner if inner.dim() and inner.numel() > 1 else x
    return total


def assign_data(g: Any, rng: random.Random) -> None:
    g.data = small(torch.full(g.shape, rng.randrange(4), dtype=g.dtype))


# What a hook does to a gradient: in place, by assignment, or by what it returns.
CHANGES: list[Callable[[Any, random.Random], Any]] = [
    lambda g, rng: None,
    lambda g, rng: None,
    lambda g, rng: g.add_(1) if torch._debug_has_internal_overlap(g) == 0 else g,
    lambda g, rng: g * 2,
    assign_data,
    lambda g, rng: g.data.fill_(2) if torch._debug_has_internal_overlap(g) == 0 else None,
    lambda g, rng: g.detach().clone(),
    lambda g, rng: torch.ops.aten.alias(g),
    lambda g, rng: g + g,
    lambda g, rng: g.view_as(g),
]


def gradients(seed: int) -> list[Any]:
    """Return the results of a random program and its hooks; an empty list if PyTorch refuses it after a hook."""
    try:
        return _gradients(seed)
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error), seed
        return []


def _gradients(seed: int) -> list[Any]:
    rng = random.Random(seed)
    x, kept = start(seed).requires_grad_(), []

    def hook(g: Any) -> Any:
        what = rng.randrange(4)
        if what == 0:
            kept.append(g)
        if what == 1 and kept:
            other = kept[rng.randrange(len(kept))]
            if torch._debug_has_internal_overlap(other) == 0:
                other.mul_(2)  # passed on already
        return rng.choice(CHANGES)(g, rng) if what == 2 else None

    def look(y: Any) -> Any:
        if y.requires_grad and rng.random() < 0.4 and torch._debug_has_internal_overlap(y) == 0:
            y.register_hook(hook)
        return Passes.apply(y) if rng.random() < 0.1 else y

    loss = program(seed, 10, look=look)(look(x * 1)) + nested(rng, x) * rng.randrange(2) + nested(rng, look(x * 2))
    found = passes(loss, x, rng)
    return [*found, *(k.detach().clone() for k in kept)]


def passes(loss: Any, x: Any, rng: random.Random) -> list[Any]:
    """One of the ways to run backward passes, some several times."""
    way = rng.randrange(5)
    if way == 0:
        loss.backward(create_graph=True)
        first = x.grad
        if first is not None and first.requires_grad:
            x.grad = first.detach().clone()
        (x.sum() * 2 + nested(rng, x)).backward(create_graph=True)
        assert type(x.grad) is torch.Tensor
        return [x.grad.detach().clone()]
    if way == 1:
        loss.backward(retain_graph=True)
        loss.backward()
        assert type(x.grad) is torch.Tensor
        return [x.grad]
    if way == 2:
        (g,) = torch.autograd.grad(loss, x)
        assert type(g) is torch.Tensor
        return [torch.nn.Parameter(g).detach()]
    if way == 3:
        x.grad = torch.full_like(x, 3)
        loss.backward()
        return [x.grad]
    (g,) = torch.autograd.grad(loss, x, create_graph=True, materialize_grads=True)
    return [g.detach().clone(), *torch.autograd.grad((g * g.detach()).sum() + nested(rng, x), x)]


def assert_equal(found: list[Any], expected: list[Any], seed: int) -> None:
    assert len(found) == len(expected), f"seed {seed}"
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape and torch.equal(a, b), f"seed {seed}"


def compare(seeds: range, around: Callable[[Callable[[], Any]], Any] = lambda run: run()) -> None:
    expected = {seed: gradients(seed) for seed in seeds}
    with bt.enabled():
        for seed in seeds:
            assert_equal(around(partial(gradients, seed)), expected[seed], seed)
    assert sum(not found for found in expected.values()) <= len(seeds) // 10
    assert counting.taken["select_backward", "CPU"] > 10 and counting.taken["slice_backward", "CPU"] > 10


def test_programs_with_adversaries() -> None:
    compare(range(CASES))


def test_programs_under_a_profiler_that_reads_variables() -> None:
    def profile(frame: Any, event: str, argument: Any) -> None:
        len(frame.f_locals)

    def profiled(run: Callable[[], Any]) -> Any:
        sys.setprofile(profile)
        try:
            return run()
        finally:
            sys.setprofile(None)

    compare(range(2 * CASES, 2 * CASES + CASES // 4), profiled)


def test_programs_in_threads_that_enable_it_at_once() -> None:
    seeds = range(3 * CASES, 3 * CASES + CASES // 2)
    expected = {seed: gradients(seed) for seed in seeds}
    failures: list[Any] = []

    def work(mine: range) -> None:
        try:
            for seed in mine:
                with bt.enabled():
                    assert_equal(gradients(seed), expected[seed], seed)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seeds[k::3],)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_programs_under_vmap() -> None:
    """PyTorch computes batches of gradients itself; backslice takes the rest."""

    def run(seed: int) -> list[Any]:
        rng = random.Random(seed)
        x = start(seed)
        f = lambda a: nested(random.Random(seed), a * 2) + (cut(random.Random(seed + 1), a) ** 2).sum()  # noqa: E731
        batch = torch.stack([x, small(x * 2)])
        found = [torch.func.grad(f)(x), torch.func.vmap(torch.func.grad(f))(batch)]
        y = leaf(3, 4)
        rows = torch.stack([(y[:, t] * rng.randrange(4)).sum() for t in range(4)])
        return [*found, torch.autograd.grad(rows, y, torch.eye(4, dtype=y.dtype), is_grads_batched=True)[0]]

    seeds = range(CASES // 4)
    torch.manual_seed(0)
    expected = [run(seed) for seed in seeds]
    torch.manual_seed(0)
    with bt.enabled():
        for seed in seeds:
            assert_equal(run(seed), expected[seed], seed)
