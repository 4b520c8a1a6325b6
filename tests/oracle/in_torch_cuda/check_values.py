"""Gradients on a device: equal to PyTorch's own, for every kind of slice and dtype."""

import random
from typing import Any

import backslice as bs
import backslice.torch as bt
import numpy as np
import pytest
import torch
from backslice.torch import counting
from tensors import leaf, same_both_ways, slices_of, whole_numbers

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)
INDICES = [
    np.s_[1:3], np.s_[:, ::2], np.s_[..., -1], np.s_[::-1], np.s_[3:0:-2, None, 1:4], np.s_[2, ::-1, ...], np.s_[0:0],
    np.s_[:], np.s_[..., None], np.s_[-3:, -1, ::-3], "1:3, ::-2", 2, None, (),
]  # fmt: skip


def test_the_device_is_used_and_told(installed: None) -> None:
    x = leaf(4, 7, 3)
    slices_of(x).backward()
    status = bt.status()
    for op in ("select_backward", "slice_backward"):
        row = status[op, "cuda"]
        assert row.kernel == "backslice" and row.taken > 0 and not row.left, str(status)
        assert status[op].taken == 0
    assert "cuda" in str(status) and x.grad.is_cuda and type(x.grad) is torch.Tensor


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_every_kind_of_slice(dtype: torch.dtype) -> None:
    def run() -> Any:
        x = leaf(4, 7, 3, dtype=dtype)
        total = slices_of(x)
        (total.real if dtype.is_complex else total).backward()
        return x.grad

    same_both_ways(run)


def test_many_random_slices_in_one_sum() -> None:
    rng = random.Random(0)
    x = leaf(4, 5, 3)

    def item(extent: int) -> Any:
        bounds = [rng.choice([None, *range(-extent - 2, extent + 3)]) for _ in range(2)]
        return rng.choice([slice(*bounds, rng.choice([None, 1, 2, -1, -2, 3])), rng.randrange(-extent, extent)])

    for _ in range(100):
        many = [tuple(item(e) for e in (4, 5, 3)[: rng.randrange(4)]) for _ in range(rng.randrange(1, 5))]
        parts = bt.multi_slice(x, many)
        dys = [whole_numbers(*p.shape) for p in parts]
        if rng.random() < 0.3:  # not contiguous
            dys = [dy.T.contiguous().T if dy.dim() == 2 else dy.expand_as(dy) for dy in dys]
        (dx,) = torch.autograd.grad(parts, x, dys)
        pairs = [(index, dy.cpu().numpy()) for index, dy in zip(many, dys, strict=True)]
        assert np.array_equal(dx.cpu().numpy(), bs.multi_slice_grad((4, 5, 3), pairs))


def test_derivatives_of_slices_that_say_what_they_are() -> None:
    f = lambda x: sum((part**2).sum() for part in bt.multi_slice(x, ["1:3", ":, ::-1", "..., 1", "0, 2:"]))  # noqa: E731
    x = leaf(3, 4, 3)
    assert torch.autograd.gradcheck(f, x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, x, check_fwd_over_rev=True)
    batch = whole_numbers(2, 3, 4, 3)
    together = torch.func.vmap(torch.func.grad(f))(batch)
    assert torch.equal(together, torch.stack([torch.func.grad(f)(one) for one in batch]))
    compiled = torch.compile(torch.func.grad(f), backend="aot_eager")(x.detach())
    assert torch.equal(compiled, torch.func.grad(f)(x.detach()))


def test_gradients_of_repeated_elements() -> None:
    """dy with strides of zero, as sums give them."""

    def run() -> Any:
        x = leaf(4, 7, 3)
        sum(x[:, t].sum() * (t + 1) for t in range(7)).backward()
        return x.grad

    same_both_ways(run)


def test_extents_past_two_to_the_31() -> None:
    if torch.cuda.mem_get_info()[0] < 20 * 2**30:
        pytest.fail("this check needs 20 GiB of the device's memory")
    with bt.enabled():
        x = torch.zeros(2**16 + 1, 2**15, dtype=torch.uint8, device="cuda").view(torch.float8_e5m2).requires_grad_()
        one = torch.ones(2**16 + 1, 1, device="cuda").to(torch.float8_e5m2)
        (dx,) = torch.autograd.grad(x[:, -1:], x, one)
        bits = dx.view(torch.uint8)
        assert int(bits[:, -1].ne(0).sum()) == 2**16 + 1 and int(bits[:, :-1].max()) == 0


def test_uninstall_leaves_the_device_to_pytorch() -> None:
    ops = ("select_backward", "slice_backward")
    before = [torch._C._dispatch_dump(f"aten::{op}") for op in ops]
    bt.install()
    assert all(bt.status()[op, "cuda"].kernel == "backslice" for op in ops)
    bt.uninstall()
    assert [torch._C._dispatch_dump(f"aten::{op}") for op in ops] == before
    slices_of(leaf(4, 7, 3)).backward()
    assert not counting.taken
    assert all(bt.status()[op, "cuda"].kernel == "PyTorch" for op in ops)


def test_tensors_are_taken_where_they_are() -> None:
    """bs.slice_grad and others read plain tensors by DLPack's C functions, and special ones by the general path."""
    dy = torch.arange(12.0, device="cuda").reshape(3, 4)
    expected = np.zeros((5, 4, 2), np.float32)
    expected[1:4, :, 1] = dy.cpu().numpy()
    for given in (dy, dy.T.contiguous().T, torch.cat([dy, dy])[3:], dy.repeat_interleave(2, 1)[:, ::2]):
        dx = bs.slice_grad(given, (5, 4, 2), np.s_[1:4, :, 1])
        assert type(dx) is torch.Tensor and dx.is_cuda and np.array_equal(dx.cpu().numpy(), expected)
        out = torch.full((2, 5, 4), 7.0, device="cuda").permute(1, 2, 0)
        assert bs.slice_grad(given, (5, 4, 2), np.s_[1:4, :, 1], out=out) is out
        assert np.array_equal(out.cpu().numpy(), expected)
    conjugated = torch.complex(dy, dy).conj()
    assert torch.equal(bs.slice_grad(conjugated, (5, 4), "1:4")[1:4], conjugated)
    assert bs.slice_grad(dy[:0], (5, 4), "2:2").count_nonzero() == 0
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(20_000_000)
        late = dy * 2
        dx = bs.slice_grad(late, (5, 4), "1:4")
    side.synchronize()
    assert torch.equal(dx[1:4], dy * 2)
    with pytest.raises((bs.Error, RuntimeError, BufferError)):
        bs.slice_grad(dy.clone().requires_grad_(), (5, 4), "1:4")
