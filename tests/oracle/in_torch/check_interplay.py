"""Everything that autograd can do, with and without backslice."""

from typing import Any

import backslice.torch as bt
import pytest
import torch
from compare import leaf, same_both_ways, slices_of
from torch.utils.checkpoint import checkpoint


def gradient(x: Any, **options: Any) -> Any:
    return torch.autograd.grad(slices_of(x), x, **options)[0]


def test_backward_leaves_an_ordinary_gradient() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        slices_of(x).backward()
        assert type(x.grad) is torch.Tensor
        return x.grad

    same_both_ways(run)


def test_grad() -> None:
    same_both_ways(lambda: gradient(leaf(4, 7, 3)))


def test_grad_of_several_tensors_among_them_slices() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        y = x[:, 1:]
        z = y[:, :, 1]
        loss = sum((y[:, t] ** 2).sum() for t in range(6)) + (z**3).sum() + (x[2] * 5).sum()
        return torch.autograd.grad(loss, [x, y, z])

    same_both_ways(run)


def test_create_graph() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        first = gradient(x, create_graph=True)
        second = torch.autograd.grad((first[:, 1:] ** 2).sum() + first.sum(), x, create_graph=True)[0]
        return first, second, torch.autograd.grad(second.sum(), x)[0]

    same_both_ways(run)


def test_backward_with_create_graph_into_an_existing_gradient() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        slices_of(x).backward(create_graph=True)
        slices_of(x).backward(create_graph=True)
        first = x.grad
        x.grad = None
        first.sum().backward()
        return first.detach(), x.grad

    same_both_ways(run)


def test_gradcheck_and_gradgradcheck(installed: None) -> None:
    x = leaf(3, 5, 3)
    assert torch.autograd.gradcheck(slices_of, x, check_batched_grad=True, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(slices_of, x, check_batched_grad=True, check_fwd_over_rev=True)
    assert bt.status()["slice_backward"].taken > 0


def test_hooks_see_what_behaves_as_a_tensor() -> None:
    def run() -> Any:
        x, seen = leaf(4, 7, 3), []
        y = x * 2

        def look(gradient: Any) -> Any:
            assert isinstance(gradient, torch.Tensor) and gradient.is_contiguous()
            seen.append((gradient.clone(), gradient.numpy().copy().tolist(), gradient.sum(), gradient[0].tolist()))
            return gradient * 3

        y.register_hook(look)
        x.register_hook(look)
        slices_of(y).backward()
        return seen, x.grad

    same_both_ways(run)


def test_hooks_of_nodes_and_modules() -> None:
    def run() -> Any:
        seen = []
        module = torch.nn.Linear(3, 3, dtype=torch.float64)
        with torch.no_grad():
            module.weight.fill_(0.25)
            module.bias.fill_(1)
        module.register_full_backward_hook(lambda _, inputs, outputs: seen.extend([*inputs, *outputs]))
        module.register_full_backward_pre_hook(lambda _, outputs: seen.extend(outputs))
        x = leaf(4, 7, 3)
        y = module(x)
        y.grad_fn.register_hook(lambda inputs, outputs: seen.extend(outputs))
        y.grad_fn.register_prehook(lambda outputs: seen.extend(outputs))
        slices_of(y).backward()
        return [g.clone() for g in seen], x.grad, module.weight.grad

    same_both_ways(run)


def test_a_hook_that_changes_gradients_in_place() -> None:
    def double(gradient: Any) -> None:
        gradient.mul_(2)

    def run() -> Any:
        x = leaf(4, 7, 3)
        y = x * 1
        kept = []
        y.register_hook(kept.append)
        for t in range(7):
            part = y[:, t] * 1
            part.register_hook(double)
            part.square().sum().backward(retain_graph=True)
        return x.grad, kept

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


def test_accumulation_into_an_existing_gradient_is_in_place() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        x.grad = torch.full_like(x, 5)
        held, address = x.grad, x.grad.data_ptr()
        slices_of(x).backward()
        assert held is x.grad and x.grad.data_ptr() == address
        return x.grad

    same_both_ways(run)


def test_accumulation_into_a_strided_gradient() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        x.grad = torch.full((3, 7, 4), 5.0, dtype=x.dtype).permute(2, 1, 0)
        slices_of(x).backward()
        return x.grad

    same_both_ways(run)


def test_a_parameter_in_another_layout() -> None:
    def run() -> Any:
        x = torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last).requires_grad_()
        sum((x[:, :, t] ** 2).sum() for t in range(4)).backward()
        return x.grad, x.grad.stride()

    same_both_ways(run)


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.LBFGS])
def test_optimizers(optimizer: Any) -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        steps = optimizer([x], lr=0.01)

        def closure() -> Any:
            steps.zero_grad()
            loss = slices_of(x)
            loss.backward()
            torch.nn.utils.clip_grad_norm_([x], 1.0)
            return loss

        for _ in range(3):
            steps.step(closure)
        return x.detach()

    same_both_ways(run)


def test_an_optimizer_that_steps_inside_the_backward_pass() -> None:
    def run() -> Any:
        x, c = leaf(4, 7, 3), leaf(84)
        steps = torch.optim.SGD([c], lr=0.1)

        def step(parameter: Any) -> None:
            parameter.grad.mul_(3)
            steps.step()
            parameter.grad.zero_()

        c.register_post_accumulate_grad_hook(step)
        y = x * 2
        for _ in range(2):  # c's gradient shares memory with that of the slice
            (((y[:].reshape(-1) + c) * torch.arange(84)) * 2).sum().backward(retain_graph=True)
        return x.grad, c.detach()

    same_both_ways(run)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoints(use_reentrant: bool) -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        y = checkpoint(lambda a: torch.stack([a[:, t] ** 2 for t in range(7)], 1), x * 2, use_reentrant=use_reentrant)
        z = checkpoint(slices_of, y, use_reentrant=use_reentrant)
        (z + slices_of(y)).backward()
        return x.grad

    same_both_ways(run)


def test_autocast() -> None:
    def run() -> Any:
        x, w = leaf(4, 7, 8, dtype=torch.float32), leaf(8, 8, dtype=torch.float32)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            h = torch.zeros(4, 8)
            for t in range(7):
                h = torch.tanh(x[:, t] @ w + h)
            loss = h.float().sum()
        loss.backward()
        return x.grad, w.grad

    same_both_ways(run)


def test_anomaly_mode_and_saved_tensors_hooks() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        with torch.autograd.detect_anomaly(check_nan=True), torch.autograd.graph.save_on_cpu():
            loss = slices_of(x * 2)
            first = torch.autograd.grad(loss, x, create_graph=True)[0]
            first.sum().backward()
        return x.grad

    with pytest.warns(UserWarning, match="Anomaly"):
        same_both_ways(run)


def test_vectorized_jacobians() -> None:
    def run() -> Any:
        x = leaf(3, 5, 2)
        return (
            torch.autograd.functional.jacobian(lambda a: a[:, 1:] ** 2, x, vectorize=True),
            torch.autograd.functional.hessian(slices_of, x),
            torch.autograd.functional.vhp(slices_of, x, torch.ones_like(x)),
        )

    same_both_ways(run)


def test_in_place_updates_of_what_was_sliced() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        y = x.clone()
        for t in range(1, 7):
            y[:, t] += y[:, t - 1] * 2
            y[0, t].mul_(3)
        slices_of(y).backward()
        return x.grad

    same_both_ways(run)


def test_distributed_autograd_hooks_of_a_flat_bucket() -> None:
    """As in data parallel training, gradients become views of one tensor."""

    def run() -> Any:
        x = leaf(4, 7, 3)
        bucket = torch.zeros(84, dtype=x.dtype)
        x.grad = bucket.view_as(x)
        slices_of(x).backward()
        bucket /= 2
        return x.grad, bucket

    same_both_ways(run)
