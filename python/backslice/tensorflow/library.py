"""The library with the kernels, loaded into TensorFlow. Importing this module imports TensorFlow."""

import ctypes
from pathlib import Path
from typing import Any

from ..frameworks import check_version, imported

tf = imported("tensorflow", "backslice.tensorflow needs TensorFlow")
check_version(tf.__version__, "backslice.tensorflow needs TensorFlow", (2, 16))

TYPES = {"float32": 1, "int4": 29}  # TensorFlow's numbers
PATH = Path(__file__).with_name("libbackslice_tensorflow.so")


def _load() -> tuple[Any, ctypes.CDLL]:
    """The Python functions of our ops, and the library itself. Loading it registers the ops."""
    try:
        return tf.load_op_library(str(PATH)), ctypes.CDLL(str(PATH))
    except (OSError, tf.errors.OpError) as error:
        raise ImportError(f"backslice's kernels cannot be loaded into TensorFlow {tf.__version__}: {error}") from error


ops, _library = _load()


def _function(name: str, result: Any = ctypes.c_char_p, *arguments: Any) -> Any:
    function = getattr(_library, f"backslice_tensorflow_{name}")
    function.restype, function.argtypes = result, arguments
    return function


_kernel_in_use = _function("kernel_in_use", ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int)

if (_failure := _function("load_error")()) is not None:
    raise ImportError(f"backslice's ops cannot be registered with TensorFlow {tf.__version__}: {_failure.decode()}")


def install() -> None:
    _call("install")


def uninstall() -> None:
    _call("uninstall")


def is_installed() -> bool:
    return bool(_function("is_installed", ctypes.c_int)())


def kernel_in_use(op: str, dtype: str = "float32") -> str:
    """The name of the kernel that TensorFlow takes on the CPU; empty where it has none or does not tell."""
    name: bytes = _kernel_in_use(op.encode(), TYPES[dtype])
    return name.decode()


def _call(name: str) -> None:
    if (failure := _function(name)()) is not None:
        raise RuntimeError(f"TensorFlow {tf.__version__}: {failure.decode()}")
