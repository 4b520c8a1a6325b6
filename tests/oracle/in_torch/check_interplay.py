"""Everything that autograd can do, with and without backslice."""

import copy
import io
import pickle
import threading
from typing import Any

import backslice.torch as bt
import pytest
import torch
from backslice.torch.lazy import LazySliceGrad
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


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        assert type(dy) is torch.Tensor
        assert torch.Tensor.data_ptr(dy) != 0
        return dy * 2


def test_custom_functions_are_given_ordinary_tensors() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        first = torch.autograd.grad(slices_of(Doubled.apply(x) + 1), x, create_graph=True)[0]
        return first, torch.autograd.grad(slices_of(first), x)[0]

    same_both_ways(run)


def test_custom_functions_are_what_they_were_after_a_pass_that_fails(installed: None) -> None:
    before = torch.autograd.function.BackwardCFunction.apply
    x = leaf(4, 7, 3)
    y = x * 1

    def fail(gradient: Any) -> None:
        raise KeyError

    y.register_hook(fail)
    with pytest.raises(KeyError):
        slices_of(y).backward()
    assert torch.autograd.function.BackwardCFunction.apply is before
    slices_of(x).backward()
    assert torch.autograd.function.BackwardCFunction.apply is before


def test_functional_transforms() -> None:
    def run() -> Any:
        x = leaf(3, 5, 2).detach()
        batch = torch.stack([x, x * 2])
        return [
            torch.func.grad(slices_of)(x),
            torch.func.vmap(torch.func.grad(slices_of))(batch),
            torch.func.jacrev(lambda a: torch.stack([(a[:, t] ** 2).sum() for t in range(5)]))(x),
            torch.func.hessian(slices_of)(x),
            torch.func.jacrev(torch.func.jacrev(slices_of))(x),
            torch.func.jvp(torch.func.grad(slices_of), (x,), (x,)),
            torch.func.vjp(slices_of, x)[1](torch.ones((), dtype=x.dtype)),
            torch.func.grad(lambda a: torch.func.grad(slices_of)(a)[:, 1].sum())(x),
        ]

    same_both_ways(run)


def test_batched_gradients() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        y = torch.stack([x[:, t].square().sum() for t in range(7)])
        return torch.autograd.grad(y, x, torch.eye(7, dtype=x.dtype), is_grads_batched=True)

    same_both_ways(run, is_taken=False)  # PyTorch has rules of its own for them


def test_vectorized_jacobians() -> None:
    def run() -> Any:
        x = leaf(3, 5, 2)
        return (
            torch.autograd.functional.jacobian(lambda a: a[:, 1:] ** 2, x, vectorize=True),
            torch.autograd.functional.hessian(slices_of, x),
            torch.autograd.functional.vhp(slices_of, x, torch.ones_like(x)),
        )

    same_both_ways(run)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_functions(backend: str) -> None:
    def run() -> Any:
        torch._dynamo.reset()
        x = leaf(4, 7, 3)
        compiled = torch.compile(slices_of, backend=backend)
        inner = torch.compile(lambda a: a * 2, backend=backend)
        compiled(x).backward()
        whole = x.grad.clone()
        slices_of(inner(x)).backward()  # the output of a compiled function, sliced outside
        compiled(x[:, 1:]).backward()
        return whole, x.grad

    same_both_ways(run)


def test_threads() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        leaves = [(x.detach() * n).requires_grad_() for n in range(4)]

        def work(mine: Any) -> None:
            for _ in range(20):
                slices_of(mine).backward()

        threads = [threading.Thread(target=work, args=(mine,)) for mine in leaves]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [mine.grad for mine in leaves]

    same_both_ways(run)


def test_deepcopy_and_pickling_give_ordinary_tensors() -> None:
    def run() -> Any:
        g = gradient(leaf(4, 7, 3))
        file = io.BytesIO()
        torch.save({"g": g}, file)
        file.seek(0)
        copies = [copy.deepcopy(g), copy.copy(g), pickle.loads(pickle.dumps(g)), torch.load(file)["g"]]
        assert all(type(c) is torch.Tensor for c in (copies[0], *copies[2:]))
        return copies

    same_both_ways(run)


def test_what_grad_returns_behaves_as_a_tensor() -> None:
    def run() -> Any:
        g = gradient(leaf(4, 7, 3))
        assert isinstance(g, torch.Tensor) and g.data_ptr() == torch.Tensor.data_ptr(g) != 0
        h = g.detach()
        h[0] = 7  # the same memory
        g.mul_(2)
        view = g[1]
        view += 1
        g.add_(g.clone())
        assert g.untyped_storage().nbytes() == g.numel() * 8 and not g.is_sparse and g.layout is torch.strided
        return (
            g,
            h,
            view,
            repr(g),
            g.tolist(),
            g.numpy().sum(),
            torch.from_dlpack(g),
            g.data,
            g.sum().item(),
            g.storage().size(),
        )

    with pytest.warns(UserWarning, match="TypedStorage"):
        same_both_ways(run)


def test_gradients_that_grad_returned_can_be_assigned_and_stepped() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        steps = torch.optim.Adam([x], lr=0.1)
        for _ in range(3):
            x.grad = gradient(x)
            steps.step()
        return x.detach()

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
    """What data parallel training does with gradients: they become views of one tensor."""

    def run() -> Any:
        x = leaf(4, 7, 3)
        bucket = torch.zeros(84, dtype=x.dtype)
        x.grad = bucket.view_as(x)
        slices_of(x).backward()
        bucket /= 2
        return x.grad, bucket

    same_both_ways(run)


def test_lazy_gradients_do_not_outlive_their_pass(installed: None) -> None:
    kept = []
    x = leaf(4, 7, 3)
    y = x * 1
    y.register_hook(kept.append)
    slices_of(y).backward()
    assert isinstance(kept[0], LazySliceGrad) or type(kept[0]) is torch.Tensor
    assert torch.Tensor.data_ptr(kept[0]) != 0


def test_hooks_that_add_numbers() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        y = x * 1
        for add in (lambda g: g + 1, lambda g: 2.5 + g, lambda g: g - 1, lambda g: torch.add(g, 1, alpha=3)):
            y.register_hook(add)
        y.register_hook(lambda g: g.clone().add_(2))
        slices_of(y).backward()
        z = torch.autograd.grad(slices_of(x), x)[0]
        return x.grad, z + 1, z.add_(1), z + torch.tensor(2), z + torch.ones(3), z + z.bool()

    same_both_ways(run)
