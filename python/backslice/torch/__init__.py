"""PyTorch with gradients of slices that cost what they hold: one line, and models stay as they are.

>>> import backslice.torch as bt
>>> bt.install()
>>> print(bt.status())

Nothing changes until :func:`install` is called.
"""

from . import versions as _versions  # noqa: F401  first: it says what is missing
from .installing import enabled, install, uninstall
from .report import KernelStatus, Status, status

__all__ = ["KernelStatus", "Status", "enabled", "install", "status", "uninstall"]
