"""Results of autograd, and arguments of transforms and custom functions, are ordinary tensors."""

import copy
import io
import pickle
import threading
from typing import Any

import pytest
import torch
from compare import leaf, same_both_ways, slices_of


def gradient(x: Any, **options: Any) -> Any:
    return torch.autograd.grad(slices_of(x), x, **options)[0]


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

    same_both_ways(run, is_taken=False)  # they compute gradients of gradients


def test_batched_gradients() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        y = torch.stack([x[:, t].square().sum() for t in range(7)])
        return torch.autograd.grad(y, x, torch.eye(7, dtype=x.dtype), is_grads_batched=True)

    same_both_ways(run, is_taken=False)  # PyTorch has rules of its own for them


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
