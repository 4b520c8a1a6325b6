"""TensorFlow with backslice's kernels: one line, and `tf.GradientTape` runs them.

>>> import backslice.tensorflow as bst
>>> bst.install()
>>> print(bst.status())

Nothing changes until :func:`install` is called. :func:`multi_slice`, :func:`slice` and their gradients work without it.
"""

from ..suggestions import check_keywords as _check_keywords
from . import library as _library  # noqa: F401  first: it says what is missing
from .compiled_kernels import build
from .compiler import BuildError
from .installing import enabled, install, uninstall
from .report import KernelStatus, Status, status
from .slices import multi_slice, multi_slice_grad, slice, slice_grad

__all__ = [
    "BuildError", "KernelStatus", "Status", "build", "enabled", "install", "multi_slice", "multi_slice_grad", "slice",
    "slice_grad", "status", "uninstall",
]  # fmt: skip

_check_keywords(__name__)
