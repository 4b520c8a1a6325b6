"""Kernels of other libraries, found through TensorFlow's C interface."""

import ctypes
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import tensorflow as tf


class _Buffer(ctypes.Structure):  # TF_Buffer
    _fields_ = (("data", ctypes.c_void_p), ("length", ctypes.c_size_t), ("deallocate", ctypes.c_void_p))


def replaced(ops: Iterable[str]) -> list[str]:
    """Return the ops for which another library has put a kernel in front of TensorFlow's own, which have priority 0.

    TensorFlow refuses to run an op that has two such kernels of one priority. Without these functions of the C
    interface, no op is found.
    """
    with suppress(ImportError, OSError, AttributeError):
        return [op for op in ops if any(_precedes(kernel) for kernel in _kernels(op))]
    return []


def _precedes(kernel: Any) -> bool:
    return kernel.device_type == "CPU" and not kernel.label and kernel.priority > 0


def _kernels(op: str) -> Any:
    from tensorflow.core.framework import kernel_def_pb2

    functions = _functions()
    status = functions.TF_NewStatus()
    buffer = functions.TF_GetRegisteredKernelsForOp(op.encode(), status)
    functions.TF_DeleteStatus(status)
    if not buffer:
        return []
    serialized = ctypes.string_at(buffer.contents.data, buffer.contents.length)
    functions.TF_DeleteBuffer(buffer)
    return kernel_def_pb2.KernelList.FromString(serialized).kernel


@cache
def _functions() -> ctypes.CDLL:
    functions = ctypes.CDLL(str(Path(tf.sysconfig.get_lib()) / "libtensorflow_cc.so.2"))  # has been loaded already
    functions.TF_NewStatus.restype = ctypes.c_void_p
    functions.TF_DeleteStatus.argtypes = [ctypes.c_void_p]
    functions.TF_GetRegisteredKernelsForOp.restype = ctypes.POINTER(_Buffer)
    functions.TF_GetRegisteredKernelsForOp.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    functions.TF_DeleteBuffer.argtypes = [ctypes.POINTER(_Buffer)]
    return functions
