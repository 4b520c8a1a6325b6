"""Whatever holds references, reads or replaces memory: never a wrong gradient."""

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import backslice.torch as bt
import pytest
import torch
from backslice.torch import capture, counting, devices, lazy, slices, sums
from backslice.torch.lazy import LazySliceGrad
from compare import HOLDERS, leaf, same_both_ways, slices_of


def lazily_in_a_hook(look: Callable[[Any], Any]) -> Any:
    """The gradient of x, where a hook is shown that of what was sliced."""
    x = leaf(4, 7, 3)
    y = x * 1
    y.register_hook(look)
    slices_of(y).backward()
    return x.grad


def reading_locals(frame: Any, event: str, argument: Any) -> None:
    """As a debugger or a profiler does: from then on the frame holds what its variables hold."""
    while frame is not None:
        len(frame.f_locals)
        frame = frame.f_back


@pytest.mark.parametrize("hold", [None, *HOLDERS])
def test_who_has_a_gradient_is_noticed(hold: str | None, installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a device, where what nobody else has is kept as it is, and all else is copied."""
    monkeypatch.setattr(devices, "takes", lambda device: device.type == "cpu")
    monkeypatch.setattr(devices, "why_not", lambda device: None)
    kept: list[Any] = []
    x = leaf(4, 5, 3)
    parts = [x[:, t] for t in range(5)]
    for part in parts if hold is not None else ():
        part.register_hook(lambda g: kept.append(HOLDERS[hold](g)))
    sum((part * (t + 2)).sum() for t, part in enumerate(parts)).backward()
    assert counting.events["copies"] == (0 if hold is None else 5)


KEEP = {"the gradient": lambda g: g, "a view": lambda g: g.view(-1), "an export": lambda g: torch.from_dlpack(g)}


@pytest.mark.parametrize("keep", KEEP)
def test_installed_under_a_profiler_that_reads_variables(keep: str) -> None:
    def changed_later() -> Any:
        x, kept = leaf(4, 7, 3), []
        y = x * 1
        late = x * 2  # made before the slices: its gradient is computed after theirs
        late.register_hook(lambda g: [k.fill_(9) for k in kept] and None)
        parts = [y[:, t] * (t + 2) for t in (1, 2, 1)] + [y[1:3] * 2]
        for part in parts:
            part.grad_fn.register_prehook(lambda g: None)
        sliced = [y[:, t] for t in (1, 2, 1)]
        for part in sliced:
            part.register_hook(lambda g: kept.append(KEEP[keep](g)))
        (sum(p.sum() for p in [*parts, *sliced]) + late.sum()).backward()
        assert len(kept) == 3
        return x.grad

    torch.manual_seed(0)
    expected = changed_later()
    sys.setprofile(reading_locals)
    try:
        bt.install()
    finally:
        sys.setprofile(None)
    torch.manual_seed(0)
    assert torch.equal(changed_later(), expected) and counting.taken["select_backward"] > 0
    sys.setprofile(reading_locals)
    try:
        torch.manual_seed(0)
        assert torch.equal(changed_later(), expected)
    finally:
        sys.setprofile(None)


def test_more_references_than_there_can_be_are_not_believed(installed: None) -> None:
    capture.trust("select_backward", (9, 9), 9)
    capture.trust("add", (9, 9), 9)
    assert capture.known["select_backward"] == capture.Known((3, 2), 4) and capture.known["add"].alone == (4, 2)


def test_what_others_do_meanwhile_is_not_measured(installed: None) -> None:
    with capture.Measurement() as seen:
        thread = threading.Thread(target=lambda: slices_of(leaf(4, 7, 3)).backward())
        thread.start()
        thread.join()
        assert seen.take("select_backward") is None
        slices_of(leaf(4, 7, 3)).backward()
        assert seen.take("select_backward") == (3, 2)


@pytest.mark.parametrize("keep", KEEP)
def test_sums_that_hooks_keep_do_not_grow(keep: str) -> None:
    """What a slice's node passes on is that slice's gradient, whatever is added to it later."""

    def run() -> Any:
        x, kept = leaf(4, 7, 3), []
        parts = [x[:, t] for t in (1, 2, 1, 4)] + [x[1:3]]
        for part in parts:
            part.grad_fn.register_hook(lambda gradients, _: kept.append(KEEP[keep](gradients[0])))
        sum((part * (i + 2)).sum() for i, part in enumerate(parts)).backward()
        return x.grad, kept

    same_both_ways(run)


def test_a_sum_that_nobody_has_grows(installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    make = lazy.make
    monkeypatch.setattr(lazy, "make", lambda *arguments: made.append(arguments) or make(*arguments))
    x = leaf(4, 7, 3)
    sum((x[:, t] * (t + 1)).sum() for t in range(7)).backward()
    assert not made and counting.taken["select_backward"] == 7


def test_importing_under_a_profiler_that_reads_variables() -> None:
    program = """
import sys, torch
def profile(frame, event, argument):
    frame.f_locals
sys.setprofile(profile)
import backslice.torch.sums as sums
sys.setprofile(None)
assert sums._ONE_REFERENCE <= 3, sums._ONE_REFERENCE
print(sums._ONE_REFERENCE)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_sum_that_another_one_begins_with_is_not_added_to() -> None:
    made = torch.zeros(4)
    holder: list[Any] = [sums.join(sums.whole(made), sums.leaf(torch.ones(4)))]
    assert sums._own_memory(holder) is made
    other = sums.join(holder[0], sums.leaf(torch.ones(4)))
    assert sums._own_memory(holder) is None
    del other
    inside = sums.placed(sums.identity(1), holder[0].first)
    assert sums._own_memory(holder) is None
    del inside
    assert sums._own_memory(holder) is made


def assign(g: Any, value: Any) -> None:
    g.data = value


ASSIGNMENTS: dict[str, Callable[[Any], Any]] = {
    "data": lambda g: assign(g, torch.full_like(g, 5)),
    "data of another shape": lambda g: assign(g, torch.full((4, 7, 3), 5, dtype=g.dtype).permute(0, 1, 2)),
    "its own data": lambda g: assign(g, g.data * 2),
    "changed data": lambda g: g.data.mul_(3),
    "set_": lambda g: g.set_(torch.full_like(g, 6)),
    "data, then in place": lambda g: (assign(g, torch.full_like(g, 5)), g.add_(1)),
    "resized": lambda g: g.resize_(4, 7, 3),
}


@pytest.mark.parametrize("how", ASSIGNMENTS)
def test_memory_that_a_hook_assigns(how: str) -> None:
    same_both_ways(lambda: lazily_in_a_hook(lambda g: (ASSIGNMENTS[how](g), None)[1]))


@pytest.mark.parametrize("how", ASSIGNMENTS)
def test_memory_that_is_assigned_to_a_gradient_after_the_pass(how: str) -> None:
    def run() -> Any:
        kept: list[Any] = []
        lazily_in_a_hook(kept.append)
        g = kept[0]
        ASSIGNMENTS[how](g)
        view = g[1]
        view += 1
        assert g.data_ptr() == torch.Tensor.data_ptr(g) == view._base.data_ptr()
        return g, g.data, g.numpy().tolist(), g.sum(), torch.from_dlpack(g)

    same_both_ways(run)


def test_assigned_data_shares_memory() -> None:
    def run() -> Any:
        kept: list[Any] = []
        value = torch.ones(4, 7, 3, dtype=torch.float64)

        def look(g: Any) -> None:
            kept.append(g)
            g.data = value
            value.add_(1)

        x_grad = lazily_in_a_hook(look)
        kept[0].mul_(2)
        other = torch.zeros(5, dtype=torch.float32)
        kept[0].data = other
        kept[0].add_(1)
        return x_grad, value, kept[0], kept[0].shape, other

    same_both_ways(run)


def test_a_second_backward_with_create_graph_leaves_an_ordinary_gradient(installed: None) -> None:
    x = leaf(4, 7, 3)
    for _ in range(3):
        slices_of(x).backward(create_graph=True)
        assert type(x.grad) is torch.Tensor
    x.grad = torch.zeros_like(x)
    with torch.enable_grad():
        slices_of(x).backward(create_graph=True)
    assert type(x.grad) is torch.Tensor and x.grad.requires_grad


def test_what_grad_returns_for_leaves_is_an_ordinary_tensor(installed: None) -> None:
    x = leaf(4, 7, 3)
    for options in ({}, {"create_graph": True}, {"materialize_grads": True}):
        (g,) = torch.autograd.grad(slices_of(x), x, **options)
        assert type(g) is torch.Tensor and not x._backward_hooks
        parameter = torch.nn.Parameter(g)
        assert type(parameter) is torch.nn.Parameter and parameter.is_leaf
    y = x * 2
    (g,) = torch.autograd.grad(slices_of(y), y)
    assert type(g) is torch.Tensor and not y._backward_hooks


def test_a_compiled_function_without_breaks_takes_a_gradient() -> None:
    def run() -> Any:
        torch._dynamo.reset()
        x = leaf(4, 7, 3)
        (g,) = torch.autograd.grad(slices_of(x), x)
        return torch.compile(lambda a: (a[:, 1] * 2).sum(), fullgraph=True, backend="aot_eager")(g)

    same_both_ways(run)


def test_hooks_may_be_given_something_lazy(installed: None) -> None:
    kinds: list[type] = []
    lazily_in_a_hook(lambda g: kinds.append(type(g)))
    assert kinds == [LazySliceGrad]  # or these tests would show nothing


@pytest.mark.parametrize("rank", [31, 32, 33, 34])
def test_tensors_of_many_axes(rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> Any:
        x = leaf(*[1] * (rank - 3), 4, 3, 2)
        y = x[..., 1:, :]
        parts = [x[0], x[..., 1], y[..., 0, :], y[0][..., 1:], x[..., 2:, :, :], x.diagonal(0, -1, -2)]
        parts += [x[0][0][0], x[0][0][0][0], y[0][0][0][..., 1:, 1], x.unfold(-2, 2, 1), y.unfold(-1, 2, 1)[..., 1:]]
        sum((part * (i + 2)).sum() for i, part in enumerate(parts)).backward()
        return x.grad

    same_both_ways(run)
    monkeypatch.setattr(slices, "POOLED", 1)
    x = leaf(*[1] * (rank - 1), 4)
    bt.pad_to(bt.slice(x, (..., slice(None, None, -1))), x.shape, ...).sum().backward()
    assert x.grad.eq(1).all()
