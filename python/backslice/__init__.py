"""The backward pass of slicing, exact for every dtype.

>>> import numpy as np
>>> import backslice as bs
>>> bs.slice_grad(np.array([1.0, 2.0]), (4,), np.s_[1:3])
array([0., 1., 2., 0.])
"""

import os
import sys
from typing import TYPE_CHECKING

# python -m backslice: Ctrl-C is answered before anything large is imported
if getattr(sys, "argv", [])[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)] in ("backslice", "backslice.cli"):
    import backslice_command

    backslice_command.answer_interrupts()

try:
    from ._core import __version__ as __version__  # first: a wheel for another platform fails here
except ImportError as error:
    raise ImportError(
        f"backslice's extension module does not fit Python {sys.version_info[0]}.{sys.version_info[1]} on "
        f"{os.uname().machine}, or its installation is incomplete; `pip install --force-reinstall backslice` installs "
        f"one that fits ({error.__cause__ or error})"
    ) from error

from . import cuda, pool, ragged
from ._core import (
    DeviceArray,
    GradBuffer,
    PreparedSlice,
    RaggedTensor,
    Selection,
    TensorArray,
    VariantArray,
    _register,
    get_num_threads,
    multi_slice_grad,
    multi_slice_write,
    onnx_slice,
    onnx_slice_grad,
    ragged_tensor_from_variant,
    ragged_tensor_from_variant_gradient,
    ragged_tensor_to_variant,
    ragged_tensor_to_variant_gradient,
    set_num_threads,
    simd_target,
    simd_targets,
    slice,
    slice_grad,
    sparse_slice,
    sparse_slice_grad,
    sparse_slice_grad_by_size,
    strided_slice,
    strided_slice_grad,
    tensor_array_grad_with_shape,
)
from ._core import TensorArrayContainer as _TensorArrayContainer
from .conversion import as_array as _as_array
from .conversion import refuse_masked as _refuse_masked
from .deprecated import deprecated_names as _deprecated_names
from .devices import cuda_interface as _cuda_interface
from .devices import cuda_place as _cuda_place
from .devices import cuda_stream as _cuda_stream
from .devices import keep_memory as _keep_memory
from .devices import library_of as _library_of
from .devices import new_cuda_array as _new_cuda_array
from .dlpack import to_dlpack
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
from .linking import get_cmake_dir, get_include, get_library
from .memory import keep_memory
from .protocols import array_as as _array_as
from .protocols import reduced as _reduced
from .suggestions import bind_call as _bind_call

__all__ = [
    "DTypeError",
    "DeviceArray",
    "Error",
    "FailedPreconditionError",
    "GradBuffer",
    "InternalError",
    "InvalidArgumentError",
    "OutOfRangeError",
    "PreparedSlice",
    "RaggedTensor",
    "ResourceExhaustedError",
    "Selection",
    "TensorArray",
    "UnimplementedError",
    "VariantArray",
    "__version__",
    "cuda",
    "get_cmake_dir",
    "get_include",
    "get_library",
    "get_num_threads",
    "keep_memory",
    "multi_slice_grad",
    "multi_slice_write",
    "onnx_slice",
    "onnx_slice_grad",
    "pool",
    "ragged",
    "ragged_tensor_from_variant",
    "ragged_tensor_from_variant_gradient",
    "ragged_tensor_to_variant",
    "ragged_tensor_to_variant_gradient",
    "set_num_threads",
    "simd_target",
    "simd_targets",
    "slice",
    "slice_grad",
    "sparse_slice",
    "sparse_slice_grad",
    "sparse_slice_grad_by_size",
    "strided_slice",
    "strided_slice_grad",
    "tensor_array_grad_with_shape",
    "to_dlpack",
]

for _value in [globals()[name] for name in __all__]:  # for help(), repr() and pickle
    if getattr(_value, "__module__", None) == "backslice._core":
        _value.__module__ = "backslice"

if not TYPE_CHECKING:
    __getattr__ = _deprecated_names(
        __name__, {"TensorArrayContainer": (_TensorArrayContainer, "a dict from names to tensor arrays")}
    )


def _picture_of(shown: Selection | RaggedTensor, format: str) -> object:
    from . import picture  # large, and few programs draw

    return getattr(picture, format)(picture.of(shown))


# The extension module imports nothing of the package.
_register(
    {
        "DTypeError": DTypeError,
        "Error": Error,
        "FailedPreconditionError": FailedPreconditionError,
        "InternalError": InternalError,
        "InvalidArgumentError": InvalidArgumentError,
        "OutOfRangeError": OutOfRangeError,
        "ResourceExhaustedError": ResourceExhaustedError,
        "UnimplementedError": UnimplementedError,
        "array_as": _array_as,
        "as_array": _as_array,
        "bind_call": _bind_call,
        "cuda_interface": _cuda_interface,
        "cuda_place": _cuda_place,
        "cuda_stream": _cuda_stream,
        "from_list": ragged.from_list,
        "from_row_lengths": ragged.from_row_lengths,
        "keep_memory": _keep_memory,
        "library_of": _library_of,
        "new_cuda_array": _new_cuda_array,
        "picture_of": _picture_of,
        "reduced": _reduced,
        "refuse_masked": _refuse_masked,
    }
)
