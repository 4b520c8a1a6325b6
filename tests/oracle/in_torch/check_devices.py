"""What is decided about CUDA where there is no device: whose kernels are registered, and what is left to PyTorch."""

import subprocess
import sys
from typing import Any

import backslice as bs
import backslice.torch as bt
import pytest
import torch
from backslice.torch import counting, devices, kernels, streams, sums
from backslice.torch.lazy import LazySliceGrad
from backslice.torch.placement import of_diagonal, of_select, of_slice
from compare import leaf, same_both_ways, slices_of
from torch._subclasses.fake_tensor import FakeTensorMode

OPS = ("select_backward", "slice_backward", "unfold_backward", "diagonal_backward")


def dumps() -> list[str]:
    return [torch._C._dispatch_dump(f"aten::{op}") for op in OPS]


def on_cuda() -> set[str]:
    return {bt.status()[op, "cuda"].kernel for op in OPS}


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if both libraries were built with CUDA; neither touches a device before a tensor is there."""
    monkeypatch.setattr(devices, "why_not_built", lambda: None)


@pytest.mark.skipif(torch.version.cuda is None, reason="this PyTorch has no kernels for CUDA")
def test_kernels_for_cuda_are_registered_told_and_put_back(built: None) -> None:
    before = dumps()
    assert on_cuda() == {"PyTorch"}
    bt.install()
    assert on_cuda() == {"backslice"}
    assert all(any(line.startswith("CUDA: ") for line in dump.splitlines()) for dump in dumps())
    bt.uninstall()
    assert on_cuda() == {"PyTorch"} and dumps() == before


@pytest.mark.skipif(torch.version.cuda is None, reason="this PyTorch has no kernels for CUDA")
def test_another_librarys_kernel_for_cuda_stays_in_use(built: None) -> None:
    other = torch.library.Library("aten", "IMPL")
    other.impl("slice_backward", lambda dy, shape, *_: dy.new_zeros(shape), "CUDA", allow_override=True)
    try:
        bt.install()
        row = bt.status()["slice_backward", "cuda"]
        assert row.kernel == "PyTorch" and "another library" in row.reason
        assert bt.status()["slice_backward"].kernel == "backslice" and len(on_cuda()) == 2
    finally:
        bt.uninstall()
        other._destroy()


@pytest.mark.skipif(torch.version.cuda is None, reason="this PyTorch has no kernels for CUDA")
def test_another_librarys_kernel_for_cuda_that_comes_later_is_told_and_not_called(built: None) -> None:
    calls: list[Any] = []
    bt.install()
    other = torch.library.Library("aten", "IMPL")
    other.impl("slice_backward", lambda *arguments: calls.append(arguments), "CUDA", allow_override=True)
    try:
        row = bt.status()["slice_backward", "cuda"]
        assert row.kernel == "PyTorch" and "came after" in row.reason and calls == []
    finally:
        other._destroy()
    assert on_cuda() == {"backslice"}


def test_without_cuda_its_tensors_stay_pytorchs_and_the_cpus_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Any:
        raise bs.UnimplementedError("backslice was built without CUDA")

    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(devices, "_cuda_versions", refuse)
    before = dumps()
    with bt.enabled():
        assert on_cuda() == {"PyTorch"} and bt.status()["select_backward"].kernel == "backslice"
        assert "built without CUDA" in bt.status()["select_backward", "cuda"].reason
        assert not any("CUDA: " in line and "backslice" in line for dump in dumps() for line in dump.splitlines())
        slices_of(leaf(4, 7, 3)).backward()
        assert counting.taken_on["select_backward", "CPU"] > 0
    assert dumps() == before


def test_a_pytorch_without_cuda_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    assert "PyTorch was built without CUDA" in str(devices.why_not_built())
    with bt.enabled():
        assert on_cuda() == {"PyTorch"} and bt.status()["select_backward"].kernel == "backslice"


def test_a_device_that_cannot_be_used_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[Any] = []

    def refuse(*arguments: Any) -> Any:
        tries.append(arguments)
        raise bs.FailedPreconditionError("no kernel image")

    monkeypatch.setattr(devices, "_reasons", {})
    monkeypatch.setattr(devices, "why_not_built", lambda: None)
    monkeypatch.setattr(devices, "_slice_grads_of", refuse)
    device = torch.device("cpu", 3)  # stands in for one
    assert devices.why_not(device) == devices.why_not(device) == "no kernel image" and len(tries) == 1


def test_no_memory_when_a_device_is_tried_says_nothing_about_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> Any:
        raise torch.OutOfMemoryError("none")

    monkeypatch.setattr(devices, "_reasons", {})
    monkeypatch.setattr(devices, "why_not_built", lambda: None)
    monkeypatch.setattr(devices, "_slice_grads_of", refuse)
    with pytest.raises(torch.OutOfMemoryError):
        devices.why_not(torch.device("cpu", 3))
    monkeypatch.undo()
    assert torch.device("cpu", 3).index not in devices._reasons


def test_a_failure_that_may_pass_says_nothing_about_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[Any] = []

    def refuse(*arguments: Any) -> Any:
        tries.append(arguments)
        if len(tries) == 1:
            raise bs.ResourceExhaustedError("no memory now")

    monkeypatch.setattr(devices, "_reasons", {})
    monkeypatch.setattr(devices, "why_not_built", lambda: None)
    monkeypatch.setattr(devices, "_slice_grads_of", refuse)
    device = torch.device("cpu", 3)
    monkeypatch.setattr(streams, "is_capturing", lambda device: True)
    assert "graph is captured" in str(devices.why_not(device)) and tries == []
    monkeypatch.setattr(streams, "is_capturing", lambda device: False)
    assert devices.why_not(device) == "no memory now" and devices.why_not(device) is None
    assert devices.why_not(device) is None and len(tries) == 2


def test_fake_tensors_outside_their_mode_touch_no_device(built: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeTensorMode():
        x = torch.empty(4, 7, 3, device="cuda")
    monkeypatch.setattr(devices, "why_not", lambda device: pytest.fail("a device was tried"))
    assert not devices.are_plain([x])


def test_fake_tensors_on_cuda_are_not_touched(built: None) -> None:
    bt.install()
    with FakeTensorMode():
        x = torch.empty(4, 7, 3, device="cuda", requires_grad=True)
        dx = torch.ops.aten.select_backward(x.detach()[:, 1], x.shape, 1, 1)
        assert dx.device.type == "cuda" and dx.shape == x.shape
        y = bt.slice(x, (slice(None), slice(None, None, -1)))
        assert y.shape == x.shape and bt.pad_to(x.detach(), (4, 9, 3), ":, 1:8").shape == (4, 9, 3)
    assert not any(key == "CUDA" for _, key in counting.taken_on)


def test_the_first_slice_of_a_tensor_is_computed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a device; the others are added to it."""
    monkeypatch.setattr(devices, "takes", lambda device: device.type == "cpu")
    monkeypatch.setattr(devices, "why_not", lambda device: None)
    monkeypatch.setattr(kernels, "MEDIUM", 2**62)
    kinds: list[type] = []

    def run() -> Any:
        x = leaf(4, 7, 3)
        y = x * 1
        y.register_hook(lambda g: kinds.append(type(g)))
        slices_of(y).backward(retain_graph=True)
        (y[:, 1:3] * 2).sum().backward()
        return x.grad

    same_both_ways(run)
    assert kinds == [torch.Tensor, torch.Tensor, LazySliceGrad, torch.Tensor]  # without it, and with it


def test_slices_of_slices_are_not_computed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them goes to another node, and would be the first one there."""
    monkeypatch.setattr(devices, "takes", lambda device: device.type == "cpu")
    monkeypatch.setattr(devices, "why_not", lambda device: None)
    monkeypatch.setattr(kernels, "MEDIUM", 2**62)
    computed, gradient = [], devices.gradient

    def counted(shape: Any, *arguments: Any) -> Any:
        if len(shape) == 3:  # not what install() tries
            computed.append(shape)
        return gradient(shape, *arguments)

    monkeypatch.setattr(devices, "gradient", counted)

    def run() -> Any:
        x = leaf(4, 7, 3)
        y = x * 1
        sum((y[1:, t] * (t + 2)).sum() + (y[::2, t, 1:] * t).sum() for t in range(7)).backward()
        return x.grad

    same_both_ways(run)
    assert computed == [(4, 7, 3)]


def test_what_fails_in_the_middle_of_a_sum_is_not_added_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    dys = [torch.full(shape, value) for shape, value in (((4,), 2.0), ((4,), 3.0), ((2, 4), 5.0))]
    places = [of_select(2, 0, 1), of_diagonal(2, 0, 0, 1), of_slice(2, 0, 1, 2)]
    root: sums.Sum = sums.whole(torch.ones(4, 4))
    for dy, place in zip(dys, places, strict=True):
        root = sums.join(root, sums.placed(place, sums.leaf(dy)))
    holder = [root]
    del root
    add, calls = sums._add, list[Any]()

    def fail_once(group: Any, out: Any) -> None:
        calls.append(group)
        if len(calls) == 3:
            raise torch.OutOfMemoryError("none left")
        add(group, out)

    monkeypatch.setattr(sums, "_add", fail_once)
    device = torch.device("cpu")
    with pytest.raises(torch.OutOfMemoryError):
        sums.consume(holder, (4, 4), torch.float32, device)
    expected = torch.ones(4, 4)
    expected[1] += 2
    expected.diagonal().add_(3)
    expected[1::2] += 5
    assert torch.equal(sums.consume(holder, (4, 4), torch.float32, device), expected) and len(calls) == 4


@pytest.mark.parametrize("dtype", devices.DTYPES, ids=str)
def test_tensors_tell_their_memory_to_c(dtype: Any) -> None:
    base = torch.arange(24).remainder(2).reshape(4, 6).to(dtype)
    dys = [base[:2, :3], base[:, ::2].T[:2, 1:], base[3:].expand(2, 6)[:, 3:], base[2:, 3:].clone()]
    many = [((1, 0, 1, 2), (1, 4 - i, 1, 3)) for i in range(4)]
    dtypes = {torch.bool: dys[:1]}  # which cannot be added up
    dys, many = dtypes.get(dtype, dys), many[: len(dtypes.get(dtype, dys))]
    expected, found = torch.empty(2, 7, dtype=dtype), torch.empty(2, 7, dtype=dtype)
    slices = [(entries, *devices._memory(dy)) for entries, dy in zip(many, dys, strict=True)]
    devices._slice_grads_at(slices, *devices.memory(expected), False)
    assert devices._slice_grads_of(many, dys, *devices.memory(found), False)
    assert torch.equal(found.view(torch.uint8), expected.view(torch.uint8)) and expected.to(torch.float32).any()


def test_tensors_of_another_size_of_element_or_device_do_not() -> None:
    out, one = torch.zeros(4), ((1, 1, 1, 2),)
    for dy in (torch.ones(2, dtype=torch.float64), torch.ones(2, device="meta"), torch.ones(2).to_sparse()):
        assert not devices._slice_grads_of((one,), (dy,), *devices.memory(out), False)
    assert not out.any()


def test_sizes_from_which_on_the_kernels_pay_differ() -> None:
    sizes = kernels.as_shipped()
    assert sizes["CUDA"].small > sizes["CPU"].small or kernels.SMALL == 1
    assert sizes["CUDA"].small <= sizes["CUDA"].medium


def test_importing_and_installing_touch_no_device() -> None:
    program = """
import torch
import backslice.torch as bt
bt.install()
str(bt.status())
bt.uninstall()
assert not torch.cuda.is_initialized()
"""
    subprocess.run([sys.executable, "-c", program], check=True)
