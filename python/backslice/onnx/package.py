"""The package `onnx`, or what to do where there is none."""

from ..frameworks import imported

onnx = imported("onnx", "backslice.onnx needs the package onnx")
