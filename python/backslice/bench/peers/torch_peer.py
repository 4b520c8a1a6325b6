"""PyTorch's autograd."""

import itertools

import torch
from slices import index_of, result_shape


def prepare(workload):
    dtype = getattr(torch, workload["dtype"])
    if workload["threads"] == 1 or workload["kind"] in ("limit", "into", "accumulate") or not dtype.is_floating_point:
        return None
    index = index_of(workload)
    if any(isinstance(item, slice) and (item.step or 1) < 0 for item in index):
        return None  # PyTorch has no negative steps
    x = torch.ones(workload["shape"], dtype=dtype, requires_grad=workload["kind"] != "forward")
    dy = torch.ones(result_shape(workload), dtype=dtype)
    if workload["kind"] == "gradient":
        return lambda: torch.autograd.grad(x[index], x, dy)
    if workload["kind"] == "forward":
        return lambda: x[index].contiguous()
    if workload["kind"] == "buffer":
        starts, rows = itertools.cycle(range(0, x.shape[0] - 64, 64)), dy.shape[0]
        return lambda k=starts: torch.autograd.grad(x[(start := next(k)) : start + rows], x, dy)
    dys = [torch.ones_like(dy) for _ in range(workload["slices"])]
    return lambda: torch.autograd.grad([x[:, t] for t in range(len(dys))], x, dys)
