"""Gradients of slices of Dask arrays: lazy, chunk by chunk.

Every function only builds a graph. A chunk of a result depends on the chunks of dy that meet it.

>>> import dask.array as da
>>> from backslice.dask import slice_grad
>>> slice_grad(da.ones(4, chunks=2), (6,), "1:5", chunks=3).compute()
array([0., 1., 1., 1., 1., 0.])
"""

try:
    from .slices import multi_slice_grad, onnx_slice_grad, slice_grad, strided_slice_grad
    from .sparse import sparse_slice_grad, sparse_slice_grad_by_size
except ImportError as error:
    raise ImportError(
        "backslice.dask needs Dask 2026.8 or later with its arrays, which cannot be imported here; "
        f'`pip install "backslice[dask]"` installs it ({error})'
    ) from error

__all__ = [
    "multi_slice_grad",
    "onnx_slice_grad",
    "slice_grad",
    "sparse_slice_grad",
    "sparse_slice_grad_by_size",
    "strided_slice_grad",
]
