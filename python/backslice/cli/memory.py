"""Free memory, and the speed of memory, which limits every gradient."""

import resource
import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._core import probe_memory
from ..units import human_bytes
from . import Failure


def available_memory() -> int:
    """Return the system's free memory, within the limits of this process."""
    free = 1 << 62
    with suppress(OSError), open("/proc/meminfo") as file:
        free = next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable"))
    limits = (resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_DATA, resource.RLIMIT_AS))
    return min([free, *(limit for limit in limits if limit != resource.RLIM_INFINITY)])


MAPPED = "which is memory-mapped and may be larger than memory"  # an .npy file


def must_fit(needed: int, what: str, instead: str) -> None:
    """Refuse sizes that do not fit: the system would promise more memory than it has."""
    free = available_memory()
    if needed > free:
        raise Failure(f"{what} takes {human_bytes(needed)} of memory, but only {human_bytes(free)} is free: {instead}")


@dataclass(frozen=True)
class MemorySpeed:
    """Bytes per second with all threads: of writing zeros, and of copying (counted once)."""

    zero: float
    copy: float

    def seconds(self, bytes_read: int, bytes_written: int) -> float:
        """Return the least time to write that many bytes, of which min(bytes_read, bytes_written) are copied."""
        copied = min(bytes_read, bytes_written)
        return copied / self.copy + (bytes_written - copied) / self.zero


def measure(size: int = 128 << 20, rounds: int = 5) -> MemorySpeed:
    dst, src = np.empty(size, np.uint8), np.empty(size, np.uint8)
    probe_memory(src, None, streaming=False)
    streaming = size > 16 << 20

    def best(source: NDArray[np.uint8] | None) -> float:
        times = []
        for _ in range(rounds + 1):  # the first round touches the pages
            began = time.perf_counter()
            probe_memory(dst, source, streaming)
            times.append(time.perf_counter() - began)
        return size / min(times)

    return MemorySpeed(zero=best(None), copy=best(src))
