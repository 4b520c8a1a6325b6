"""Memory in the workers of a cluster and in the processes of a pool.

A process keeps the memory of results for later ones, up to a quarter of the machine's memory. A worker has a smaller
limit of its own, and is stopped if it exceeds it; its kept memory must fit that limit. The processes of a pool share
the machine, and so share that quarter.
"""

import multiprocessing
import os
import sys

from dask.system import CPU_COUNT

from .. import pool

SHARE = 16  # fraction of a worker's memory that may be kept for later chunks

_prepared = 0  # the process whose pool is limited already


def prepare_worker() -> None:
    """Limit the pool once per process, unless it is the user's own process."""
    global _prepared
    if _prepared != os.getpid():
        _prepared = os.getpid()
        now = pool.stats()["limit"]
        if limit := _memory_limit():
            pool.set_limit(min(now, limit // SHARE))
        elif multiprocessing.parent_process() is not None:
            pool.set_limit(now // CPU_COUNT)  # the number of processes that Dask starts by default


def _memory_limit() -> int | None:
    """Return the memory limit of the worker in this process; None in the user's own process."""
    if "distributed.worker" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:  # no task of a worker runs here
        return None
    return worker.memory_manager.memory_limit if worker.nanny else None
