"""The kernels in C++, which compute small gradients, and what they leave to those in Python."""

import contextlib
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import backslice.torch as bt
import pytest
import torch
from backslice import _core
from backslice.torch import counting, installing, internals, kernels, small_slices, terms
from compare import leaf

DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.int8, torch.int64, torch.bool,
    torch.uint16, torch.float8_e4m3fn, torch.float8_e5m2,
]  # fmt: skip
LAST = sys.maxsize
PACKAGE = str(Path(bt.__file__).parent)


@contextlib.contextmanager
def called() -> Iterator[set[str]]:
    """The names of the functions of `backslice.torch` that run in Python."""
    names: set[str] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            names.add(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        yield names
    finally:
        sys.setprofile(None)


def both_ways(call: Callable[[], Any]) -> tuple[Any, Any, set[str]]:
    expected = call()
    with bt.enabled(), called() as names:
        found = call()
    return expected, found, names


def assert_same(found: Any, expected: Any) -> None:
    assert found.shape == expected.shape and found.dtype is expected.dtype and found.stride() == expected.stride()
    assert type(found) is type(expected) and found.is_inference() == expected.is_inference()
    assert torch.equal(found.contiguous().view(torch.uint8), expected.contiguous().view(torch.uint8))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_small_gradients_are_those_of_pytorch_and_run_no_python(dtype: torch.dtype, as_shipped: None) -> None:
    rng = random.Random(str(dtype))
    for _ in range(60):
        shape = [rng.randint(1, 6) for _ in range(rng.randint(1, 5))]
        dim = rng.randrange(-len(shape), len(shape))
        extent = shape[dim]
        x = torch.zeros(shape)
        if rng.random() < 0.5:
            index = rng.randrange(-extent, extent)
            part, op, arguments = x.select(dim, index), torch.ops.aten.select_backward, (dim, index)
        else:
            start, end, step = rng.randrange(extent), rng.choice([extent, LAST, -1, extent - 1]), rng.randint(1, extent)
            part = torch.ops.aten.slice.Tensor(x, dim, start, end, step)
            op, arguments = torch.ops.aten.slice_backward, (dim, start, end, step)
        dy = (torch.rand(part.shape) * 9).to(dtype)
        if rng.random() < 0.3 and dy.dim() > 1:
            dy = dy.transpose(0, -1).contiguous().transpose(0, -1)
        expected, found, names = both_ways(lambda dy=dy, op=op, shape=shape, rest=arguments: op(dy, shape, *rest))
        assert_same(found, expected)
        assert found.untyped_storage().resize_(0).nbytes() == 0
        assert not names or 0 in part.shape


def test_backward_passes_with_small_slices_run_no_python(as_shipped: None) -> None:
    def gradient() -> Any:
        torch.manual_seed(0)
        x = leaf(4, 7, 3)
        (sum((x[:, t] * t).sum() for t in range(7)) + (x[1:3, ::2] ** 2).sum()).backward()
        return x.grad

    expected, found, names = both_ways(gradient)
    assert_same(found, expected)
    assert not names and not counting.taken


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.ops.aten.select_backward(torch.ones(1), [4, 3], 0, 2),  # broadcast
        lambda: torch.ops.aten.select_backward(torch.ones(0), [4, 0], 0, 2),
        lambda: torch.ops.aten.slice_backward(torch.ones(0, 3), [4, 3], 0, 2, 2, 1),
        lambda: torch.ops.aten.slice_backward(torch.ones(0, 3), [4, 3], 0, 3, 1, 1),
        lambda: torch.ops.aten.slice_backward(torch.ones(1, 3), [4, 3], 0, 3, LAST, LAST),
        lambda: torch.ops.aten.slice_backward(torch.ones(4, 3), [4, 3], 0, -LAST - 1, LAST, 1),
        lambda: torch.ops.aten.select_backward(torch.ones(3, dtype=torch.complex64).mul(1j).conj(), [4, 3], 0, 2),
        lambda: torch.ops.aten.select_backward(torch.ones(2, dtype=torch.complex64).conj().imag, [4, 2], 0, 2),
        lambda: torch.ops.aten.select_backward(torch.ones(3).expand(5, 3), [4, 5, 3], 0, 2),
    ],
)
@pytest.mark.parametrize("is_inference", [False, True])
def test_unusual_calls_give_what_pytorch_gives(call: Callable[[], Any], is_inference: bool, as_shipped: None) -> None:
    with torch.inference_mode(is_inference):
        expected, found, _ = both_ways(call)
    assert_same(found, expected)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: torch.ops.aten.select_backward(torch.ones(3), [4, 3], 0, 4), IndexError),
        (lambda: torch.ops.aten.select_backward(torch.ones(3), [4, 3], 2, 1), IndexError),
        (lambda: torch.ops.aten.slice_backward(torch.ones(3, 3), [4, 3], 0, 0, 2, 1), RuntimeError),
        (lambda: torch.ops.aten.slice_backward(torch.ones(3, 3), [4, 3], 0, 0, 3, 0), RuntimeError),
        (lambda: torch.ops.aten.select_backward(torch.ones(3), [-4, 3], 0, 1), RuntimeError),
    ],
)
def test_refused_calls_raise_at_once(call: Callable[[], Any], error: type[Exception], as_shipped: None) -> None:
    with pytest.raises(error) as expected:
        call()
    with bt.enabled(), pytest.raises(RuntimeError) as found:
        call()
    assert expected.type is error and found.type is RuntimeError
    assert str(expected.value).split("\n")[0] in str(found.value)


def test_interrupts_of_other_code_than_autograd_are_raised_again(
    installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(counting, "count_left", interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            try:
                torch.ops.aten.select_backward(torch.ones(3), [4, 3], 0, 2)
            except RuntimeError:
                time.sleep(1)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError("none left"), ValueError("wrong")], ids=repr)
def test_errors_in_python_end_the_pass_as_they_are(
    installed: None, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(*_: Any) -> Any:
        raise error

    x = leaf(4, 7, 3)
    monkeypatch.setattr(terms, "make", fail)
    with pytest.raises(type(error)) as found:
        sum((x[:, t] * t).sum() for t in range(7)).backward()
    assert found.value is error and x.grad is None


def test_gradients_from_the_limit_on_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "SHIPPED", {"CPU": (4 * 7 * 3 * 8, 2**40), "CUDA": (0, 0)})
    for extent, count in ((3, 6), (2, 0)):
        x = leaf(4, 7, extent)
        with bt.enabled():
            counting.reset()
            sum((x[:, t] * t).sum() for t in range(7)).backward()
        assert counting.taken["select_backward", "CPU"] == count


def test_where_the_c_interface_lacks_a_function_python_runs(monkeypatch: pytest.MonkeyPatch, as_shipped: None) -> None:
    monkeypatch.setattr(internals, "C_FUNCTIONS", (*internals.C_FUNCTIONS, "torch_of_tomorrow"))
    call = lambda: torch.ops.aten.select_backward(torch.arange(3), [4, 3], 0, 2)  # noqa: E731
    expected, found, names = both_ways(call)
    assert_same(found, expected)
    assert names == {"run"}


def test_switched_off_kernels_compute_what_pytorch_computes(installed: None) -> None:
    kernels.switch_off()
    try:
        with called() as names:
            found = torch.ops.aten.select_backward(torch.ones(600, 600), [4, 600, 600], 0, 2)
    finally:
        kernels.switch_on(kernels.SHIPPED)
    assert not names and found.sum() == 600 * 600 and found[2].min() == 1


def test_operations_in_python_go_with_uninstall() -> None:
    bt.install()
    bt.uninstall()
    assert not hasattr(torch.ops.backslice, "select_backward")


def test_interrupts_of_install_leave_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    register = _core._register_small_slices

    def register_and_interrupt(*arguments: Any) -> None:
        assert register(*arguments) and installing.is_registered("select_backward", "CPU")
        raise KeyboardInterrupt

    monkeypatch.setattr(_core, "_register_small_slices", register_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        bt.install()
    assert not installing.is_registered("select_backward", "CPU")


def test_wrong_small_gradients_fail_the_self_test(monkeypatch: pytest.MonkeyPatch) -> None:
    library = torch.library.Library("aten", "IMPL")

    def register(op: str, kernel: Any, *_: Any) -> bool:
        def run(dy: Any, shape: Any, *rest: Any) -> Any:
            return kernel(dy, shape, *rest) if kernels.sizes["CPU"].many == 0 else dy.new_zeros(shape)

        library.impl(op, run, "CPU", allow_override=True)
        return True

    monkeypatch.setattr(small_slices, "register", register)
    monkeypatch.setattr(installing, "_has_warned", False)
    with pytest.warns(RuntimeWarning, match="differs"):
        bt.install()
    library._destroy()
    assert bt.status()["select_backward"].kernel == "PyTorch"
