"""Dask's own functions: zeros, and an assignment."""

import dask.array as da
from chunked import measured


def prepare_dask(workload):
    return measured(workload, assigned)


def assigned(dy, shape, index, chunks):
    dx = da.zeros(shape, chunks=chunks, dtype=dy.dtype)
    dx[index] = dy
    return dx
