"""PyTorch with gradients of slices that cost what they hold: one line, and models stay as they are.

>>> import backslice.torch as bt
>>> bt.install()
>>> print(bt.status())

Nothing changes until :func:`install` is called. :func:`slice`, :func:`multi_slice` and :func:`pad_to` work without it.
"""

from ..suggestions import check_keywords as _check_keywords
from . import versions as _versions  # noqa: F401  first: it says what is missing
from .installing import enabled, install, uninstall
from .report import KernelStatus, Status, status
from .slices import multi_slice, pad_to, slice

__all__ = ["KernelStatus", "Status", "enabled", "install", "multi_slice", "pad_to", "slice", "status", "uninstall"]

_check_keywords(__name__)
