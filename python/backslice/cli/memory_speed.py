"""How fast this machine's memory is: what no gradient can beat."""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._core import probe_memory


@dataclass(frozen=True)
class MemorySpeed:
    """Bytes per second with all threads: writing zeros, and copying (counted once)."""

    zero: float
    copy: float

    def seconds(self, bytes_read: int, bytes_written: int) -> float:
        """The least time to write that much, of which so much is copied from elsewhere."""
        copied = min(bytes_read, bytes_written)
        return copied / self.copy + (bytes_written - copied) / self.zero


def measure(size: int = 128 << 20, rounds: int = 5) -> MemorySpeed:
    dst, src = np.empty(size, np.uint8), np.empty(size, np.uint8)
    probe_memory(src, None, streaming=False)
    streaming = size > 16 << 20

    def best(source: NDArray[np.uint8] | None) -> float:
        times = []
        for _ in range(rounds + 1):  # the first touches the pages
            began = time.perf_counter()
            probe_memory(dst, source, streaming)
            times.append(time.perf_counter() - began)
        return size / min(times)

    return MemorySpeed(zero=best(None), copy=best(src))
