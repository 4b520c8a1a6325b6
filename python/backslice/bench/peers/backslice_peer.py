"""backslice itself, and the memory limit measured in the same process."""

import itertools

import backslice as bs
import numpy as np
from backslice._core import probe_memory
from backslice_containers import prepare_container as prepare_container
from slices import index_of, result_shape

CORES = bs.get_num_threads()


def prepare(workload):
    if workload["kind"] == "limit":
        return limit(workload)
    bs.set_num_threads(workload["threads"] or CORES)
    bs.pool.trim()
    shape, dtype, index = tuple(workload["shape"]), workload["dtype"], index_of(workload)
    dy = np.ones(result_shape(workload), dtype)
    kind = workload["kind"]
    if kind == "gradient":
        return lambda: bs.slice_grad(dy, shape, index)
    if kind == "into":
        kept = np.empty(shape, dtype)
        return lambda: bs.slice_grad(dy, shape, index, out=kept)
    if kind == "accumulate":
        dx = np.zeros(shape, dtype)
        return lambda: bs.slice_grad(dy, shape, index, out=dx, accumulate=True)
    if kind == "forward":
        x = np.ones(shape, dtype)
        return lambda: bs.slice(x, index)
    if kind == "buffer":
        buffer, starts, rows = bs.GradBuffer(shape, dtype), itertools.cycle(range(0, shape[0] - 64, 64)), dy.shape[0]
        return lambda k=starts: buffer.write(slice(start := next(k), start + rows), dy)
    dys = [np.ones(dy.shape, dtype) for _ in range(workload["slices"])]
    slices = [((slice(None), t), dys[t]) for t in range(len(dys))]
    return lambda: bs.multi_slice_grad(shape, slices)


def prepare_dask(workload):
    import backslice.dask
    from chunked import measured

    bs.pool.trim()
    return measured(workload, backslice.dask.slice_grad)


def describe(workload):
    """Return the library's description of the gradient of one slice, which is the schedule that runs."""
    if workload["kind"] != "gradient":
        return {}
    cost = bs.Selection.from_index(tuple(workload["shape"]), index_of(workload)).cost(workload["dtype"])
    return {"strategy": cost["strategy"], "pieces": cost["pieces"], "plan": cost["plan"]}


def limit(workload):
    """Plain loops: zeros for the bytes that are not selected, a copy of those that are."""
    bs.set_num_threads(workload["threads"] or CORES)
    bs.pool.trim()
    if "read_and_write" in workload:
        source, target = (bs.slice(np.ones(n, np.uint8), ":") for n in workload["read_and_write"])
        return lambda: (probe_memory(None, source, True), probe_memory(target, None, True))
    # Memory like that of results: from the pool, in huge pages if there are any.
    zeros, copied, target = (bs.slice(np.ones(max(n, 1), np.uint8), ":") for n in workload["bytes"])
    streaming = workload["streaming"]

    def call():
        if workload["bytes"][0]:
            probe_memory(zeros, None, streaming)
        if workload["bytes"][1]:
            probe_memory(target, copied, streaming)

    return call
