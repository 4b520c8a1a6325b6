"""ONNX Runtime with backslice's operators: those of domain ``backslice``, and ``com.microsoft::SliceGrad``.

>>> import onnxruntime
>>> from backslice.onnxruntime import session_options
>>> session = onnxruntime.InferenceSession("training.onnx", session_options("training.onnx"))

ONNX Runtime is imported by :func:`session_options` alone.
"""

from .registration import library_path, session_options
from .report import Status, status

__all__ = ["Status", "library_path", "session_options", "status"]
