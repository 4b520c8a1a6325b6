"""Imports the package `onnx`, or says how to install it."""

from ..frameworks import imported

onnx = imported("onnx", "backslice.onnx needs the package onnx")
