"""A dozen small backward passes, without and with backslice's kernels: run by `install()`, in some milliseconds."""

import itertools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from . import counting, kernels


def _time_steps(x: Any) -> Any:
    return sum((x[:, t] * (t + 1)).square().sum() for t in range(x.shape[1]))


def _overlapping(x: Any) -> Any:
    return sum((x[t : t + 3] * (t + 1)).sin().sum() for t in range(x.shape[0] - 2))


def _steps(x: Any) -> Any:
    return (x[:, ::2] * 3).sum() + (x[:, 1::2] * 5).sum() + x[..., -1].exp().sum()


def _other_use_first(x: Any) -> Any:
    return _time_steps(x) + (x * x).sum()


def _other_use_last(x: Any) -> Any:
    total = (x * x).sum()
    return total + _time_steps(x)


def _expanded(x: Any) -> Any:
    return _overlapping(x) + x.sum()


def _turned(x: Any) -> Any:
    y = x.transpose(0, 1)
    return _time_steps(y) + (x * 2).cos().sum()


def _nested(x: Any) -> Any:
    y = x[1:]
    return _time_steps(y) + _overlapping(y[:, 1:]) + x[0].sum()


def _in_place(x: Any) -> Any:
    y = x * 1
    y[:, 0].mul_(2)
    y[1:3].add_(x[1:3])
    return _time_steps(y)


def _through_a_view(x: Any) -> Any:
    y = (x * 1).view(-1).view(x.shape)
    return _time_steps(y) + y.t().contiguous().cos().sum() if y.dim() == 2 else _time_steps(y)


PROGRAMS: tuple[Callable[[Any], Any], ...] = (
    _time_steps, _overlapping, _steps, _other_use_first, _other_use_last, _expanded, _turned, _nested, _in_place,
    _through_a_view,
)  # fmt: skip
SHAPES = ((4, 5, 3), (6, 4))


class SelfTestError(Exception):
    """A gradient is not that of PyTorch, or was not taken."""


def gradients() -> list[Any]:
    """Compute those of all programs, with whatever kernels are in use."""
    return list(itertools.starmap(_gradient, itertools.product(SHAPES, PROGRAMS)))


def compare(ops: Sequence[str], expected: Sequence[Any]) -> None:
    """Compare the gradients bit for bit, as small ones and as large ones. Raises what is wrong."""
    counting.reset()
    for limit in (math.inf, 0):
        kernels.switch_on({"CPU": (limit, limit)})
        for found, wanted in zip(gradients(), expected, strict=True):
            if not torch.equal(found, wanted) or found.stride() != wanted.stride():
                raise SelfTestError(f"a gradient of shape {tuple(wanted.shape)} differs")
    if missing := [op for op in ops if not counting.taken[op, "CPU"]]:
        raise SelfTestError(f"autograd does not use {', '.join(missing)}")


def on_a_new_thread(work: Callable[[], Any]) -> Any:
    """Return what `work` returns on a thread that has no modes, and raise what goes wrong there."""
    counts = counting.snapshot()
    try:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(work).result()
    finally:
        counting.restore(counts)


def _gradient(shape: tuple[int, ...], program: Callable[[Any], Any]) -> Any:
    size = torch.Size(shape).numel()
    x = (torch.arange(size, dtype=torch.float64, device="cpu") / size).reshape(shape).requires_grad_()
    program(x).backward()
    return x.grad
