"""The library with the kernels, loaded into TensorFlow. Importing this module imports TensorFlow."""

import ctypes
from pathlib import Path
from typing import Any, Literal

from ..frameworks import adapter_library, check_version, imported

tf = imported("tensorflow", "backslice.tensorflow needs TensorFlow", "__version__", "load_op_library", "errors")
check_version(tf.__version__, "backslice.tensorflow needs TensorFlow", (2, 16))

OPS = ("StridedSliceGrad", "StridedSlice", "SparseSlice", "SparseSliceGrad")
PATH = Path(__file__).with_name("libbackslice_tensorflow.so")


def _load() -> tuple[Any, ctypes.CDLL]:
    """The Python functions of our ops, and the library itself. Loading it registers the ops."""
    try:
        return tf.load_op_library(str(adapter_library(PATH))), ctypes.CDLL(str(PATH))
    except (OSError, tf.errors.OpError) as error:
        raise ImportError(f"backslice's kernels cannot be loaded into TensorFlow {tf.__version__}: {error}") from error


ops, _library = _load()


def _function(name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(_library, f"backslice_tensorflow_{name}")
    function.restype, function.argtypes = result, arguments
    return function


_register = _function("register", ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p)
_enable = _function("enable", None, ctypes.c_int)
_calls = _function("calls", ctypes.c_int64, ctypes.c_char_p, ctypes.c_int)

if (_failure := _function("load_error", ctypes.c_char_p)()) is not None:
    raise ImportError(f"backslice's ops cannot be registered with TensorFlow {tf.__version__}: {_failure.decode()}")


def register(op: str, label: str = "") -> None:
    """Register a kernel in front of TensorFlow's own, or under a label. Once per label; it holds for the process."""
    if (failure := _register(op.encode(), label.encode())) is not None:
        raise RuntimeError(f"TensorFlow {tf.__version__} refused the kernel of {op}: {failure.decode()}")


def enable(fast: bool) -> None:
    """Switch the kernels to their fast or their plain implementations."""
    _enable(int(fast))


def calls(op: str, kind: Literal["plain", "fast", "test"]) -> int:
    """Return how many calls of an op there were. Those for nodes with the attribute ``_backslice_test`` are tests."""
    return int(_calls(op.encode(), ("plain", "fast", "test").index(kind)))
