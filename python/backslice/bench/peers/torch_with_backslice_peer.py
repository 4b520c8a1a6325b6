"""PyTorch's autograd after backslice.torch.install(): the same calls as PyTorch alone, and slices that it lacks."""

import torch
from package import load_package
from slices import index_of, result_shape

load_package()
import backslice.torch as bt  # noqa: E402
import torch_peer  # noqa: E402

bt.install()


def prepare(workload):
    call = torch_peer.prepare(workload)
    index, dtype = index_of(workload), getattr(torch, workload["dtype"])
    if call is not None or workload["kind"] != "gradient" or workload["threads"] == 1 or not dtype.is_floating_point:
        return call
    x = torch.ones(workload["shape"], dtype=dtype, requires_grad=True)  # with a negative step
    dy = torch.ones(result_shape(workload), dtype=dtype)
    return lambda: torch.autograd.grad(bt.slice(x, index), x, dy)
