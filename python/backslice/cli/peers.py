"""How other libraries compute the gradient of a slice, as measured on them."""

from typing import Any

import numpy as np

import backslice as bs

from .dtypes import dtype_name

# the dtypes of backslice that TensorFlow's CPU kernel supports
TENSORFLOW = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
              "float32", "float64", "complex64", "complex128", "float8_e5m2", "float8_e4m3fn", "qint8", "quint8",
              "qint32", "object"}  # fmt: skip


def peers_on(selection: bs.Selection, dtype: np.dtype[Any]) -> dict[str, str]:
    """Return a sentence for each peer."""
    name = dtype_name(dtype)
    full = "fills the whole gradient with zeros, then copies dy into it"
    negative = any(step < 0 for _, step, _ in selection.axes)
    # ONNX Runtime merges trailing axes of extent 1
    innermost = [axis for extent, axis in zip(selection.shape, selection.axes, strict=True) if extent > 1][-1:]
    reversed_rows = any(step < 0 for _, step, _ in innermost)
    return {
        "NumPy": f"dx = np.zeros(shape, dtype); dx[index] = dy: {full}",
        "TensorFlow": _tensorflow(selection, name, full),
        "ONNX Runtime": _onnx_runtime(selection, name, reversed_rows, full),
        "PyTorch": _pytorch(dtype, negative, full),
        "JAX": "has no strings" if dtype.kind in "OSU" else f"{full}, on one core",
    }


def _pytorch(dtype: np.dtype[Any], negative: bool, full: str) -> str:
    if dtype.kind in "OSU":
        return "has no strings"
    return "refuses negative steps: flip first" if negative else f"{full}, once per slice"


def _tensorflow(selection: bs.Selection, name: str, full: str) -> str:
    if len(selection.shape) >= 9:
        return "returns uninitialised memory: its gradient silently does nothing at rank 9 and above"
    if name not in TENSORFLOW and not name.startswith(("<U", "|S")):
        return f"has no kernel for {name}"
    return full


def _onnx_runtime(selection: bs.Selection, name: str, reversed_rows: bool, full: str) -> str:
    if name not in ("float32", "float64"):
        return f"computes only float32 and float64, not {name}"
    if reversed_rows:
        return "fails with a narrowing error: a negative step on the innermost axis"
    if 0 in selection.result_shape:
        return "does not check dY of an empty slice: any dY passes silently"
    return f"{full}; a dY with too many elements writes out of bounds"
