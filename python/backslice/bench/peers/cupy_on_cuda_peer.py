"""CuPy on a CUDA device: zeros and an assignment."""

import cupy
from cupy_on_device import seconds_of as seconds_of
from slices import index_of, result_shape


def prepare(workload):
    shape, dtype, index = tuple(workload["shape"]), workload["dtype"], index_of(workload)
    if workload["kind"] == "forward":
        x = cupy.ones(shape, dtype)
        return lambda: x[index].copy()
    dy = cupy.ones(result_shape(workload), dtype)
    if workload["kind"] == "gradient":
        return lambda: assigned(shape, index, dy)
    if workload["kind"] == "many":
        dys = [dy + 0 for _ in range(workload["slices"])]
        return lambda: added(shape, dys)
    return None


def assigned(shape, index, dy):
    dx = cupy.zeros(shape, dy.dtype)
    dx[index] = dy
    return dx


def added(shape, dys):
    dx = cupy.zeros(shape, dys[0].dtype)
    for t, dy in enumerate(dys):
        dx[:, t] += dy
    return dx
