"""The package `onnx`, or what to do where there is none."""

try:
    import onnx
except ImportError as error:
    raise ImportError(
        "backslice.onnx needs the package onnx, which cannot be imported here; "
        f"`pip install onnx` installs it ({error})"
    ) from error

__all__ = ["onnx"]
