"""Slices and their gradients in JAX, one pass over memory each.

>>> import backslice.jax as bsj
>>> steps = bsj.multi_slice(x, [(slice(None), t) for t in range(512)])

On CPUs they run backslice's kernels, on XLA's threads, and on CUDA devices too, in builds with CUDA; on other devices
they are JAX's own operations.
"""

from ..suggestions import check_keywords as _check_keywords
from . import library as _library  # first: it says what is missing

with _library.names_of_jax():
    from .fuse import fuse_slices
    from .handlers import export_checks
    from .ragged import ragged_gradient
    from .report import Status, status
    from .slices import multi_slice, multi_slice_grad, slice, slice_grad
    from .sparse import sparse_slice_grad

__all__ = [
    "Status",
    "export_checks",
    "fuse_slices",
    "multi_slice",
    "multi_slice_grad",
    "ragged_gradient",
    "slice",
    "slice_grad",
    "sparse_slice_grad",
    "status",
]

_check_keywords(__name__)
