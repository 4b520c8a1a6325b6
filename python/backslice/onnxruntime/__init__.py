"""ONNX Runtime with backslice's operators: ``com.microsoft::SliceGrad``, and those of domain ``backslice``.

>>> import onnxruntime
>>> from backslice.onnxruntime import session_options
>>> session = onnxruntime.InferenceSession("training.onnx", session_options())

ONNX Runtime is imported by :func:`session_options` alone.
"""

from .registration import library_path, session_options

__all__ = ["library_path", "session_options"]
