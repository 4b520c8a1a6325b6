"""Everything that autograd can do, on a device, with and without backslice; and who holds or changes a gradient."""

import threading
from typing import Any

import backslice.torch as bt
import pytest
import torch
from compare import HOLDERS
from tensors import leaf, same_both_ways, slices_of, whole_numbers
from torch.utils.checkpoint import checkpoint


def gradient(x: Any, **options: Any) -> Any:
    return torch.autograd.grad(slices_of(x), x, **options)[0]


def test_what_grad_returns_for_leaves_is_an_ordinary_tensor(installed: None) -> None:
    """The engine runs in a thread of its own there, and who called it is found nevertheless."""
    x = leaf(4, 7, 3)
    assert type(gradient(x)) is torch.Tensor
    y = x * 2
    for asked in ([x, y], [y], [y, x]):
        found = dict(zip(map(id, asked), torch.autograd.grad(slices_of(y), asked, retain_graph=True), strict=True))
        assert type(found.get(id(x), x)) is torch.Tensor and not x._backward_hooks and not y._backward_hooks
    assert type(torch.autograd.grad(slices_of(y), y)[0]) is torch.Tensor


def test_create_graph_and_second_derivatives() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        first = gradient(x, create_graph=True)
        second = torch.autograd.grad((first[:, 1:] ** 2).sum() + first.sum(), x, create_graph=True)[0]
        return first, second, torch.autograd.grad(second.sum(), x)[0]

    same_both_ways(run)


def test_gradcheck_and_gradgradcheck(installed: None) -> None:
    x = leaf(3, 5, 3)
    assert torch.autograd.gradcheck(slices_of, x, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(slices_of, x, check_batched_grad=True)
    assert bt.status()["slice_backward", "cuda"].taken > 0


def test_accumulation_into_an_existing_gradient() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        for _ in range(3):
            slices_of(x).backward()
        x.grad.zero_()
        slices_of(x).backward()
        return x.grad

    same_both_ways(run)


def test_retain_graph_and_retain_grad() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        y = x * 2
        z = y[:, 1:]
        y.retain_grad()
        z.retain_grad()
        loss = slices_of(y) + slices_of(z)
        loss.backward(retain_graph=True)
        loss.backward()
        return x.grad, y.grad, z.grad

    same_both_ways(run)


def test_hooks_see_what_behaves_as_a_tensor() -> None:
    def run() -> Any:
        x, seen = leaf(4, 7, 3), []
        y = x * 2

        def look(g: Any) -> Any:
            assert isinstance(g, torch.Tensor) and g.is_cuda and g.is_contiguous()
            seen.append((g.clone(), g.cpu().numpy().tolist(), g.sum(), g[0].tolist()))
            return g * 3

        y.register_hook(look)
        x.register_hook(look)
        slices_of(y).backward()
        return seen, x.grad

    same_both_ways(run)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoints(reentrant: bool) -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        checkpoint(slices_of, x * 1, use_reentrant=reentrant).backward()
        return x.grad

    same_both_ways(run)


def test_autocast_and_a_model_with_an_optimizer() -> None:
    def run() -> Any:
        torch.manual_seed(1)
        model = torch.nn.GRUCell(8, 8).cuda()
        x = torch.randn(4, 12, 8, device="cuda", requires_grad=True)
        optimizer = torch.optim.SGD([x, *model.parameters()], 0.1)
        for _ in range(3):
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16):
                state = torch.zeros(4, 8, device="cuda")
                for t in range(12):
                    state = model(x[:, t], state)
            state.float().square().sum().backward()
            optimizer.step()
        return x, [*model.parameters()]

    same_both_ways(run)


def test_custom_functions_get_ordinary_tensors() -> None:
    kinds: list[type] = []

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            kinds.append(type(g))
            return g * 2

    def run() -> Any:
        x = leaf(4, 7, 3)
        slices_of(Twice.apply(x)).backward()
        return x.grad

    same_both_ways(run)
    assert set(kinds) == {torch.Tensor}


def test_compiled_functions() -> None:
    def run() -> Any:
        torch._dynamo.reset()
        x = leaf(4, 7, 3)
        compiled = torch.compile(lambda a: a * 2, backend="eager")
        slices_of(compiled(x)).backward()
        return x.grad

    same_both_ways(run)


def test_threads() -> None:
    def run() -> Any:
        xs = [leaf(4, 7, 3) for _ in range(6)]
        threads = [threading.Thread(target=lambda x=x: slices_of(x).backward()) for x in xs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [x.grad for x in xs]

    same_both_ways(run)


def test_a_tensor_on_the_cpu_in_the_same_graph() -> None:
    def run() -> Any:
        host = torch.randint(-3, 4, (4, 7, 3)).double().requires_grad_()
        x = host.cuda()
        y = (x[:, 1:] * 2).cpu()
        (slices_of(x) + sum((y[:, t] * t).sum() for t in range(6)).cuda()).backward()
        return host.grad

    same_both_ways(run)


# Who holds or changes a gradient


@pytest.mark.parametrize("holder", ["the gradient", "a view", "a detached one"])
def test_what_is_changed_later_changes_nothing(holder: str) -> None:
    def run() -> Any:
        x, kept = leaf(4, 7, 3), []
        y = x * 1
        late = x * 2  # made before the slices: its gradient is computed after theirs
        late.register_hook(lambda g: [k.fill_(9) for k in kept] and None)
        sliced = [y[:, t] for t in (1, 2, 1)]
        for part in sliced:
            part.register_hook(lambda g: kept.append(HOLDERS[holder](g)))
        (sum((p * 2).sum() for p in sliced) + late.sum()).backward()
        assert len(kept) == 3
        return x.grad

    same_both_ways(run)


def test_gradients_that_the_caller_gave_are_left_alone() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        dys = [whole_numbers(4, 3) for _ in range(7)]
        before = [dy.clone() for dy in dys]
        y = x * 1
        y.register_hook(lambda g: [dy.zero_() for dy in dys] and None)
        (dx,) = torch.autograd.grad([y[:, t] for t in range(7)], x, dys)
        assert all(dy.eq(0).all() for dy in dys)
        return dx, before

    same_both_ways(run)


def test_a_dense_gradient_that_a_sum_is_added_to_is_not_changed_where_somebody_has_it() -> None:
    def run() -> Any:
        x, kept = leaf(4, 7, 3), []
        first, second = x[:, 1], x[:, 2]
        doubled = x * 2  # made last: its gradient comes first
        doubled.grad_fn.register_hook(lambda gradients, _: kept.append(gradients[0]))
        (first.square().sum() + second.square().sum() + doubled.sum()).backward()
        return x.grad, kept

    same_both_ways(run)
