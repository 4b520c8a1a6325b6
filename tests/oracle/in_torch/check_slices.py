"""slice, multi_slice and pad_to: values, derivatives of any order, transforms, compiled functions, refusals."""

import random
from typing import Any

import backslice as bs
import backslice.torch as bt
import numpy as np
import pytest
import torch
from backslice.torch.indexing import entries_of
from compare import leaf

INDICES = [
    np.s_[1:3], np.s_[:, ::2], np.s_[..., -1], np.s_[::-1], np.s_[3:0:-2, None, 1:4], np.s_[2, ::-1, ...], np.s_[0:0],
    np.s_[:], np.s_[..., None], np.s_[-3:, -1, ::-3], "1:3, ::-2", 2, None, (),
]  # fmt: skip
DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32,
    torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
    torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz,
)  # fmt: skip


def as_numpy(x: Any, index: Any) -> Any:
    return bs.slice(x.detach().numpy(), index)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_values_and_gradients(index: Any) -> None:
    x = leaf(4, 5, 3)
    y = bt.slice(x, index)
    assert np.array_equal(y.detach().numpy(), as_numpy(x, index))
    dy = torch.randn(y.shape, dtype=x.dtype)
    (dx,) = torch.autograd.grad(y, x, dy)
    assert np.array_equal(dx.numpy(), bs.slice_grad(dy.numpy(), (4, 5, 3), index))
    assert np.array_equal(bt.pad_to(dy, (4, 5, 3), index).numpy(), dx.numpy())


def test_random_indices() -> None:
    rng = random.Random(0)
    x = leaf(4, 5, 3)

    def item(extent: int) -> Any:
        bounds = [rng.choice([None, *range(-extent - 2, extent + 3)]) for _ in range(2)]
        return rng.choice([slice(*bounds, rng.choice([None, 1, 2, -1, -2, 3])), rng.randrange(-extent, extent)])

    for _ in range(300):
        many = [tuple(item(e) for e in (4, 5, 3)[: rng.randrange(4)]) for _ in range(rng.randrange(1, 5))]
        parts = bt.multi_slice(x, many)
        assert all(np.array_equal(p.detach().numpy(), as_numpy(x, i)) for p, i in zip(parts, many, strict=True))
        dys = [torch.randint(-3, 4, p.shape).to(x.dtype) for p in parts]
        (dx,) = torch.autograd.grad(parts, x, dys)
        pairs = [(index, dy.numpy()) for index, dy in zip(many, dys, strict=True)]
        assert np.array_equal(dx.numpy(), bs.multi_slice_grad((4, 5, 3), pairs))


def test_positive_steps_are_views() -> None:
    x = leaf(4, 5, 3)
    assert all(part._base is x for part in bt.multi_slice(x, [np.s_[1:3], np.s_[:, ::2, 1]]))
    parts = bt.multi_slice(x * 1, [np.s_[1:3], np.s_[0]])
    with pytest.raises(RuntimeError, match="view"):
        parts[0].mul_(2)


def test_one_element_is_not_turned_around() -> None:
    x = leaf(4, 5, 3)
    assert all(part._base is x for part in bt.multi_slice(x, [np.s_[2:1:-1], np.s_[1:3, 0::-2, ::1]]))


def test_the_sum_of_many_slices_is_added_to_what_came_before() -> None:
    """In place if PyTorch has `ctx.input_grad_buffers`."""
    x = leaf(4, 5, 3)
    y = x * 1
    parts = bt.multi_slice(y, [np.s_[:, t] for t in range(5)] + [np.s_[1:, ::-2]])
    loss = sum((part * (t + 1)).sum() for t, part in enumerate(parts))
    (loss + (y * y).sum() + (bt.slice(y, "::-1")[0] * 3).sum()).backward()
    z = x.detach().requires_grad_()
    parts = [z[:, t] for t in range(5)] + [z[1:, ::2].flip(1)]
    (sum((part * (t + 1)).sum() for t, part in enumerate(parts)) + (z * z).sum() + (z[-1] * 3).sum()).backward()
    assert torch.equal(x.grad, z.grad)


def test_storages_can_be_resized() -> None:
    x = leaf(4, 5, 3)
    parts, dys = bt.multi_slice(x, ["1", "2:4", "0"]), [torch.ones(5, 3), torch.ones(2, 5, 3), torch.ones(5, 3)]
    dys = [dy.to(x.dtype) for dy in dys]
    (dx,) = torch.autograd.grad(parts, x, dys)
    padded = bt.pad_to(dys[0], (4, 5, 3), "1")
    for tensor in (dx, padded, *dys):
        tensor.untyped_storage().resize_(0)


def test_slices_that_nobody_uses_cost_nothing() -> None:
    x = leaf(4, 5, 3)
    parts = bt.multi_slice(x, [np.s_[t] for t in range(4)])
    (dx,) = torch.autograd.grad(parts[2].sum(), x)
    assert dx[2].eq(1).all() and dx.sum() == 15
    assert bt.multi_slice(x, []) == []


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype: torch.dtype) -> None:
    dy = torch.tensor([1, 0, 1]).to(dtype)
    dx = bt.pad_to(dy, (6,), np.s_[::-2])
    assert dx.dtype == dtype and dx.to(torch.float32 if not dtype.is_complex else dtype).tolist() == [0, 1, 0, 0, 0, 1]
    assert bt.slice(dx, np.s_[1::2]).dtype == dtype


def test_strided_inputs_are_not_copied() -> None:
    dy = torch.arange(12.0).reshape(3, 4).t()[::2]
    assert torch.equal(bt.pad_to(dy, (5, 3), np.s_[1:5:2]), bt.pad_to(dy.contiguous(), (5, 3), np.s_[1:5:2]))
    ones = torch.ones(1).expand(2**40)[: 2**22]
    assert bt.pad_to(ones, (2**22 + 1,), np.s_[1:]).sum() == 2**22


ALL = slice(None)
BACK = slice(None, None, -1)


def function(x: Any) -> Any:
    a, b, c = bt.multi_slice(x, [(slice(1, 3), BACK), (ALL, 2), (slice(2, 0, -1), slice(1, 4))])
    return (a * a).sum() + (b**3).sum() + (a.flip(1)[:, 1:4] * c).sum() + (bt.slice(x, slice(None, None, 2)) ** 2).sum()


def plain(x: Any) -> Any:
    a, b, c = x[1:3].flip(1), x[:, 2], x[1:3, 1:4].flip(0)
    return (a * a).sum() + (b**3).sum() + (a.flip(1)[:, 1:4] * c).sum() + (x[::2] ** 2).sum()


def test_derivatives_of_any_order() -> None:
    x = leaf(4, 5, 2)
    assert torch.autograd.gradcheck(function, x, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(function, x, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(lambda dy: bt.pad_to(dy * dy, (6, 5), np.s_[4:0:-2, 1:3]), leaf(2, 2))
    for _ in range(3):
        (a,), (b,) = (torch.autograd.grad(f(x), x, create_graph=True) for f in (function, plain))
        assert torch.equal(a, b)


def test_functional_transforms() -> None:
    x = leaf(4, 5, 2).detach()
    batch = torch.stack([x, 2 * x, 3 * x], 1)
    for transform in (torch.func.grad, torch.func.hessian, torch.func.jacrev, torch.func.jacfwd):
        assert torch.equal(transform(function)(x), transform(plain)(x))
    for f, g in ((function, plain), (torch.func.grad(function), torch.func.grad(plain))):
        assert torch.equal(torch.func.vmap(f, in_dims=1)(batch), torch.func.vmap(g, in_dims=1)(batch))
    dy = torch.arange(12.0).reshape(3, 2, 2)
    padded = torch.func.vmap(lambda one: bt.pad_to(one, (2, 3), np.s_[:, ::-2]))(dy)
    assert torch.equal(padded, torch.stack([bt.pad_to(one, (2, 3), np.s_[:, ::-2]) for one in dy]))


@pytest.mark.parametrize("backend, dynamic", [("aot_eager", True), ("aot_eager_decomp_partition", False)])
def test_compiled_functions(backend: str, dynamic: bool) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend, fullgraph=True, dynamic=dynamic)
    for rows in (4, 6):
        x = leaf(rows, 5, 2)
        (a,), (b,) = torch.autograd.grad(compiled(x), x), torch.autograd.grad(plain(x), x)
        assert torch.equal(a, b)
    padded = torch.compile(
        lambda dy: bt.pad_to(dy, (6, 5), (slice(4, 0, -2), slice(1, 3))), backend=backend, fullgraph=True
    )
    dy = leaf(2, 2)
    assert torch.equal(padded(dy), bt.pad_to(dy, (6, 5), np.s_[4:0:-2, 1:3]))


def test_refusals_say_what_to_do() -> None:
    x = leaf(4, 5)
    with pytest.raises(IndexError, match=r"index 4 is out of range for axis 0 with 4 elements; expected -4 to 3"):
        bt.slice(x, 4)
    with pytest.raises(IndexError, match=r"3 items for axes, but x has 2 axes"):
        bt.slice(x, (1, 1, 1))
    with pytest.raises(ValueError, match="step 0"):
        bt.slice(x, np.s_[::0])
    with pytest.raises(IndexError, match="ellipsis"):
        bt.slice(x, (..., ...))
    for index in ([0, 1], torch.tensor([0, 1]), np.array([True, False, True, False]), True, ("0"[0:0] and None) or 1.5):
        with pytest.raises(NotImplementedError, match=r"use x\[\.\.\.\]"):
            bt.slice(x, index)
    with pytest.raises(ValueError, match=r"dy has shape \(3,\), expected \(2,\)"):
        bt.pad_to(torch.ones(3), (4,), np.s_[1:3])
    with pytest.raises(ValueError, match="selection is of a tensor of shape"):
        bt.slice(x, bs.Selection.from_index((4, 6), "1:3"))
    assert bt.slice(x, bs.Selection.from_index((4, 5), "1:3")).shape == (2, 5)


def test_other_devices_take_pytorchs_way() -> None:
    x = torch.empty(4, 5, device="meta", requires_grad=True)
    y = bt.slice(x, np.s_[::-1, 2])
    (dx,) = torch.autograd.grad(y, x, torch.empty_like(y))
    assert dx.device.type == "meta" and dx.shape == x.shape


def test_slices_mean_what_python_says() -> None:
    bounds = [None, *range(-6, 7), 2**62, -(2**62)]
    for extent in (0, 1, 4):
        for item in (slice(a, b, c) for a in bounds for b in bounds for c in (None, 1, 2, 5, -1, -2, -5, 2**40)):
            (entry,) = entries_of(item, (extent,))
            expected = range(*item.indices(extent))
            assert entry[3] == len(expected)
            assert not expected or (entry[1], entry[2]) == (expected[0], expected.step)
