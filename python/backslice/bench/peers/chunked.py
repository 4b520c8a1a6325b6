"""Shared by the Dask workloads: a lazy dy, and a way to compute every chunk of a gradient and keep none.

Every form is given the same dy, and returns a gradient in the same chunks: those of the array that was sliced.
"""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache

import dask
import dask.array as da
import numpy as np
from slices import index_of, result_shape


@lru_cache(maxsize=1)
def block_of_ones(shape, dtype):
    return np.ones(shape, dtype)


def chunk_of_dy(block, dtype, block_info):
    """Memory that exists: the cost of making dy is not that of its gradient."""
    shape = block_info[None]["chunk-shape"]
    return block_of_ones(tuple(block), dtype)[tuple(map(slice, shape))]


def lazy_dy(workload):
    shape, dtype = result_shape(workload), workload["dtype"]
    chunks = da.core.normalize_chunks(tuple(workload["dy_chunks"]), shape, dtype=dtype)
    block = [max(sizes) for sizes in chunks]
    return da.map_blocks(chunk_of_dy, block, dtype, chunks=chunks, dtype=dtype, meta=np.empty((0,) * len(shape), dtype))


def used(chunk):
    """Keeps nothing of a chunk."""
    return np.zeros((1,) * chunk.ndim, bool)


def schedule(scheduler, workers):
    """Return options of compute(). Processes are started once: their start is not measured."""
    if scheduler == "threads":
        return {"scheduler": scheduler, "num_workers": workers}
    return {"scheduler": scheduler, "pool": processes(workers)}


@lru_cache(maxsize=1)
def processes(workers):
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def measured(workload, make_gradient):
    """A call that builds the graph of `make_gradient(dy, shape, index, chunks)` and computes every chunk."""
    shape, index = tuple(workload["shape"]), index_of(workload)
    chunks = da.core.normalize_chunks(tuple(workload["chunks"]), shape, dtype=workload["dtype"])
    options = schedule(workload["scheduler"], workload["threads"] or dask.system.CPU_COUNT)

    def call():
        dx = make_gradient(lazy_dy(workload), shape, index, chunks)
        if dx.chunks != chunks:
            raise ValueError(f"chunks are {dx.chunks}, expected {chunks}")
        ones = tuple((1,) * len(sizes) for sizes in chunks)
        dx.map_blocks(used, dtype=bool, chunks=ones, meta=np.empty((0,) * len(shape), bool)).compute(**options)

    return call
