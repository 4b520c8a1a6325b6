"""Memory in the workers of a cluster and in the processes of a pool.

A process keeps the memory of results for the next ones, up to a quarter of the machine's. A worker has a smaller
limit of its own, and is stopped where it passes it: what it keeps must fit that. The processes of a pool share the
machine, and so that quarter.
"""

import multiprocessing
import os
import sys

from dask.system import CPU_COUNT

from .. import pool

SHARE = 16  # of a worker's memory: what may be kept for the next chunks

_prepared = 0  # the process whose pool has been limited


def prepare_worker() -> None:
    """Limit the pool once per process, where the process is not the user's own."""
    global _prepared
    if _prepared != os.getpid():
        _prepared = os.getpid()
        now = pool.stats()["limit"]
        if limit := _memory_limit():
            pool.set_limit(min(now, limit // SHARE))
        elif multiprocessing.parent_process() is not None:
            pool.set_limit(now // CPU_COUNT)  # as many processes as Dask starts unless told otherwise


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
