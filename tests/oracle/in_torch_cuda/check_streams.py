"""Streams: a result of one stream that another reads is complete, and its memory is not reused meanwhile."""

from collections.abc import Callable
from typing import Any

import backslice.torch as bt
import torch
from tensors import leaf, same_both_ways, slices_of, whole_numbers

LONG = 20_000_000  # cycles: some milliseconds


class Slow(torch.autograd.Function):
    """Passes a gradient on that is computed late, by a kernel that keeps its stream busy."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        torch.cuda._sleep(LONG)
        return g * 1


def churn() -> None:
    """Write to freed memory on the current stream."""
    for size in (12, 21, 84, 4096, 2**18):
        for _ in range(4):
            torch.full((size,), 77.0, dtype=torch.float64, device="cuda")


def run_on(stream: Any, call: Callable[[], Any]) -> Any:
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        return call()


def slow_slices(y: Any) -> Any:
    return sum((Slow.apply(y[:, t]) * (t + 1)).sum() for t in range(y.shape[1]))


def test_forward_on_a_side_stream_and_backward_on_the_default_one() -> None:
    def run() -> Any:
        side = torch.cuda.Stream()
        x = leaf(4, 7, 3)
        loss = run_on(side, lambda: slow_slices(x))
        torch.cuda.current_stream().wait_stream(side)
        loss.backward()
        churn()
        return x.grad.clone()

    same_both_ways(run)


def test_slices_on_several_streams_of_one_tensor() -> None:
    def run() -> Any:
        x = leaf(4, 8, 3)
        streams = [torch.cuda.Stream() for _ in range(4)]
        losses = [
            run_on(stream, lambda i=i: sum((Slow.apply(x[:, t]) * (t + 1)).sum() for t in (2 * i, 2 * i + 1)))
            for i, stream in enumerate(streams)
        ]
        for stream in streams:
            torch.cuda.current_stream().wait_stream(stream)
        sum(losses).backward()
        for stream in streams:
            run_on(stream, churn)
        churn()
        return x.grad.clone()

    for _ in range(3):
        same_both_ways(run)


def test_what_was_sliced_was_made_on_another_stream() -> None:
    """The sum is read on a stream on which none of its slices was made."""

    def run() -> Any:
        x = leaf(4, 7, 3)
        a, b = torch.cuda.Stream(), torch.cuda.Stream()
        y = run_on(a, lambda: x * 3)
        b.wait_stream(a)
        loss = run_on(b, lambda: slow_slices(y))
        torch.cuda.current_stream().wait_stream(b)
        loss.backward()
        for stream in (a, b):
            run_on(stream, churn)
        return x.grad.clone()

    for _ in range(3):
        same_both_ways(run)


def test_gradients_given_on_a_side_stream() -> None:
    def run() -> Any:
        x = leaf(256, 16, 64)
        side = torch.cuda.Stream()

        def backward() -> Any:
            torch.cuda._sleep(LONG)
            dys = [whole_numbers(256, 64) for _ in range(16)]
            (dx,) = torch.autograd.grad([x[:, t] for t in range(16)], x, dys)
            del dys
            churn()
            return dx

        dx = run_on(side, backward)
        torch.cuda.current_stream().wait_stream(side)
        return dx.clone()

    same_both_ways(run)


def test_slices_that_say_what_they_are_on_a_side_stream() -> None:
    x = leaf(64, 40, 32)
    side = torch.cuda.Stream()

    def step() -> Any:
        torch.cuda._sleep(LONG)
        parts = bt.multi_slice(x, [(slice(None), t) for t in range(40)])
        (dx,) = torch.autograd.grad(sum((part * (t + 1)).sum() for t, part in enumerate(parts)), x)
        turned = bt.slice(x, (slice(None), slice(None, None, -1)))
        return dx, turned.detach(), bt.pad_to(dx[:, 0], x.shape, ":, 3")

    dx, turned, padded = run_on(side, step)
    run_on(side, churn)
    torch.cuda.current_stream().wait_stream(side)
    expected = torch.arange(1, 41, dtype=torch.float64, device="cuda")[None, :, None].expand(64, 40, 32)
    assert torch.equal(dx, expected) and torch.equal(turned, x.detach().flip(1))
    assert torch.equal(padded[:, 3], dx[:, 0]) and int(padded.count_nonzero()) == 64 * 32


def test_many_turns_of_everything(installed: None) -> None:
    """Streams from PyTorch's pool, which come again after 32."""
    torch.manual_seed(3)
    for _ in range(20):
        x = leaf(8, 7, 6)
        with torch.no_grad():
            copy = x.detach().cpu().requires_grad_()
        side = torch.cuda.Stream()
        loss = run_on(side, lambda x=x: slices_of(x[:6]) + slices_of(x * 2))
        torch.cuda.current_stream().wait_stream(side)
        loss.backward()
        churn()
        with torch.autograd.set_grad_enabled(True):
            (slices_of(copy[:6]) + slices_of(copy * 2)).backward()
        assert torch.equal(x.grad.cpu(), copy.grad)
