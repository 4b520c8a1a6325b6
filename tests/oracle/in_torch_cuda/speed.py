"""Speed on a CUDA device: PyTorch's own gradients of slices beside backslice's, as a table in Markdown.

`host` is the time until a call returns, `done` until the device has finished it too; the best of several.
"""

import json
import math
import time
from collections.abc import Callable
from typing import Any

import backslice as bs
import backslice.torch as bt
import torch
from backslice.torch import kernels

DEVICE = "cuda"


def timed(call: Callable[[], Any], repeat: int) -> tuple[float, float]:
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    host = time.perf_counter() - start
    torch.cuda.synchronize()
    return host / repeat, (time.perf_counter() - start) / repeat


def best(call: Callable[[], Any], turns: int, repeat: int) -> tuple[float, float]:
    call()
    found = [timed(call, repeat) for _ in range(turns)]
    return min(host for host, _ in found), min(done for _, done in found)


def device_time(call: Callable[[], Any], turns: int = 5) -> float:
    """Time the work that one call queues, behind a kernel that keeps the device busy until all of it is queued."""
    found = math.inf
    for _ in range(turns):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        torch.cuda._sleep(150_000_000)  # cycles: about 80 ms
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        found = min(found, start.elapsed_time(end) / 1000)
    return found


def text(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def row(what: str, *times: float | None, note: str = "") -> None:
    print("| " + " | ".join([what, *("" if t is None else text(t) for t in times), note]) + " |", flush=True)


def small() -> dict[str, float]:
    print("\n| (64,64)[:, 3:40], one gradient | host | done |  |\n|---|---|---|---|")
    x = torch.ones(64, 64, device=DEVICE, requires_grad=True)
    index = (slice(None), slice(3, 40))
    dy = torch.ones(64, 37, device=DEVICE)
    shape, found = (64, 64), {}
    y, own = x[index], bt.slice(x, index)
    prepared = bs.Selection.from_index(shape, index).prepare("float32")
    out = torch.empty(64, 64, device=DEVICE)
    zeros = lambda: torch.zeros(shape, device=DEVICE)  # noqa: E731
    grad = lambda y: torch.autograd.grad(y, x, dy, retain_graph=True)  # noqa: E731
    calls: dict[str, Callable[[], Any]] = {
        "PyTorch: zeros, then copy": lambda: zeros()[index].copy_(dy),
        "PyTorch: aten.slice_backward": lambda: torch.ops.aten.slice_backward(dy, shape, 1, 3, 40, 1),
        "bs.slice_grad(dy, shape, index)": lambda: bs.slice_grad(dy, shape, index),
        "bs.slice_grad(..., out=)": lambda: bs.slice_grad(dy, shape, index, out=out),
        "PreparedSlice.gradient(dy, out)": lambda: prepared.gradient(dy, out),
        "bt.pad_to(dy, shape, index)": lambda: bt.pad_to(dy, shape, index),
        "PyTorch: autograd.grad of x[index]": lambda: grad(y),
        "autograd.grad of bt.slice(x, index)": lambda: grad(own),
    }
    for what, call in calls.items():
        host, done = best(call, 15, 400)
        found[what] = done * 1e6
        row(what, host, done)
    with bt.enabled():
        host, done = best(lambda: grad(y), 15, 400)
        found["with install(): autograd.grad of x[index]"] = done * 1e6
        row("with install(): autograd.grad of x[index]", host, done)
    return found


ROWS = slice(4096, 12288)
LARGE: dict[str, tuple[tuple[int, ...], Any]] = {
    "(16384,16384)[4096:12288]": ((16384, 16384), ROWS),
    "(16384,16384)[:,4096:12288]": ((16384, 16384), (slice(None), ROWS)),
    "(16384,16384)[:,::2]": ((16384, 16384), (slice(None), slice(None, None, 2))),
    "(16384,16384)[::2]": ((16384, 16384), slice(None, None, 2)),
    "(4096,128,512)[:,64]": ((4096, 128, 512), (slice(None), 64)),
    "(256,64,112,112)[:,:,8:104,8:104]": ((256, 64, 112, 112), (..., slice(8, 104), slice(8, 104))),
    "(4096,4096)[:,1024:3072]": ((4096, 4096), (slice(None), slice(1024, 3072))),
    "(2048,2048)[:,512:1536]": ((2048, 2048), (slice(None), slice(512, 1536))),
}


def single(shape: tuple[int, ...], index: Any) -> tuple[list[float], int]:
    """Seconds of one gradient by PyTorch, with install() and through bt.slice; and its bytes."""
    x = torch.empty(shape, device=DEVICE).requires_grad_()
    y, own = x[index], bt.slice(x, index)
    dy = torch.ones_like(y)

    def seconds(sliced: Any) -> float:
        return best(lambda: torch.autograd.grad(sliced, x, dy, retain_graph=True), 7, 5)[1]

    times = [seconds(y)]
    with bt.enabled():
        times.append(seconds(y))
    return [*times, seconds(own)], x.nbytes + dy.numel() * dy.element_size()


def speed_of_copy() -> float:
    """Bytes read and written per second."""
    a = torch.empty(2**28, device=DEVICE)
    b = torch.empty_like(a)
    return float(2 * a.nbytes / best(lambda: b.copy_(a), 9, 5)[1])


def large() -> None:
    print("\n| one gradient, float32 | PyTorch | install() | bt.slice | of copy: PyTorch | install() | bt.slice |")
    print("|---|---|---|---|---|---|---|")
    copy = speed_of_copy()
    for what, (shape, index) in LARGE.items():
        times, size = single(shape, index)
        row(what, *times, note=" | ".join(f"{size / t / copy:.2f}" for t in times))
    print(f"\na copy reads and writes {copy / 1e12:.2f} TB/s")


def many(shape: tuple[int, int, int], rounds: int) -> dict[str, float]:
    batch, steps, width = shape
    x = torch.zeros(shape, device=DEVICE).requires_grad_()
    dys = [torch.randn(batch, width, device=DEVICE) for _ in range(steps)]
    all_dy = torch.randn(batch, steps, width, device=DEVICE)
    indices = [(slice(None), t) for t in range(steps)]
    parts, own = [x[i] for i in indices], bt.multi_slice(x, indices)
    together, own_together = torch.stack(parts, 1), torch.stack(own, 1)
    grad = lambda ys, dy: torch.autograd.grad(ys, x, dy, retain_graph=True)  # noqa: E731
    ways: dict[str, dict[str, Callable[[], Any]]] = {
        "autograd.grad(parts, x, dys)": {
            "PyTorch": lambda: grad(parts, dys), "bt.multi_slice": lambda: grad(own, dys)
        },
        "autograd.grad(stack(parts), x, dy)": {
            "PyTorch": lambda: grad(together, all_dy), "bt.multi_slice": lambda: grad(own_together, all_dy)
        },
        "forward and backward": {
            "PyTorch": lambda: grad([x[i] for i in indices], dys),
            "bt.multi_slice": lambda: grad(bt.multi_slice(x, indices), dys),
        },
    }  # fmt: skip
    expected = grad(parts, dys)[0]
    assert torch.equal(grad(own, dys)[0], expected)
    with bt.enabled():
        assert torch.equal(grad(parts, dys)[0], expected)
    found: dict[str, tuple[float, float]] = {}

    def measure(whose: str, what: str, call: Callable[[], Any]) -> None:
        host, done = best(call, 2, 1)
        least = found.get(f"{whose}: {what}", (math.inf, math.inf))
        found[f"{whose}: {what}"] = min(host, least[0]), min(done, least[1])

    for _ in range(rounds):  # in turns, since a CPU is faster at one time than at another
        for what, calls in ways.items():
            for whose, call in calls.items():
                measure(whose, what, call)
        with bt.enabled():
            for what, calls in ways.items():
                measure("install()", what, calls["PyTorch"])
    print(f"\n| {steps} slices x[:, t] of {shape} | host | done | device alone |  |\n|---|---|---|---|---|")
    for what, calls in ways.items():
        row(f"PyTorch: {what}", *found[f"PyTorch: {what}"], None)
        with bt.enabled():
            alone = {"install()": device_time(calls["PyTorch"])}
        alone["bt.multi_slice"] = device_time(calls["bt.multi_slice"])
        for whose, seconds in alone.items():
            times = found[f"{whose}: {what}"]
            row(f"{whose}: {what}", *times, seconds, note=f"{found[f'PyTorch: {what}'][1] / times[1]:.0f}x")
    return {what: done * 1e3 for what, (_, done) in found.items()}


def thresholds() -> None:
    """Print the size of x from which on install() is faster, with two slices and sixteen, without its thresholds."""
    print("\n| size of x | 2 slices: PyTorch | install() | 16 slices: PyTorch | install() |\n|---|---|---|---|---|")
    shipped = kernels.SHIPPED
    kernels.SHIPPED = {"CUDA": (0, math.inf)}
    for mib in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        row(f"{mib} MiB", *both_ways(mib, 2), *both_ways(mib, 16))
    kernels.SHIPPED = shipped


def both_ways(mib: int, count: int) -> tuple[float, float]:
    x = torch.zeros(mib * 16, 16, 1024, device=DEVICE).requires_grad_()
    parts = [x[:, t] for t in range(count)]
    dys = [torch.ones_like(part) for part in parts]

    def call() -> None:
        torch.autograd.grad(parts, x, dys, retain_graph=True)

    without = best(call, 7, 10)[1]
    with bt.enabled():
        return without, best(call, 7, 10)[1]


if __name__ == "__main__":
    print(torch.__version__, torch.cuda.get_device_name(), "backslice", bs.__version__)
    summary = {"small": small(), "many": many((256, 512, 1024), 8)}
    large()
    thresholds()
    print(json.dumps(summary))
