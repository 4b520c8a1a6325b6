"""Arrays of PyTorch on a CUDA device, and its events."""

import torch

torch.set_default_device("cuda")


def ones(shape, dtype):
    return torch.ones(shape, dtype=getattr(torch, dtype))


def prepare_copy(size):
    source, target = (torch.ones(size, dtype=torch.uint8) for _ in range(2))
    return lambda: target.copy_(source)


def seconds_of(call, repeat):
    """Between two events on the stream of the calls."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(repeat):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3
