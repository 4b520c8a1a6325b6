"""The arguments of a slice that are the same in every run of the model."""

from typing import Any

import numpy as np

from .bodies import STANDARD
from .external import is_external
from .package import onnx

INTEGERS = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)


class WrongConstantError(Exception):
    """A defect of a constant."""


def constant_tensors(graph: Any) -> dict[str, Any]:
    """Return initializers that are not inputs, and the values of Constant nodes: tensors, or lists of integers."""
    inputs = {info.name for info in graph.input}
    found = {tensor.name: tensor for tensor in graph.initializer if tensor.name not in inputs}
    for node in graph.node:
        if node.op_type == "Constant" and node.domain in STANDARD and node.output:
            for attribute in node.attribute:
                if attribute.name == "value":
                    found[node.output[0]] = attribute.t
                elif attribute.name == "value_ints":
                    found[node.output[0]] = list(attribute.ints)
    return {name: value for name, value in found.items() if isinstance(value, list) or not is_external(value)}


def list_in(tensor: Any) -> list[int]:
    """Return the values of a constant that must be a list of integers."""
    if isinstance(tensor, list):
        return tensor
    if tensor.data_type not in INTEGERS:
        names = {number: name for name, number in onnx.TensorProto.DataType.items()}
        found = str(names.get(tensor.data_type, tensor.data_type)).lower()
        raise WrongConstantError(f"is a constant of type {found}, expected int32 or int64")
    if len(tensor.dims) != 1:
        raise WrongConstantError(f"is a constant of shape {list(tensor.dims)}, expected a list: one axis")
    try:
        return [int(value) for value in np.asarray(onnx.numpy_helper.to_array(tensor))]
    except (ValueError, TypeError) as error:
        raise WrongConstantError(f"is a damaged constant: {error}") from error


def attribute_list(attribute: Any) -> list[int]:
    """Return the values of an attribute of Slice, in opsets up to 9."""
    if attribute.name == "steps":
        raise WrongConstantError("is an attribute that Slice does not have; from opset 10 on, steps are an input")
    if attribute.type != onnx.AttributeProto.INTS:
        names = {number: name for name, number in onnx.AttributeProto.AttributeType.items()}
        raise WrongConstantError(f"is an attribute of type {names.get(attribute.type, attribute.type)}, expected INTS")
    return list(attribute.ints)
