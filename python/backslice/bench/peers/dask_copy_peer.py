"""No gradient but a yardstick: a plain copy, chunk by chunk, of an array of the gradient's size."""

import dask.array as da
import numpy as np
from chunked import measured


def prepare_dask(workload):
    whole = workload | {"index": [], "dy_chunks": workload["chunks"]}
    return measured(whole, copied)


def copied(x, shape, index, chunks):
    return da.map_blocks(np.copy, x, dtype=x.dtype, meta=np.empty((0,) * x.ndim, x.dtype))
