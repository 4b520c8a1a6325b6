"""Training steps that are captured into CUDA graphs, and replayed with other values."""

from collections.abc import Callable
from typing import Any

import backslice.torch as bt
import torch
from backslice.torch import counting
from tensors import leaf, slices_of

Step = Callable[[Any], Any]


def through_slices(x: Any) -> Any:
    return slices_of(x)


def through_many_slices(x: Any) -> Any:
    parts = bt.multi_slice(x, [(slice(None), t) for t in range(x.shape[1])])
    turned = bt.slice(x, (slice(None), slice(None, None, -1)))
    return sum((part * part * (t + 1)).sum() for t, part in enumerate(parts)) + (turned * turned).sum()


def captured(x: Any, step: Step) -> torch.cuda.CUDAGraph:
    """A graph of the step, after which `x.grad` holds the gradient; warmed up as PyTorch asks."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            x.grad = None
            step(x).backward()
    torch.cuda.current_stream().wait_stream(side)
    x.grad = None
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step(x).backward()
    return graph


def test_other_work_between_replays_does_not_disturb_the_graph() -> None:
    x = leaf(16, 24, 8)
    with bt.enabled():
        graph = captured(x, through_slices)
        for _ in range(5):
            other = leaf(16, 24, 8)
            slices_of(other).backward()
            torch.full((2**16,), 7.0, device="cuda")
            graph.replay()
            (expected,) = torch.autograd.grad(slices_of(x), x)
            assert torch.equal(x.grad, expected)


def test_graphed_callables() -> None:
    def make() -> Any:
        torch.manual_seed(0)
        return torch.nn.Linear(8, 8).cuda().double()

    class Steps(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = make()

        def forward(self, x: Any) -> Any:
            y = self.inner(x)
            return sum(torch.tanh(y[:, t] * (t + 1)) for t in range(x.shape[1]))

    x = leaf(4, 6, 8)
    plain = Steps()
    plain(x).sum().backward()
    expected, x.grad = x.grad, None
    with bt.enabled():
        counting.reset()
        graphed = torch.cuda.make_graphed_callables(Steps(), (x.detach().clone().requires_grad_(),))
        graphed(x).sum().backward()
        assert counting.taken["select_backward", "CUDA"] > 0
    assert torch.allclose(x.grad, expected, rtol=1e-12)
