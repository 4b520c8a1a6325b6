"""A dozen small backward passes, without and with backslice's kernels: run by `install()`, in some milliseconds."""

import itertools
import threading
from collections.abc import Callable, Sequence
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


def run(ops: Sequence[str]) -> None:
    """Compare gradients bit for bit, on a new thread, which has no modes. Raises what goes wrong there."""
    errors: list[BaseException] = []
    stop = threading.Event()

    def guarded() -> None:
        counts = counting.snapshot()
        try:
            _compare(ops, stop)
        except BaseException as error:
            errors.append(error)
        finally:
            counting.restore(counts)

    thread = threading.Thread(target=guarded)
    thread.start()
    try:
        thread.join()
    finally:
        stop.set()
        thread.join()
    if errors:
        raise errors[0]


def _compare(ops: Sequence[str], stop: threading.Event) -> None:
    counting.reset()
    for shape, program in itertools.product(SHAPES, PROGRAMS):
        if stop.is_set():
            return
        kernels.switch_off()
        expected = _gradient(program, shape)
        kernels.switch_on({"CPU": (0, 0)})
        found = _gradient(program, shape)
        if not torch.equal(found, expected) or found.stride() != expected.stride():
            raise SelfTestError(f"{program.__name__.strip('_')} of {shape} differs")
    if missing := [op for op in ops if not counting.taken[op, "CPU"]]:
        raise SelfTestError(f"autograd does not use {', '.join(missing)}")


def _gradient(program: Callable[[Any], Any], shape: tuple[int, ...]) -> Any:
    size = torch.Size(shape).numel()
    x = (torch.arange(size, dtype=torch.float64, device="cpu") / size).reshape(shape).requires_grad_()
    program(x).backward()
    return x.grad
