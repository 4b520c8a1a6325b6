"""Tries the kernels on tensors of a few bytes, to learn how often a gradient is held that nobody else holds."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.utils.dlpack

from . import capture, counting

SMALLEST = 1  # byte; the sizes at which the kernels pay are others

SLICES: dict[str, Callable[[Any], Any]] = {
    "select_backward": lambda x: x[1],
    "slice_backward": lambda x: x[1:3],
    "unfold_backward": lambda x: x.unfold(0, 2, 2),
    "diagonal_backward": lambda x: x.diagonal(),
}


def measure(ops: Sequence[str]) -> None:
    """Has `captured` trust what it sees where nobody holds a gradient, if that differs from where somebody does."""
    with capture.Measurement() as seen:
        for op in ops:
            alone, hook, view, caller, export = (
                _seen(op, seen, how) for how in (_backward, _by_a_hook, _by_a_view, _by_the_caller, _by_an_export)
            )
            if alone is None or any(h is None or capture.are_within(h, alone) for h in (hook, view, caller, export)):
                continue
            capture.trust(op, capture.Known(alone, caller or capture.UNKNOWN))
        if "select_backward" in ops:
            _measure_sums(seen)
    counting.reset()


def _measure_sums(seen: capture.Measurement) -> None:
    """The same for a gradient to which that of a slice is added."""
    kept: list[Any] = []
    holders: list[Callable[[Any], Any]] = [
        kept.append,
        lambda gradient: kept.append(gradient.view(-1)),
        lambda gradient: kept.append(torch.utils.dlpack.to_dlpack(gradient)),
    ]
    _add_a_slice()
    alone = seen.take("add")
    for hold in holders:
        _add_a_slice(hold)
        held = seen.take("add")
        if alone is None or held is None or capture.are_within(held, alone):
            return
    if alone is not None:
        capture.trust("add", capture.Known(alone))


def _add_a_slice(hold: Callable[[Any], Any] | None = None) -> None:
    with torch.enable_grad(), torch.inference_mode(False):
        x = torch.ones(4, 4, requires_grad=True)
        part = x[1]
        doubled = x * 2.0  # made last: its gradient comes first
        if hold is not None:
            doubled.grad_fn.register_hook(lambda gradients, _: hold(gradients[0]))
        (part.sum() + doubled.sum()).backward()


def _backward(op: str, use: Callable[[Any], Any] = lambda y: y * 2.0) -> None:
    with torch.enable_grad(), torch.inference_mode(False):
        x = torch.ones(4, 4, requires_grad=True)
        use(SLICES[op](x)).sum().backward()


def _seen(op: str, seen: capture.Measurement, how: Callable[[str], Any]) -> capture.References | None:
    how(op)
    return seen.take(op)


def _by_a_hook(op: str) -> None:
    kept: list[Any] = []

    def use(y: Any) -> Any:
        y.register_hook(kept.append)
        return y * 2.0

    _backward(op, use)


def _by_a_view(op: str) -> None:
    kept: list[Any] = []

    def use(y: Any) -> Any:
        y.register_hook(lambda gradient: kept.append(gradient.view(-1)))
        return y * 2.0

    _backward(op, use)


def _by_an_export(op: str) -> None:
    kept: list[Any] = []

    def use(y: Any) -> Any:
        y.register_hook(lambda gradient: kept.append(torch.utils.dlpack.to_dlpack(gradient)))
        return y * 2.0

    _backward(op, use)


def _by_the_caller(op: str) -> None:
    with torch.enable_grad(), torch.inference_mode(False):
        y = SLICES[op](torch.ones(4, 4, requires_grad=True))
        torch.autograd.backward([y], [torch.ones_like(y)])
