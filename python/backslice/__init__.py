"""The backward pass of slicing, exact for every dtype.

>>> import numpy as np
>>> import backslice as bs
>>> bs.slice_grad(np.array([1.0, 2.0]), (4,), np.s_[1:3])
array([0., 1., 2., 0.])
"""

from ._core import (
    Selection,
    __version__,
    onnx_slice,
    onnx_slice_grad,
    slice,
    slice_grad,
    strided_slice,
    strided_slice_grad,
)
from .errors import (
    DTypeError,
    Error,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
)

__all__ = [
    "DTypeError",
    "Error",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "OutOfRangeError",
    "ResourceExhaustedError",
    "Selection",
    "UnimplementedError",
    "__version__",
    "onnx_slice",
    "onnx_slice_grad",
    "slice",
    "slice_grad",
    "strided_slice",
    "strided_slice_grad",
]
