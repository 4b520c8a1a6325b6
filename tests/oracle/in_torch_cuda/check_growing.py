"""Slices that are added to the sum that waits for them on a device, and pass nothing on: on any stream."""

from collections.abc import Callable
from typing import Any

import backslice.torch as bt
import pytest
import torch
from backslice.torch import counting, growing, kernels
from check_streams import LONG, Slow, churn, run_on
from tensors import leaf, same_both_ways, whole_numbers


@pytest.fixture(autouse=True)
def the_first_is_computed_at_once(small_gradients_too: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is shipped, but for small tensors."""
    monkeypatch.setattr(kernels, "MEDIUM_ON_DEVICE", 2**62)


def late_gradients(parts: list[Any]) -> list[Any]:
    """Which are not computed yet when they are given."""
    torch.cuda._sleep(LONG)
    return [whole_numbers(*part.shape) * (t + 1) for t, part in enumerate(parts)]


def test_gradients_that_the_caller_gives_are_added_at_once() -> None:
    def run() -> Any:
        x = leaf(64, 16, 32)
        parts = [x[:, t] for t in range(16)]
        return torch.autograd.grad(parts, x, late_gradients(parts))[0]

    same_both_ways(run)
    assert counting.events["copies"] == 1 and counting.taken_on["select_backward", "CUDA"] == 16


@pytest.mark.parametrize("are_given", [False, True])
@pytest.mark.parametrize("which", [range(16), [15], [14], [7], [0]])
def test_hooks_of_nodes_see_what_they_always_do(which: Any, are_given: bool) -> None:
    def run() -> Any:
        x, seen = leaf(8, 16, 4), list[Any]()
        parts = [x[:, t] for t in range(16)]
        for i in which:
            parts[i].grad_fn.register_hook(lambda gradients, _: seen.append(gradients[0].clone()))
        if are_given:
            (dx,) = torch.autograd.grad(parts, x, late_gradients(parts))
        else:
            (dx,) = torch.autograd.grad(sum((part * (t + 2)).sum() for t, part in enumerate(parts)), x)
        assert len(seen) == len(which)
        return dx, seen

    same_both_ways(run)


def test_slices_and_what_was_sliced_on_several_streams() -> None:
    """None of them is told to wait for the others by the engine, which sees no gradients."""

    def run() -> Any:
        x = leaf(64, 16, 32)
        a, b, c = (torch.cuda.Stream() for _ in range(3))
        y = run_on(a, lambda: x * 3)
        for stream in (b, c):
            stream.wait_stream(a)
        parts = [run_on(b if t % 3 else c, lambda t=t: Slow.apply(y[:, t])) for t in range(16)]
        for stream in (b, c):
            torch.cuda.current_stream().wait_stream(stream)
        (dx,) = torch.autograd.grad(parts, x, late_gradients(parts))
        for stream in (a, b, c):
            run_on(stream, churn)
        churn()
        return dx.clone()

    for _ in range(3):
        same_both_ways(run)


def test_given_gradients_on_a_stream_that_the_slices_were_not_taken_on() -> None:
    def run() -> Any:
        x = leaf(64, 16, 32)
        a, b, c = (torch.cuda.Stream() for _ in range(3))
        y = run_on(a, lambda: x * 3)
        b.wait_stream(a)
        parts = run_on(b, lambda: [y[:, t] for t in range(16)])
        c.wait_stream(b)

        def backward() -> Any:
            dys = late_gradients(parts)
            (dx,) = torch.autograd.grad(parts, x, dys)
            for dy in dys:
                dy.fill_(77)  # after the pass, in the order of this stream
            del dys
            churn()
            return dx

        dx = run_on(c, backward)
        torch.cuda.current_stream().wait_stream(c)
        return dx.clone()

    for _ in range(3):
        same_both_ways(run)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "in place": lambda dy: dy.fill_(9),
    "its data": lambda dy: dy.data.fill_(9),
    "an import": lambda dy: torch.from_dlpack(dy).mul_(3),
}


@pytest.mark.parametrize("how", CHANGES)
def test_given_gradients_that_are_changed_before_and_after_their_turn(how: str) -> None:
    def run() -> Any:
        x = leaf(8, 16, 4)
        parts = [x[:, t] for t in range(16)]
        dys = late_gradients(parts)
        parts[8].register_hook(lambda _: [CHANGES[how](dys[t]) for t in (2, 7, 9, 15)] and None)
        return torch.autograd.grad(parts, x, dys)[0]

    same_both_ways(run)


def test_other_gradients_in_between() -> None:
    def run() -> Any:
        x, host = leaf(8, 16, 4), torch.ones(8, 16, 4, dtype=torch.float64)
        y = x * 1
        total = 0
        for t in range(16):
            total = total + (y[:, t] * (t + 1)).sum() + (y[1:][:, t] * 2).sum()
            if t % 5 == 1:
                total = total + (y * (t + 2)).sum() + (y.cpu() * host).sum().cuda()
        total.backward()
        return x.grad

    for _ in range(5):
        same_both_ways(run)


def test_a_graph_of_gradients_that_are_given() -> None:
    x, dys = leaf(8, 16, 4), [whole_numbers(8, 4) for _ in range(16)]

    def step() -> Any:
        return torch.autograd.grad([x[:, t] for t in range(16)], x, dys)[0]

    with bt.enabled():
        run_on(torch.cuda.Stream(), lambda: [step() for _ in range(3)])
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            dx = step()
    for _ in range(3):
        for dy in dys:
            dy.copy_(whole_numbers(8, 4))
        graph.replay()
        assert torch.equal(dx, torch.stack(dys, 1))


def test_hooks_are_told_on_the_device_as_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradients are held as often in the engine's thread as `install()` sees it in the caller's."""
    adders, make = list[Any](), growing.adder
    monkeypatch.setattr(growing, "adder", lambda *given: adders.append(make(*given)) or adders[-1])
    x = leaf(8, 16, 4)

    def added(hooks: int) -> int:
        """How many gradients pass nothing on: all but the first two, and those whose nodes have hooks."""
        parts = [x[:, t] for t in range(16)]
        for part in parts[:hooks]:
            part.grad_fn.register_hook(lambda *_: None)
        before = sum(adder.added_at_once for adder in adders)
        torch.autograd.grad(parts, x, late_gradients(parts))
        return sum(adder.added_at_once for adder in adders) - before

    with bt.enabled():
        assert added(hooks=0) == 14 and added(hooks=8) == 6
