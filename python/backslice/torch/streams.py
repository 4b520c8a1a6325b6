"""The streams of CUDA devices: what was computed on one, and is read on another.

Autograd's engine runs every node on the stream of its forward operation, and has streams wait for one another where a
gradient goes from one to the next. It also tells the allocator which streams use a gradient's memory. It cannot do so
for the gradients that a sum holds, which it does not see: that is done here, when the sum is read.
"""

from collections.abc import Iterable
from typing import Any

import torch

# Not there in a PyTorch without CUDA, where nothing of this is called.
raw: Any = getattr(torch._C, "_cuda_getCurrentRawStream", None)
current: Any = getattr(torch._C, "_cuda_getCurrentStream", None)
is_current_capturing: Any = getattr(torch._C, "_cuda_isCurrentStreamCapturing", None)


# The stream on which something was queued, as PyTorch numbers it, and whether that was captured into a graph.
Moment = tuple[tuple[int, int, int], bool]


def is_capturing(device: Any) -> bool:
    return bool(device.type == "cuda" and is_current_capturing())


def now(device: Any) -> Moment | None:
    """What is queued from now on; None on the CPU, which has no streams."""
    if device.type != "cuda":
        return None
    return current(device.index), is_current_capturing()


def join(used: Iterable[tuple[Moment | None, Any]]) -> None:
    """Has the current stream wait for what tensors were computed by, and keeps their memory until it has read them.

    What a graph captures waits for nothing that was queued before: the capture begins when all of that is done.
    """
    here: Moment | None = None
    awaited = set()
    for moment, tensor in used:
        if moment is None:
            continue
        here = here or now(tensor.device)
        if here is None or moment[0] == here[0]:
            continue
        tensor.record_stream(_stream(here[0]))
        if moment[1] == here[1]:
            awaited.add(moment[0])
    for stream in awaited:
        assert here is not None
        _stream(here[0]).wait_stream(_stream(stream))


def _stream(numbers: tuple[int, int, int]) -> Any:
    identity, device, kind = numbers
    return torch.cuda.Stream(stream_id=identity, device_index=device, device_type=kind)
