"""Installing and uninstalling, what status tells, and when the kernels step aside."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import backslice.torch as bt
import pytest
import torch
from backslice.torch import counting, installing, internals, kernels, self_test
from compare import assert_equal, leaf, slices_of
from torch import distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

OPS = ("select_backward", "slice_backward")

OTHER_CODE = "called by other code than autograd's engine"


def owners() -> set[str]:
    return {bt.status()[op].kernel for op in OPS}


def gradient() -> Any:
    torch.manual_seed(0)
    x = leaf(4, 7, 3)
    slices_of(x).backward()
    return x.grad


def test_nothing_changes_before_install() -> None:
    assert owners() == {"PyTorch"}
    gradient()
    assert not counting.taken
    assert "install() has not been called" in bt.status()["slice_backward"].reason


def test_install_and_uninstall_say_so_and_give_equal_gradients() -> None:
    before = gradient()
    for _ in range(3):
        bt.install()
        assert owners() == {"backslice"}
        assert torch.equal(gradient(), before)
        bt.uninstall()
        assert owners() == {"PyTorch"}
        assert torch.equal(gradient(), before)
    assert all(counting.taken[op, "CPU"] > 0 for op in OPS)


def test_installing_twice_and_uninstalling_twice_are_harmless() -> None:
    bt.install()
    bt.install()
    assert owners() == {"backslice"}
    bt.uninstall()
    bt.uninstall()
    assert owners() == {"PyTorch"}


def test_enabled_leaves_things_as_they_were() -> None:
    with bt.enabled():
        assert owners() == {"backslice"}
        with bt.enabled():
            pass
        assert owners() == {"backslice"}
    assert owners() == {"PyTorch"}
    with pytest.raises(KeyError), bt.enabled():
        raise KeyError
    assert owners() == {"PyTorch"}


def test_enabled_in_several_threads_at_once() -> None:
    expected, found, failures = gradient(), [], []
    start = threading.Barrier(4)

    def work() -> None:
        try:
            start.wait()
            for _ in range(15):
                with bt.enabled():
                    x = inputs.detach().requires_grad_()
                    slices_of(x).backward()
                    found.append(x.grad)
                    if bt.status()["select_backward"].kernel != "backslice":
                        failures.append("another thread put PyTorch's kernel back")
        except BaseException as error:
            failures.append(error)

    torch.manual_seed(0)
    inputs = leaf(4, 7, 3)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and len(found) == 60
    assert all(torch.equal(dx, expected) for dx in found)
    assert owners() == {"PyTorch"}


def test_enabled_inside_install_leaves_it_installed() -> None:
    bt.install()
    with bt.enabled():
        pass
    assert owners() == {"backslice"}
    bt.uninstall()
    with bt.enabled():
        bt.install()
    assert owners() == {"backslice"}


def test_uninstalling_inside_a_backward_pass() -> None:
    expected = gradient()
    bt.install()
    torch.manual_seed(0)
    x = leaf(4, 7, 3)
    y = x * 1
    y[:, 1].register_hook(lambda g: bt.uninstall())
    y.register_hook(lambda g: None)
    z = y[:, 1] * 1
    z.register_hook(lambda g: bt.uninstall())
    (slices_of(y) + 0 * z.sum()).backward()
    assert torch.equal(x.grad, expected) and owners() == {"PyTorch"}


def raising(error: BaseException) -> Any:
    def fail(*_: Any) -> None:
        raise error

    return fail


@pytest.mark.parametrize("where", ["a missing name", "the self-test", "registering"])
def test_an_installation_that_fails_changes_nothing(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [torch._C._dispatch_dump(f"aten::{op}") for op in OPS]
    expected = gradient()
    monkeypatch.setattr(installing, "_has_warned", False)
    with monkeypatch.context() as patch:
        if where == "a missing name":
            patch.delattr(torch._C, "_current_graph_task_id")
        elif where == "the self-test":
            patch.setattr(self_test, "PROGRAMS", (lambda x: (x[:, 1] * torch.rand(())).sum(),))
        else:
            patch.setattr(kernels, "kernel", raising(KeyError("no")))
        with pytest.warns(RuntimeWarning, match="leaves the gradients of slices to PyTorch") as warned:
            bt.install()
            bt.install()
        assert len(warned) == 1 and owners() == {"PyTorch"}
        reason = bt.status()["slice_backward"].reason
        assert {"a missing name": "_current_graph_task_id", "the self-test": "differs", "registering": "no"}[
            where
        ] in reason
        assert torch.equal(gradient(), expected) and not counting.taken
        bt.uninstall()
        assert [torch._C._dispatch_dump(f"aten::{op}") for op in OPS] == before
    with bt.enabled():
        assert owners() == {"backslice"} and torch.equal(gradient(), expected)
    assert owners() == {"PyTorch"}


def test_an_interrupted_installation_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(self_test, "compare", raising(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            bt.install()
    assert owners() == {"PyTorch"}
    gradient()
    assert not counting.taken


def test_private_names_are_few() -> None:
    source = Path(internals.__file__).read_text()
    assert len(re.findall(r"torch(?:\.\w+)*\._(?!_)\w+|\bc\._?\w+", source)) <= 15
    for file in Path(internals.__file__).parent.glob("*.py"):
        if file.name != "internals.py":
            found = re.findall(r"\btorch(?:\.\w+)*\._\w+", file.read_text())
            assert set(found) <= {"torch.__version__"}, file.name


def test_importing_needs_no_private_name() -> None:
    program = """
import torch
private = ("_current", "_dispatch_dump", "_len_torch", "Disable")
for name in [name for name in dir(torch._C) if name.startswith(private)]:
    delattr(torch._C, name)
import backslice.torch as bt
x = torch.ones(4, 5, requires_grad=True)
(bt.slice(x, "1:3, ::-2").sum() + sum(bt.multi_slice(x, ["0", "1"])).sum()).backward()
assert bt.pad_to(torch.ones(2), (4,), "1:3").tolist() == [0, 1, 1, 0]
assert x.grad.sum() == 6 + 10
import warnings
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    bt.install()
assert len(found) == 1 and bt.status()["select_backward"].kernel == "PyTorch"
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_installing_while_other_threads_run_passes() -> None:
    expected, stop, failures = gradient(), threading.Event(), []
    torch.manual_seed(0)
    inputs = leaf(4, 7, 3)

    def work() -> None:
        while not stop.is_set():
            x = inputs.detach().requires_grad_()
            slices_of(x).backward()
            if not torch.equal(x.grad, expected):
                failures.append(x.grad)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        bt.install()
        bt.uninstall()
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []


def test_status_is_a_table_with_counts(installed: None) -> None:
    gradient()
    status = bt.status()
    assert status["select_backward"].taken > 6
    lines = str(status).splitlines()
    assert lines[0].split()[:2] == ["op", "kernel"] and lines[1].split()[:2] == ["select_backward", "backslice"]
    with pytest.raises(KeyError, match=r"typo.*select_backward \(cpu\)"):
        status["typo"]


def test_an_unknown_version_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "7.0.0a0+git123")
    bt.install()
    assert owners() == {"backslice"}


@pytest.mark.parametrize("op", OPS)
def test_another_librarys_kernel_stays_in_use(op: str) -> None:
    other = torch.library.Library("aten", "IMPL")
    entered = []
    own = kernels.own_kernel(kernels.OPERATIONS[op], "CPU", internals.resolve())
    other.impl(op, lambda *arguments: entered.append(op) or own(*arguments), "CPU", allow_override=True)
    try:
        bt.install()
        expected = gradient()
        assert bt.status()[op].kernel == "PyTorch" and "another library" in bt.status()[op].reason
        assert entered and not counting.taken[op, "CPU"] and len(owners()) == 2
    finally:
        bt.uninstall()
        other._destroy()
    assert torch.equal(gradient(), expected)


def test_another_librarys_kernel_that_comes_later_is_told(installed: None) -> None:
    other = torch.library.Library("aten", "IMPL")
    other.impl("slice_backward", lambda dy, shape, *_: dy.new_zeros(shape), "CPU", allow_override=True)
    try:
        assert bt.status()["slice_backward"].kernel == "PyTorch"
        assert "came after" in bt.status()["slice_backward"].reason
    finally:
        other._destroy()
    assert owners() == {"backslice"}


class Tagged(torch.Tensor):
    """A subclass that nobody knows."""


def test_unknown_subclasses_are_left_to_pytorch(installed: None) -> None:
    x = leaf(4, 7, 3)
    (x[:, 1] * 2).backward(torch.ones(4, 3, dtype=x.dtype).as_subclass(Tagged))
    assert not isinstance(x.grad, Tagged) and x.grad[:, 1].eq(2).all()
    dy = torch.ones(4, 3, dtype=x.dtype).as_subclass(Tagged)
    torch.autograd.grad(x[:, 1], x, dy)
    assert bt.status()["select_backward"].left == {"a tensor of class Tagged": 1}
    assert "1 left by select_backward: a tensor of class Tagged" in str(bt.status())


def test_calls_from_hooks_are_left_to_pytorch(installed: None) -> None:
    found: list[Any] = []
    x = leaf(4)
    y = x * 1
    y.register_hook(lambda g: found.append(torch.ops.aten.slice_backward(g[1:3].clone(), (4,), 0, 1, 3, 1)))
    y.sum().backward()
    assert type(found[0]) is torch.Tensor and found[0].tolist() == [0, 1, 1, 0]
    assert bt.status()["slice_backward"].left == {OTHER_CODE: 1}


@pytest.fixture
def mesh(tmp_path: Path) -> Iterator[Any]:
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    distributed.destroy_process_group()


@pytest.mark.parametrize("placement", [Replicate(), Shard(0), Shard(2)], ids=str)
def test_distributed_tensors_have_equal_gradients(placement: Any, mesh: Any) -> None:
    """PyTorch runs some of their operations without Python: those are taken, on the plain tensors that they hold."""

    def run() -> Any:
        x = distribute_tensor(leaf(4, 7, 3).detach(), mesh, [placement]).requires_grad_()
        kept: list[Any] = []
        parts = [x[:, t] * (t + 1) for t in (1, 2, 1)] + [x[1:3, 2]]
        parts[0].register_hook(kept.append)
        (sum((part * part).sum() for part in parts) + (x * x).sum()).backward()
        again = torch.autograd.grad(sum(x[:, t].sum() for t in range(3)), x)[0]
        return [gradient.full_tensor() for gradient in (x.grad, again, *kept)]

    torch.manual_seed(0)
    without = run()
    torch.manual_seed(0)
    with bt.enabled():
        assert_equal(run(), without)


def test_calls_outside_a_backward_pass_are_left_to_pytorch(installed: None) -> None:
    dx = torch.ops.aten.slice_backward(torch.ones(2), (4,), 0, 1, 3, 1)
    assert type(dx) is torch.Tensor and dx.tolist() == [0, 1, 1, 0]
    assert bt.status()["slice_backward"].left == {OTHER_CODE: 1}


def test_small_gradients_are_left_to_pytorch(as_shipped: None) -> None:
    with bt.enabled():
        gradient()
        assert not counting.taken
        medium = leaf(4, 256, 512)  # 4 MB
        (medium[3] * 2).sum().backward()
        assert not counting.taken
        medium.grad = None
        sum((medium[t] * t).sum() for t in range(4)).backward()
        assert counting.taken["select_backward", "CPU"] == 3
        assert torch.equal(medium.grad[:, 0, 0], torch.tensor([0, 1, 2, 3], dtype=medium.dtype))
        large = leaf(8, 256, 512)
        (large[3] * 2).sum().backward()
        assert counting.taken["select_backward", "CPU"] == 4


def test_a_model_that_never_slices_enters_no_function_of_ours(installed: None) -> None:
    model = torch.nn.Sequential(torch.nn.Conv1d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(20, 5))
    entered = []
    sys.setprofile(lambda frame, event, _: entered.append(frame.f_code.co_filename) if event == "call" else None)
    try:
        for _ in range(3):
            model(torch.randn(2, 3, 7)).square().sum().backward()
    finally:
        sys.setprofile(None)
    assert entered and not [name for name in entered if name.startswith(os.path.dirname(bt.__file__))]


def test_importing_changes_nothing() -> None:
    program = """
import torch
before = [torch._C._dispatch_dump(f"aten::{op}_backward") for op in ("select", "slice")]
apply = torch.autograd.function.BackwardCFunction.apply
import backslice.torch
assert before == [torch._C._dispatch_dump(f"aten::{op}_backward") for op in ("select", "slice")]
assert torch.autograd.function.BackwardCFunction.apply is apply
"""
    subprocess.run([sys.executable, "-c", program], check=True)
