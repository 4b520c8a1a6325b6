"""Slices whose gradients are added to a sum in autograd's engine: with hooks, threads, failures and all kinds of dy."""

import gc
import signal
import threading
import weakref
from collections.abc import Callable
from typing import Any

import backslice.torch as bt
import pytest
import torch
from backslice.torch import counting, terms
from compare import leaf, same_both_ways, slices_of
from torch.autograd import forward_ad


def parts_of(x: Any) -> list[Any]:
    return [x[:, t] for t in (1, 2, 1, 4)] + [x[1:3], x[:, ::2], x.diagonal(0, 0, 1), x.unfold(1, 2, 2), x[3], x[:, 5]]


def weighted(parts: list[Any]) -> Any:
    return sum((part * (i + 2)).sum() for i, part in enumerate(parts))


def gradients_of(parts: list[Any]) -> list[Any]:
    return [torch.full_like(part, i + 2) for i, part in enumerate(parts)]


WHICH: dict[str, Callable[[int], bool]] = {
    "all": lambda i: True, "the first": lambda i: i == 9, "the second": lambda i: i == 8,
    "one": lambda i: i == 4, "some": lambda i: i % 3 == 0, "the last": lambda i: i == 0,
}  # fmt: skip


@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("result", ["nothing", "another", "changed"])
@pytest.mark.parametrize("are_given", [False, True])
def test_hooks_of_nodes_see_what_they_always_do(which: str, result: str, are_given: bool) -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        y = x * 1
        parts, seen = parts_of(y), []

        def look(gradients: Any, _: Any) -> Any:
            seen.append(gradients[0].clone())
            if result == "changed":
                gradients[0].mul_(3)
            return (gradients[0] * 2,) if result == "another" else None

        for i, part in enumerate(parts):
            if WHICH[which](i):
                part.grad_fn.register_hook(look)
        ys, dys = (parts, gradients_of(parts)) if are_given else (weighted(parts), None)
        (dx,) = torch.autograd.grad(ys, x, dys)
        assert len(seen) == sum(map(WHICH[which], range(len(parts))))
        return dx, seen

    same_both_ways(run, is_taken=which != "all")  # slices whose nodes have hooks are left to PyTorch


def negated(part: Any) -> Any:
    """A function whose gradient is negated when it is read."""
    return (torch.complex(torch.zeros_like(part), part).conj() * (1 + 2j)).sum().real


def test_hooks_of_nodes_whose_gradients_are_negated_when_they_are_read() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        parts, seen = [x[:, t] for t in range(7)], []
        for part in parts:
            part.grad_fn.register_hook(lambda gradients, _: seen.append(gradients[0].clone()))
        sum(map(negated, parts)).backward()
        return x.grad, seen

    same_both_ways(run)


def test_tangents_of_gradients_that_are_given() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        with forward_ad.dual_level():
            parts = [(x * 2)[:, t] for t in range(7)]
            dys = gradients_of(parts)
            dys[3] = forward_ad.make_dual(dys[3], torch.ones_like(dys[3]))
            (dx,) = torch.autograd.grad(parts, x, dys)
            return tuple(forward_ad.unpack_dual(dx))

    same_both_ways(run, is_taken=False)  # forward mode is left to PyTorch


@pytest.mark.parametrize("is_leaf", [True, False])
def test_hessian_vector_products_by_forward_mode(is_leaf: bool) -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x.detach(), torch.arange(84.0, dtype=x.dtype).reshape(x.shape)).requires_grad_()
            y = dual if is_leaf else dual * 1
            (dx,) = torch.autograd.grad(sum((y[:, t] ** 3).sum() for t in range(7)), y)
            return tuple(forward_ad.unpack_dual(dx))

    same_both_ways(run, is_taken=False)  # forward mode is left to PyTorch


@pytest.mark.parametrize("are_given", [False, True])
def test_hooks_from_before_and_removed_ones(are_given: bool) -> None:
    x, seen = leaf(4, 7, 3), list[Any]()
    parts = parts_of(x)
    hooks = [part.grad_fn.register_hook(lambda gradients, _: seen.append(gradients[0].clone())) for part in parts[:5]]
    hooks.append(x.register_post_accumulate_grad_hook(lambda _: None))
    hooks.append(torch.autograd.graph.register_multi_grad_hook(parts, lambda all_of_them: None))
    hooks += [part.grad_fn.register_prehook(lambda _: None) for part in parts]

    def run() -> Any:
        x.grad = None
        seen.clear()
        if are_given:
            torch.autograd.backward(parts, gradients_of(parts), retain_graph=True)
        else:
            weighted(parts).backward(retain_graph=True)
        return x.grad, *seen

    same_both_ways(run)
    for hook in hooks:
        hook.remove()
    same_both_ways(run)


def test_a_hook_that_is_added_by_the_node_itself() -> None:
    def run() -> Any:
        x, seen = leaf(4, 7, 3), list[Any]()
        parts = parts_of(x)

        def add(part: Any) -> None:
            part.grad_fn.register_hook(lambda gradients, _: seen.append(gradients[0].clone()))

        for part in parts[:6]:
            part.grad_fn.register_prehook(lambda _, part=part: add(part))
        weighted(parts).backward()
        assert len(seen) == 6
        return x.grad, seen

    same_both_ways(run)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "in place": lambda dy: dy.fill_(9),
    "its data": lambda dy: dy.data.fill_(9),
    "as an array": lambda dy: dy.numpy().fill(9),
    "a detached one": lambda dy: dy.detach().mul_(3),
}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("is_hook_of_a_node", [False, True])
def test_given_gradients_that_are_changed_before_and_after_their_turn(how: str, is_hook_of_a_node: bool) -> None:
    def run() -> Any:
        x = leaf(4, 9, 3)
        parts = [x[:, t] for t in range(9)]
        dys = gradients_of(parts)

        def change(*_: Any) -> None:
            for t in (2, 3, 6, 7):  # two that are still to come, and two that were
                CHANGES[how](dys[t])

        if is_hook_of_a_node:
            parts[5].grad_fn.register_hook(change)
        else:
            parts[5].register_hook(change)
        return torch.autograd.grad(parts, x, dys)[0]

    same_both_ways(run)


@pytest.mark.parametrize("how", CHANGES)
def test_given_gradients_that_the_hook_of_their_own_node_changes(how: str) -> None:
    def run() -> Any:
        x = leaf(4, 9, 3)
        parts = [x[:, t] for t in range(9)]

        def change(_: Any, dys: Any) -> None:
            CHANGES[how](dys[0])

        for t in (0, 4, 8):
            parts[t].grad_fn.register_hook(change)
        return torch.autograd.grad(parts, x, gradients_of(parts))[0]

    same_both_ways(run)


@pytest.mark.parametrize("others", [1, 2, 6])
@pytest.mark.parametrize("is_kept", [False, True])
def test_hooks_of_nodes_that_drop_the_first_gradients(others: int, is_kept: bool) -> None:
    """The buffer of the engine is still empty when the next slice comes."""

    def run() -> Any:
        x, kept = leaf(4, 7, 3), []

        def drop(gradients: Any, _: Any) -> Any:
            kept.extend(gradients if is_kept else [])
            return (None,)

        y = x * 1
        parts = [y[:, t] for t in range(7)]
        for part in parts[others:]:
            part.grad_fn.register_hook(drop)
        y.register_hook(kept.append)
        found = torch.autograd.grad(parts, [y, x], gradients_of(parts))
        assert all(type(gradient) is torch.Tensor for gradient in [*found, *kept])
        return found, kept

    same_both_ways(run, is_taken=others > 0)


def test_gradients_of_all_kinds_that_are_given() -> None:
    def run() -> Any:
        x = leaf(4, 9, 3)
        parts = [x[:, t] for t in range(9)]
        once = torch.ones(4, 3, dtype=x.dtype)
        base = torch.arange(24, dtype=x.dtype).reshape(8, 3)
        dys = [once, once, once[:1].expand(4, 3), base[::2], base[1::2], base[:4], once.T.contiguous().T]
        dys += [torch.full((4, 3), 5, dtype=x.dtype).requires_grad_(), torch.nn.Parameter(once.clone())]
        found = torch.autograd.grad(parts, x, dys, retain_graph=True)
        empty = [x[:, 3:3], x[:0], x[:, 1]]
        found += torch.autograd.grad(empty, x, [torch.ones_like(part) for part in empty], retain_graph=True)
        scalar = [x[0, 0, 0], x[1, 1, 1], x[0, 0, 0]]
        return [*found, *torch.autograd.grad(scalar, x, [None, torch.full((), 3, dtype=x.dtype), None])]

    same_both_ways(run)


@pytest.mark.parametrize("dtype", [torch.complex128, torch.bfloat16, torch.float32])
def test_other_dtypes(dtype: Any) -> None:
    def run() -> Any:
        x = leaf(4, 7, 3, dtype=dtype)
        parts = parts_of(x)
        dys = [dy.conj() if dtype.is_complex else dy for dy in gradients_of(parts)]
        return torch.autograd.grad(parts, x, dys)[0]

    same_both_ways(run)


def test_gradients_of_other_nodes_in_between() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        y = x * 1
        total = 0
        for t in range(7):
            total = total + (y[:, t] * (t + 1)).sum() + (y[1:][:, t] * 2).sum()
            if t % 3 == 1:
                total = total + (y * (t + 2)).sum() + y.sum() + (y.exp() * 0).sum()
        total.backward()
        return x.grad

    same_both_ways(run)


def test_hooks_that_add_and_slice_while_other_sums_wait() -> None:
    def run() -> Any:
        x, z = leaf(4, 7, 3), leaf(4, 7, 3)
        y = x * 1
        parts, others = [y[:, t] for t in range(7)], [z[:, t] for t in range(7)]
        shape = (4, 7, 3)

        def work(g: Any) -> Any:
            twice = g + g
            return twice + torch.ops.aten.select_backward(twice[:, 2].contiguous(), shape, 1, 2)

        for tensor in (x, y, z):
            tensor.register_hook(work)
        for part in (parts[3], others[3]):
            part.register_hook(lambda g: g + torch.ops.aten.select_backward(g.clone(), shape, 1, 2)[:, 2])
        mixed = [part for pair in zip(parts, others, strict=True) for part in pair]
        torch.autograd.backward(mixed, gradients_of(mixed))
        return x.grad, z.grad

    same_both_ways(run)


def test_a_pass_that_has_ended_leaves_no_graph_behind() -> None:
    def fail(_: Any) -> None:
        raise KeyError("no")

    with bt.enabled():
        x = leaf(4, 7, 3)
        y = x * 1
        parts = [y[:, t] for t in range(7)]
        torch.autograd.grad(parts, x, gradients_of(parts), retain_graph=True)
        mark = y.grad_fn.metadata["mark"] = set()
        alive = weakref.ref(mark)
        del y, parts, mark
        gc.collect()
        assert alive() is None
        parts = [x[:, t] for t in range(7)]
        parts[1].register_hook(fail)
        with pytest.raises(KeyError):
            torch.autograd.grad(parts, x, gradients_of(parts))
        gc.collect()
        assert not terms._passes


def test_nans_are_found_where_they_come_from() -> None:
    def run() -> str:
        x = leaf(4, 7, 3)
        parts = [x[:, t] for t in range(7)]
        parts[2].register_hook(lambda g: g * torch.nan)  # what nodes return is looked at, not what hooks do
        with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError) as raised:
            torch.autograd.grad(parts, x, gradients_of(parts))
        assert "SelectBackward0' returned nan" in str(raised.value)
        return str(raised.value)

    same_both_ways(run)


def test_graphs_of_gradients() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        parts = parts_of(x)
        (dx,) = torch.autograd.grad(sum((part**3).sum() for part in parts), x, create_graph=True)
        return dx, *torch.autograd.grad(weighted(parts_of(dx)), x)

    same_both_ways(run)


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda x: torch.func.grad(lambda x: weighted(parts_of(x * x)))(x),
    "grad of grad": lambda x: torch.func.grad(
        lambda x: torch.func.grad(lambda x: weighted([part**3 for part in parts_of(x)]))(x).square().sum()
    )(x),
    "vmap of grad": lambda x: torch.func.vmap(torch.func.grad(lambda x: weighted(parts_of(x * x))))(
        torch.stack([x, 2 * x])
    ),
    "vjp": lambda x: torch.func.vjp(lambda x: tuple(parts_of(x)), x)[1](tuple(gradients_of(parts_of(x)))),
    "jacrev": lambda x: torch.func.jacrev(lambda x: torch.stack([part.sum() for part in parts_of(x)]))(x),
    "grad of vmap": lambda x: torch.func.grad(
        lambda x: weighted(list(torch.func.vmap(lambda rows: rows[1:] + rows[:-1])(x)))
    )(x),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms(transform: str) -> None:
    def run() -> Any:
        return [found + 0 for found in torch.utils._pytree.tree_leaves(TRANSFORMS[transform](leaf(4, 7, 3).detach()))]

    torch.manual_seed(0)
    expected = run()
    torch.manual_seed(0)
    with bt.enabled():
        assert all(map(torch.equal, run(), expected))


def test_batched_gradients() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        parts = parts_of(x)
        dys = [torch.stack([dy, 2 * dy, -dy]) for dy in gradients_of(parts)]
        return torch.autograd.grad(parts, x, dys, is_grads_batched=True)[0] + 0

    torch.manual_seed(0)
    expected = run()
    torch.manual_seed(0)
    with bt.enabled():
        assert torch.equal(run(), expected)


@pytest.mark.skipif(not hasattr(torch.Tensor, "grad_dtype"), reason="this PyTorch has no gradients of another dtype")
def test_gradients_of_another_dtype_than_the_tensor() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3, dtype=torch.bfloat16)
        x.grad_dtype = torch.float32
        weighted(parts_of(x)).backward()
        return x.grad

    same_both_ways(run)


def test_passes_in_threads_and_inside_one_another() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)

        def work() -> None:
            for _ in range(10):
                parts = parts_of(x)
                torch.autograd.backward([*parts, weighted(parts_of(x * 1))], [*gradients_of(parts), None])

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        y = x * 1

        def inside(g: Any) -> Any:
            with torch.enable_grad():
                return g + torch.autograd.grad(slices_of(x), x)[0][:, 1]

        parts = [y[:, t] for t in range(7)]
        parts[3].register_hook(inside)
        torch.autograd.backward(parts, gradients_of(parts))
        return x.grad

    same_both_ways(run)


def test_a_pass_that_fails_in_the_middle() -> None:
    x = leaf(4, 7, 3)
    parts = [x[:, t] for t in range(7)]

    def fail(_: Any) -> None:
        raise KeyError("no")

    with bt.enabled():
        hook = parts[2].register_hook(fail)
        with pytest.raises(KeyError):
            torch.autograd.backward(parts, gradients_of(parts), retain_graph=True)
        assert x.grad is None
        hook.remove()
        torch.autograd.backward(parts, gradients_of(parts))
    assert torch.equal(x.grad[0, :, 0], torch.arange(2, 9, dtype=x.dtype))


@pytest.mark.parametrize("seed", range(3))
def test_ctrl_c_ends_the_pass_and_is_never_a_wrong_sum(seed: int, installed: None) -> None:
    x = leaf(64, 200, 16)
    expected, interrupts = torch.zeros_like(x), 0
    for t in range(200):
        expected[:, t] = t + 2
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for turn in range(60):
            x.grad = None
            total = weighted([x[:, t] for t in range(200)])
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + (turn * 7 + seed) % 60 * 1e-4)
                total.backward()
            except KeyboardInterrupt:
                interrupts += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert x.grad is None or torch.equal(x.grad, expected)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupts > 5
    assert (x * 1).requires_grad


def test_an_addition_that_fails_is_not_repeated(installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a slice was added when it failed: the sum is given up, and the pass ends."""
    x, done = leaf(4, 7, 3), []
    copied = terms._sum

    def fail(total: Any, term: Any) -> Any:
        done.append(copied(total, term))
        if len(done) == 4:
            raise MemoryError
        return done[-1]

    parts = parts_of(x)
    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(terms, "_sum", fail)
        torch.autograd.backward(parts, gradients_of(parts), retain_graph=True)
    assert x.grad is None
    torch.autograd.backward(parts, gradients_of(parts))
    assert torch.equal(x.grad, torch.autograd.grad(weighted(parts_of(x)), x)[0])


def test_slices_are_added_to_memory_of_their_own() -> None:
    """A hook of a node may keep the gradient of a slice, which stays as it is."""

    def run() -> Any:
        x, kept = leaf(4, 7, 3), []
        parts = parts_of(x)
        for part in parts[::2]:
            part.grad_fn.register_hook(lambda gradients, _: kept.append(gradients[0]))
        torch.autograd.backward(parts, gradients_of(parts))
        assert len({gradient.data_ptr() for gradient in [*kept, x.grad]}) == len(kept) + 1
        return x.grad, kept

    same_both_ways(run)


def test_gradients_are_ordinary_tensors(installed: None) -> None:
    x = leaf(4, 7, 3)
    y = x * 1
    y.retain_grad()
    (captured,) = torch.autograd.grad(weighted(parts_of(y)), y, retain_graph=True)
    weighted(parts_of(y)).backward()
    for gradient in (captured, y.grad, x.grad):
        assert type(gradient) is torch.Tensor and gradient.is_contiguous()
        gradient.untyped_storage().resize_(0)


def test_memory_is_that_of_the_gradient(installed: None) -> None:
    """After the gradient of the first slice nothing of that size is made."""
    x = leaf(64, 50, 16)
    parts = [x[:, t] for t in range(50)]
    made = []
    empty_like = torch.empty_like
    try:
        torch.empty_like = lambda *a, **k: made.append(1) or empty_like(*a, **k)
        torch.autograd.backward(parts, [torch.ones(64, 16, dtype=x.dtype)] * 50)
    finally:
        torch.empty_like = empty_like
    assert not made and counting.taken["select_backward", "CPU"] == 50


def test_slices_and_another_use_make_one_copy(installed: None) -> None:
    x = leaf(64, 50, 16)
    y = x * 1
    made = []
    empty_like = torch.empty_like
    loss = sum((y[:, t] * 2).sum() for t in range(50)) + (y * y).sum()
    try:
        torch.empty_like = lambda *a, **k: made.append(1) or empty_like(*a, **k)
        loss.backward()
    finally:
        torch.empty_like = empty_like
    assert len(made) <= 1 and counting.taken["select_backward", "CPU"] == 50


def test_storages_can_be_resized_at_the_sizes_as_shipped(as_shipped: None) -> None:
    with bt.enabled():
        x = leaf(1024, 2048)
        y = x * 1
        part = y[5:100]
        part.retain_grad()
        (part * 2).sum().backward()
    assert counting.taken["slice_backward", "CPU"] == 1
    for gradient in (x.grad, part.grad):
        gradient.untyped_storage().resize_(0)


def test_mixed_layouts_at_the_sizes_as_shipped(as_shipped: None) -> None:
    """Programs that once had wrong gradients or none."""
    nn = torch.nn

    def normalised() -> Any:
        norm, conv = nn.GroupNorm(8, 64), nn.Conv2d(64, 8, 3, padding=1).to(memory_format=torch.channels_last)
        x = torch.randn(8, 64, 72, 72, requires_grad=True)
        y = norm(x)
        (y[:, :, 4:-4, 4:-4].square().mean() + conv(y).square().mean()).backward()
        return x.grad, norm.weight.grad, conv.weight.grad

    def reshaped() -> Any:
        x = torch.ones(2048 * 2048, requires_grad=True)
        h = x.view(2048, 2048)
        (h[0].sum() + (h * torch.ones(2048, 2048).t()).sum()).backward()
        return x.grad

    same_both_ways(normalised)
    same_both_ways(reshaped)


def test_a_default_device_and_other_modes_of_functions(installed: None) -> None:
    x = leaf(4, 7, 3)
    expected = torch.autograd.grad(weighted(parts_of(x)), x)[0]
    torch.set_default_device("meta")
    try:
        assert torch.equal(torch.autograd.grad(weighted(parts_of(x)), x)[0], expected)
    finally:
        torch.set_default_device(None)
