"""Imports the package `onnx`. If it is missing, the error says how to install it."""

from ..frameworks import imported

onnx = imported("onnx", "backslice.onnx needs the package onnx")
