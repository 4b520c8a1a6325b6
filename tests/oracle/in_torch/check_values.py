"""Gradients of every kind of values, dtypes and layouts, and of long chains of slices."""

import os
from typing import Any

import backslice as bs
import pytest
import torch
from backslice.torch import counting
from compare import leaf, same_both_ways, slices_of


def test_gradients_that_are_not_numbers() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        bad = torch.tensor([float("nan"), float("inf"), -float("inf")], dtype=x.dtype)
        (x[1, 2] * bad).sum().backward()
        (x[:, 2] * bad + x[:, 3]).sum().backward()
        return x.grad.nan_to_num(1, 2, 3)

    same_both_ways(run)


def test_minus_zero_of_a_single_slice_stays() -> None:
    def run() -> Any:
        x = leaf(4, 7)
        (x[1:3] * -0.0).sum().backward()
        return torch.signbit(x.grad)

    same_both_ways(run)


def test_complex_and_conjugated_gradients() -> None:
    def run() -> Any:
        x = torch.complex(leaf(4, 7, 3).detach(), leaf(4, 7, 3).detach()).requires_grad_()
        y = x.conj()
        parts = [x[:, t].conj() * (1 + 2j) for t in range(7)]
        parts += [y[:, 1:].imag, y[2].real, x[1].imag, x.mH[1:, :2].conj()]
        sum(p.abs().square().sum() for p in parts).backward()
        z = torch.view_as_real(x)[:, 1:]
        return x.grad, torch.autograd.grad(z[..., 0].sum() + y.imag[:, 2].sum(), x)[0]

    same_both_ways(run)


def test_lazily_negated_and_conjugated_tensors_keep_their_values() -> None:
    z = torch.tensor([1 + 2j, 3 - 4j])
    for lazy in (z.conj(), z.conj().imag, z.imag, torch._neg_view(z), torch._neg_view(z).conj()):
        assert bs.slice_grad(lazy, (4,), "1:3").tolist() == [0, *lazy.tolist(), 0]
    with pytest.raises(bs.InvalidArgumentError, match="whose memory holds the conjugates or the negatives"):
        bs.slice(z, ":", out=z.clone().conj())


def test_sparse_and_dense_gradients_of_one_tensor() -> None:
    def run() -> Any:
        x = leaf(6, 4)
        found = torch.nn.functional.embedding(torch.tensor([1, 1, 4]), x, sparse=True)
        (found.sum() * 2 + sum((x[t] * t).sum() for t in range(6)) + (x[:, 1:] ** 2).sum()).backward()
        return x.grad if not x.grad.is_sparse else x.grad.to_dense()

    same_both_ways(run)


def test_gradients_of_other_dtypes_and_layouts() -> None:
    def run() -> Any:
        x = leaf(2, 3, 4, 4, dtype=torch.float32)
        y = x.to(torch.float64).to(memory_format=torch.channels_last)
        z = x.to(torch.bfloat16).transpose(1, 3)
        (sum((y[:, t] ** 2).sum() for t in range(3)) + sum(z[:, t].float().sum() for t in range(4))).backward()
        return x.grad, x.grad.stride()

    same_both_ways(run)


def test_results_can_be_used_in_every_way() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        g = torch.autograd.grad(slices_of(x), x)[0]
        h = torch.autograd.grad(slices_of(x * 2), x)[0]
        torch._foreach_mul_([g, h], 2)
        torch._foreach_add_([g], [h])
        norm = torch.nn.utils.get_total_norm([g, h])
        out = torch.empty_like(g)
        torch.add(g, h, out=out)
        torch.mul(g, 2, out=h)
        g.share_memory_()
        w = g.clone().requires_grad_()
        (w * h).sum().backward()
        g[0, 0] = 5
        g.transpose_(0, 1).unsqueeze_(0)
        v = h.requires_grad_()
        (v[:, 1] ** 2).sum().backward()
        shown = (len(g), g.stride(), g[0, 0].tolist())
        return g, h, out, norm, w.grad, v.grad, torch.stack([g, g]), g.to(torch.float32), shown

    same_both_ways(run)


def test_a_forked_child() -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        slices_of(x).backward()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                y = x.detach().requires_grad_()
                slices_of(y).backward()
                os.write(writing, y.grad.numpy().tobytes())
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        data = b""
        while piece := os.read(reading, 1 << 16):
            data += piece
        os.close(reading)
        assert os.waitpid(child, 0)[1] == 0
        return torch.frombuffer(bytearray(data), dtype=x.dtype), x.grad

    same_both_ways(run)


def test_long_chains_of_slices_take_linear_time(installed: None) -> None:
    x = leaf(2000, 3)
    h, total = x, 0
    for _ in range(1500):
        total = total + h[0].sum()
        h = h[1:]
    total.backward()
    assert torch.equal(x.grad[:, 0], (torch.arange(2000) < 1500).to(x.dtype))
    assert counting.taken["slice_backward", "CPU"] >= 1400


def test_sums_that_double(installed: None) -> None:
    x = leaf(3, 4)
    y = x[1:] * 1
    for _ in range(40):  # as many terms as 2 to the power of 40
        y = y + y
    (y[0] * 2.0**-40).sum().backward()
    assert x.grad[1].eq(1).all()


def test_inference_mode_and_no_grad_around_the_pass(installed: None) -> None:
    x = leaf(4, 7, 3)
    loss = slices_of(x)
    with torch.no_grad():
        loss.backward()
    expected = torch.autograd.grad(slices_of(x), x)[0]
    assert torch.equal(x.grad, expected)
