"""How much faster the backward pass is: unmodified code, without and with backslice in turns, the best of each.

Prints a table in Markdown, and then the worst ratio per kind of work as JSON.
"""

import json
import math
import time
from collections.abc import Callable
from typing import Any

import backslice.torch as bt
import torch

torch.set_num_threads(2)
ROWS = slice(1024, 3072)
SINGLE = {
    "(4096,4096)[1024:3072]": ((4096, 4096), (ROWS,)),
    "(4096,4096)[:,1024:3072]": ((4096, 4096), (slice(None), ROWS)),
    "(4096,4096)[:,::2]": ((4096, 4096), (slice(None), slice(None, None, 2))),
    "(4096,4096)[::2]": ((4096, 4096), (slice(None, None, 2),)),
    "(512,128,512)[:,64]": ((512, 128, 512), (slice(None), 64)),
    "(32,64,112,112)[:,:,8:104,8:104]": ((32, 64, 112, 112), (..., slice(8, 104), slice(8, 104))),
    "(1024,1024)[128:896,128:896]": ((1024, 1024), (slice(128, 896), slice(128, 896))),
}


def seconds(call: Callable[[], Any], repeat: int = 1) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def compared(call: Callable[[], Any], turns: int, repeat: int = 1) -> tuple[float, float]:
    """The best times without and with backslice."""
    without = with_it = math.inf
    for _ in range(turns):
        without = min(without, seconds(call, repeat))
        with bt.enabled():
            call()
            with_it = min([with_it, *(seconds(call, repeat) for _ in range(3))])
    return without, with_it


def row(what: str, times: tuple[float, float]) -> float:
    without, with_it = times
    print(f"| {what} | {1000 * without:.3g} ms | {1000 * with_it:.3g} ms | {without / with_it:.3g} |", flush=True)
    return without / with_it


def many(steps: int, turns: int) -> float:
    x = torch.randn(64, steps, 1024, requires_grad=True)
    dys = [torch.randn(64, 1024) for _ in range(steps)]
    call = lambda: torch.autograd.grad([x[:, t] for t in range(steps)], x, dys)  # noqa: E731
    return row(f"{steps} slices `x[:, t]` of (64,{steps},1024), forward and backward", compared(call, turns))


def single(what: str) -> float:
    shape, index = SINGLE[what]
    x = torch.ones(shape, requires_grad=True)
    y = x[index]
    dy = torch.ones_like(y)
    return row(f"`{what}`, backward", compared(lambda: torch.autograd.grad(y, x, dy, retain_graph=True), 9))


def small() -> float:
    """Return the additional microseconds of a slice that is too small for backslice."""
    x = torch.ones(4, 4, requires_grad=True)
    y = x[1:3]
    dy = torch.ones_like(y)
    times = compared(lambda: torch.autograd.grad(y, x, dy, retain_graph=True), 20, 300)
    row("`(4,4)[1:3]`, backward", times)
    return 1e6 * (times[1] - times[0])


print("| what | PyTorch | with backslice | times as fast |\n|---|---|---|---|")
found = {"32 slices": many(32, 15), "512 slices": many(512, 1)}
ratios = [single(what) for what in SINGLE]
found["single slices"] = math.exp(sum(map(math.log, ratios)) / len(ratios))
found["small slice, microseconds more"] = small()
print(json.dumps(found))
