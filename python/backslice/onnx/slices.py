"""The Slice nodes of a model, of every opset, with as much as is known of them before it runs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import Selection
from ..errors import Error, InvalidArgumentError
from .package import onnx

ARGUMENTS = ("starts", "ends", "axes", "steps")
FIRST_WITH_INPUTS = 10  # the opset in which starts, ends and axes became inputs, and steps were added


@dataclass(frozen=True)
class SliceNode:
    """A Slice of a model.

    Attributes
    ----------
    name : str
        The name of the node, or of its output where it has none.
    data, output : str
        What is sliced, and the slice.
    shape : tuple of (int or None), or None
        The shape of what is sliced, as far as it is known ahead.
    elem_type : int
        ONNX's number of the element type; 0 where it is not known.
    inputs : dict of str
        The names of the inputs that are starts, ends, axes and steps, from opset 10 on.
    constants : dict of list of int
        The values of those that are constant.
    """

    name: str
    data: str
    output: str
    shape: tuple[int | None, ...] | None
    elem_type: int
    inputs: dict[str, str]
    constants: dict[str, list[int]]

    @property
    def is_floating(self) -> bool:
        """Whether it has a gradient in the sense of training: its elements are real or complex numbers."""
        names = {number: name for name, number in onnx.TensorProto.DataType.items()}
        return str(names.get(self.elem_type, "")).startswith(("FLOAT", "DOUBLE", "COMPLEX", "BFLOAT"))

    @property
    def is_constant(self) -> bool:
        """Whether everything but the shape is known ahead."""
        return {"starts", "ends"} <= set(self.constants) and set(self.inputs) <= set(self.constants)

    def selection(self) -> Selection | None:
        """Return what it takes, or None where that is not known before the model runs.

        Raises
        ------
        InvalidArgumentError
            The slice is none that ONNX Runtime would run.
        """
        if not self.is_constant or self.shape is None or None in self.shape:
            return None
        try:
            return Selection.from_onnx([n for n in self.shape if n is not None], **self.constants)
        except Error as error:
            raise InvalidArgumentError(f"Slice {self.name!r}: {error}") from error


def slice_nodes(model: Any) -> list[SliceNode]:
    """List the Slice nodes of a model's graph, in its order.

    Those inside the bodies of If, Loop and Scan are not among them.

    Parameters
    ----------
    model : onnx.ModelProto
        A model of any opset.

    Returns
    -------
    list of SliceNode
        One per node.

    Raises
    ------
    InvalidArgumentError
        `model` is no ModelProto, onnx cannot infer its shapes, or a Slice lacks what it slices, its starts or its
        ends.
    """
    if not isinstance(model, onnx.ModelProto):
        raise InvalidArgumentError(
            f"model is {type(model).__name__}, expected an onnx.ModelProto; onnx.load(path) makes one from a file"
        )
    inferred = _inferred(model)
    types = _types(inferred.graph)
    constants = _constants(inferred.graph)
    opset = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 1)
    slices = [node for node in inferred.graph.node if node.op_type == "Slice" and node.domain in ("", "ai.onnx")]
    return [_slice_node(node, types, constants, opset) for node in slices]


def _inferred(model: Any) -> Any:
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True)
    except (onnx.shape_inference.InferenceError, ValueError) as error:  # ValueError: 2 GB and more
        raise InvalidArgumentError(f"onnx cannot infer the shapes of the model: {error}") from error


def _slice_node(node: Any, types: dict[str, Any], constants: dict[str, list[int]], opset: int) -> SliceNode:
    name = node.name or next(iter(node.output), "")
    if not node.input or not node.output:
        raise InvalidArgumentError(f"Slice {name!r} has {len(node.input)} inputs and {len(node.output)} outputs")
    if opset < FIRST_WITH_INPUTS:
        inputs: dict[str, str] = {}
        known = {a.name: list(a.ints) for a in node.attribute if a.name in ARGUMENTS}
    else:
        inputs = {name: given for name, given in zip(ARGUMENTS, node.input[1:], strict=False) if given}
        known = {name: constants[given] for name, given in inputs.items() if given in constants}
    if lacking := {"starts", "ends"} - {*inputs, *known}:
        where = "attribute" if opset < FIRST_WITH_INPUTS else "input"
        raise InvalidArgumentError(f"Slice {name!r} has no {where} {min(lacking)}, which opset {opset} wants")
    data = types.get(node.input[0])
    return SliceNode(
        name=name,
        data=node.input[0],
        output=node.output[0],
        shape=None if data is None else _shape(data),
        elem_type=0 if data is None else int(data.elem_type),
        inputs=inputs,
        constants=known,
    )


def _types(graph: Any) -> dict[str, Any]:
    """What is known of the type of each tensor, by its name."""
    values = {info.name: info.type.tensor_type for info in [*graph.value_info, *graph.input, *graph.output]}
    for tensor in graph.initializer:
        made = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
        values.setdefault(tensor.name, made.type.tensor_type)
    return values


def _shape(tensor_type: Any) -> tuple[int | None, ...] | None:
    if not tensor_type.HasField("shape"):
        return None
    return tuple(int(d.dim_value) if d.HasField("dim_value") else None for d in tensor_type.shape.dim)


def _constants(graph: Any) -> dict[str, list[int]]:
    """The lists of integers that no run of the model changes: initializers that are no inputs, and Constant nodes."""
    inputs = {info.name for info in graph.input}
    tensors = {tensor.name: tensor for tensor in graph.initializer if tensor.name not in inputs}
    lists: dict[str, list[int]] = {}
    for node in graph.node:
        if node.op_type == "Constant" and node.domain in ("", "ai.onnx"):
            for attribute in node.attribute:
                if attribute.name == "value":
                    tensors[node.output[0]] = attribute.t
                elif attribute.name == "value_ints":
                    lists[node.output[0]] = list(attribute.ints)
    for name, tensor in tensors.items():
        if tensor.data_type in (onnx.TensorProto.INT32, onnx.TensorProto.INT64) and len(tensor.dims) == 1:
            lists[name] = np.asarray(onnx.numpy_helper.to_array(tensor)).tolist()
    return lists
