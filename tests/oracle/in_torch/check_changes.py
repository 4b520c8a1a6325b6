"""Gradients that are changed, kept, exported or returned twice while the pass runs: never a wrong sum."""

import gc
import threading
from typing import Any

import numpy as np
import pytest
import torch
from compare import leaf, same_both_ways, slices_of


class Later(torch.autograd.Function):
    """Runs something in the backward pass, as the last node that the loss depends on."""

    @staticmethod
    def forward(ctx: Any, x: Any, what: Any) -> Any:
        ctx.what = what
        return x.clone()

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        ctx.what()
        return dy, None


def changed_later(keep: Any, change: Any) -> Any:
    """Return the gradient of x. `keep` sees the gradients of three slices, and `change` changes them afterwards."""
    x = leaf(4, 7, 3)
    y = Later.apply(x, lambda: None)
    kept: list[Any] = []
    first = Later.apply(
        x * 1, lambda: [change(k[0] if isinstance(k, list) else k) for k in kept]
    )  # made before the slices: its turn comes after theirs
    parts = [y[:, t] for t in (1, 2, 1)]
    for part in parts:
        part.register_hook(lambda g: kept.append(keep(g)))
    (sum((p * (i + 2)).sum() for i, p in enumerate(parts)) + (first * 5).sum()).backward()
    assert len(kept) == 3
    return x.grad


KEEP = {
    "the gradient itself": lambda g: g,
    "a view": lambda g: g[1:],
    "a detached one": lambda g: g.detach(),
    "its data": lambda g: g.data,
    "an alias": lambda g: g.view_as(g),
    "a NumPy array": lambda g: torch.from_numpy(g.numpy()),
    "a DLPack import": lambda g: torch.from_dlpack(g),
    "NumPy's DLPack import": lambda g: torch.from_numpy(np.from_dlpack(g)),
    "a DLPack capsule and the gradient": lambda g: (torch.from_dlpack(torch.utils.dlpack.to_dlpack(g)), g)[0],
    "a DLPack import and the gradient, twice": lambda g: [torch.from_dlpack(torch.utils.dlpack.to_dlpack(g)), g, g],
    "its storage": lambda g: torch.empty(0, dtype=g.dtype).set_(g.untyped_storage()),
}


@pytest.mark.parametrize("keep", KEEP)
@pytest.mark.parametrize("change", [lambda k: k.fill_(99), lambda k: k.copy_(k * 2)], ids=["filled", "doubled"])
def test_what_was_passed_on_is_not_changed_by(keep: str, change: Any) -> None:
    same_both_ways(lambda: changed_later(KEEP[keep], change))


def test_a_gradient_is_given_by_the_caller_who_changes_it_in_a_hook() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        dy = torch.ones(4, 3, dtype=x.dtype)
        memory = np.ones((4, 3))
        others = [torch.from_numpy(memory), torch.ones(8, 3, dtype=x.dtype)[::2]]
        exported = torch.ones(4, 3, dtype=x.dtype)
        imported = torch.from_dlpack(exported)
        y = Later.apply(x, lambda: None)

        def change() -> None:
            for tensor in (dy, *others, imported):
                tensor.fill_(7)
            memory[:] = 8

        z = Later.apply(x * 1, change)
        parts = [y[:, t] for t in range(4)]
        return torch.autograd.grad([*parts, z], x, [dy, *others, exported, torch.ones_like(z)])[0]

    same_both_ways(run)


def test_the_gradient_of_the_pass_is_that_of_the_pass_before() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        slices_of(x).backward()
        for _ in range(3):
            x[:, 1:].backward(x.grad[:, 1:])  # shares memory with what it is added to
            x[1:3].backward(x.grad[1:3].remainder(7))
        return x.grad

    same_both_ways(run)


class Returns(torch.autograd.Function):
    """Its gradient is in memory with another owner."""

    @staticmethod
    def forward(ctx: Any, x: Any, memory: Any) -> Any:
        ctx.memory = memory
        return x.sum()

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        memory = ctx.memory
        return (torch.from_numpy(memory) if isinstance(memory, np.ndarray) else memory), None


@pytest.mark.parametrize("kind", ["tensor", "view", "array", "expanded"])
def test_a_function_that_returns_memory_which_it_changes_later(kind: str) -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        base = torch.ones(5, 3, dtype=x.dtype)
        expanded = base[:1].expand(4, 3)
        kinds = {"tensor": base[:4].clone(), "view": base[1:], "array": np.ones((4, 3)), "expanded": expanded}
        memory = kinds[kind]
        y = Later.apply(x, lambda: None)

        def change() -> None:
            if isinstance(memory, np.ndarray):
                memory[:] = 5
            base.fill_(5)
            if kind == "tensor":
                memory.fill_(5)

        z = Later.apply(x * 1, change)
        (Returns.apply(y[:, 1], memory) + Returns.apply(y[:, 4], memory) + z.sum()).backward()
        return x.grad

    same_both_ways(run)


def triple(parameter: Any) -> None:
    parameter.grad.mul_(3)


def test_one_gradient_for_several_tensors_that_hooks_change() -> None:
    def run() -> Any:
        x, c, d = leaf(4, 7, 3), leaf(4, 3), leaf(12)
        for tensor in (c, d):
            tensor.register_post_accumulate_grad_hook(triple)
        y = x * 2
        for t in range(7):
            part = y[:, t]
            (((part + c).reshape(-1) + d) * (t + 1)).sum().backward(retain_graph=True)
        total = sum((y[:, t].reshape(-1) + d).sum() + (y[:, t] + c).sum() for t in range(7))
        total.backward()
        return x.grad, c.grad, d.grad

    same_both_ways(run)


def test_a_pass_inside_a_pass() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        other = leaf(4, 7, 3)

        def inner(g: Any) -> Any:
            with torch.enable_grad():
                (slices_of(other) + (other[:, 1] * g[:, 1].detach()).sum()).backward()
            return g + other.grad

        y = x * 1
        y.register_hook(inner)
        (y[:, 1] * 1).register_hook(inner)
        slices_of(y).backward()
        return x.grad, other.grad

    same_both_ways(run)


def test_a_pass_that_fails_leaves_nothing_behind(installed: None) -> None:
    x = leaf(4, 7, 3)
    kept = []

    def fail(g: Any) -> None:
        kept.append(g)
        raise KeyError("no")

    for _ in range(3):
        y = x * 1
        y.register_hook(fail)
        with pytest.raises(KeyError):
            slices_of(y).backward()
    assert x.grad is None
    expected = torch.autograd.grad(slices_of(x), x)[0]
    assert torch.equal(kept[0] + 0, expected) and torch.equal(kept[1] + kept[2], 2 * expected)
    gc.collect()


def test_threads_that_share_a_parameter() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)

        def work() -> None:
            for _ in range(10):
                slices_of(x * 1).backward()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return x.grad

    same_both_ways(run)


class Gives(torch.autograd.Function):
    """Its gradient is new, and a hook sees it before it is passed on."""

    @staticmethod
    def forward(ctx: Any, x: Any, show: Any) -> Any:
        ctx.show = show
        return x * 2

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        gradient = dy * 2
        ctx.show(gradient)
        return gradient, None


def dense_then_slices(show: Any) -> Any:
    x = leaf(4, 7, 3)
    y = x * 1
    parts = [y[:, t] * (t + 1) for t in (1, 2, 1)]
    total = Gives.apply(y, show).square().sum()  # made last: its gradient comes first
    (total + sum(part.sum() for part in parts)).backward()
    return x.grad


@pytest.mark.parametrize("keep", KEEP)
def test_slices_are_not_added_to_a_gradient_that_somebody_keeps_as(keep: str) -> None:
    def run() -> Any:
        kept: list[Any] = []
        dx = dense_then_slices(lambda g: kept.append(KEEP[keep](g)))
        return dx, kept

    same_both_ways(run)


def test_slices_are_not_added_to_what_a_hook_adds_them_to() -> None:
    def run() -> Any:
        exported: list[Any] = []

        def new(g: Any) -> Any:
            made = torch.ones(g.shape, dtype=g.dtype)
            exported.append(torch.from_dlpack(torch.utils.dlpack.to_dlpack(made)))
            return made

        x = leaf(4, 7, 3)
        y = x * 1
        y.register_hook(lambda g: new(g) + g)
        slices_of(y).backward()
        return x.grad, exported

    same_both_ways(run)


def test_the_graph_may_be_used_again_after_slices_were_added_to_a_gradient() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        y = x * 1
        total = sum((y[:, t] * (t + 1)).sum() for t in range(7)) + (y + y.relu()).pow(2).sum() + y.exp().sum().floor()
        found = []
        for _ in range(3):
            total.backward(retain_graph=True)
            found.append(torch.autograd.grad(total, x, retain_graph=True)[0])
        return x.grad, found

    same_both_ways(run)
