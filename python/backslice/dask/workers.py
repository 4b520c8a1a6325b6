"""Memory in the workers of a cluster.

A process keeps the memory of results for the next ones, up to a quarter of the machine's. A worker has a smaller
limit of its own, and is stopped where it passes it: what it keeps must fit that.
"""

import os
import sys

from .. import pool

SHARE = 16  # of a worker's memory: what may be kept for the next chunks

_prepared = 0  # the process whose pool has been limited


def prepare_worker() -> None:
    """Limit the pool once per process, where the process belongs to a worker."""
    global _prepared
    if _prepared != os.getpid():
        _prepared = os.getpid()
        if limit := _memory_limit():
            pool.set_limit(min(pool.stats()["limit"], limit // SHARE))


def _memory_limit() -> int | None:
    """The memory of the worker that this process is; None where it is the user's own process."""
    if "distributed.worker" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:  # no task of a worker runs here
        return None
    return worker.memory_manager.memory_limit if worker.nanny else None
