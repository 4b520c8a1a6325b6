"""Gradients of slices in PyTorch that cost only the selected elements: one line, and models stay unchanged.

>>> import backslice.torch as bt
>>> bt.install()
>>> print(bt.status())

Nothing changes until :func:`install` is called. :func:`slice`, :func:`multi_slice` and :func:`pad_to` work without it.
"""

from ..frameworks import imported as _imported
from ..suggestions import check_keywords as _check_keywords

_imported("torch", "backslice.torch needs PyTorch", "__version__", "Tensor", "library")

from .compiled import compile_backend, fuse_graph  # noqa: E402
from .installing import enabled, install, uninstall  # noqa: E402
from .report import KernelStatus, Status, status  # noqa: E402
from .slices import multi_slice, pad_to, slice  # noqa: E402

__all__ = [
    "KernelStatus",
    "Status",
    "compile_backend",
    "enabled",
    "fuse_graph",
    "install",
    "multi_slice",
    "pad_to",
    "slice",
    "status",
    "uninstall",
]

_check_keywords(__name__)
