"""Makes the nodes that compute the gradients of a model's slices."""

from dataclasses import dataclass, field
from typing import Any

from ..errors import InvalidArgumentError
from .package import onnx
from .slices import ARGUMENTS, SliceNode, slice_nodes

MICROSOFT, BACKSLICE = "com.microsoft", "backslice"


@dataclass(frozen=True)
class GradientNodes:
    """What :func:`gradient_nodes` returns.

    Attributes
    ----------
    nodes : list of onnx.NodeProto
        In the order in which they run. They read tensors of the forward model by their names.
    dys : dict of str
        For each slice, the name under which the nodes read its gradient.
    dxs : dict of str
        For each tensor that is sliced, the name of its gradient.
    slices : list of SliceNode
        The slices.
    """

    nodes: list[Any] = field(default_factory=list)
    dys: dict[str, str] = field(default_factory=dict)
    dxs: dict[str, str] = field(default_factory=dict)
    slices: list[SliceNode] = field(default_factory=list)

    def added_to(self, model: Any) -> Any:
        """Return the model with the nodes added to it: it takes the dys as well, and returns the dxs as well.

        Parameters
        ----------
        model : onnx.ModelProto
            The forward model, which is not changed.

        Returns
        -------
        onnx.ModelProto
            Checked by ``onnx.checker``, with its shapes inferred.
        """
        result = onnx.ModelProto()
        result.CopyFrom(model)
        result.graph.node.extend(self.nodes)
        for node in self.slices:
            result.graph.input.append(_info(self.dys[node.output], node.elem_type, _result_shape(node)))
        sliced = {node.data: node for node in self.slices}
        for data, dx in self.dxs.items():
            result.graph.output.append(_info(dx, sliced[data].elem_type, sliced[data].shape))
        present = {entry.domain for entry in result.opset_import}
        for domain in sorted({node.domain for node in self.nodes} - present - {""}):
            result.opset_import.append(onnx.helper.make_opsetid(domain, 1))
        onnx.checker.check_model(result)
        return onnx.shape_inference.infer_shapes(result, check_type=True)


def gradient_nodes(model: Any, *, suffix: str = "_grad") -> GradientNodes:
    """Make the nodes that compute the gradients of a model's slices.

    A slice becomes a ``com.microsoft::SliceGrad``; every further slice of the same tensor a
    ``backslice::SliceGradAccumulate``, which adds to the gradient that is there. Sessions made with
    :func:`backslice.onnxruntime.session_options` run both.

    Parameters
    ----------
    model : onnx.ModelProto
        The forward model, of any opset: up to 9, the slices have attributes; from 10 on inputs, constant or not.
    suffix : str
        What is put after the name of a tensor to name its gradient.

    Returns
    -------
    GradientNodes
        The nodes, and how their inputs and outputs are named.

    Raises
    ------
    InvalidArgumentError
        The model has no Slice node, one is wrong, the type of a sliced tensor is not known, or a name is taken already.

    Examples
    --------
    >>> gradients = gradient_nodes(model)
    >>> gradients.dxs
    {'x': 'x_grad'}
    >>> onnx.save(gradients.added_to(model), "with_gradients.onnx")
    """
    slices = slice_nodes(model)
    if not slices:
        raise InvalidArgumentError("model has no Slice node in its graph, so there is no gradient to make")
    made = GradientNodes(slices=slices)
    made.dys.update({node.output: node.output + suffix for node in slices})
    made.dxs.update({node.data: node.data + suffix for node in slices})
    for data, dx in made.dxs.items():
        made.nodes.extend(_nodes([node for node in slices if node.data == data], made.dys, dx))
    _check_names(model, made)
    return made


def _check(node: SliceNode) -> None:
    node.selection()  # raises where it is wrong
    if node.elem_type == 0:
        raise InvalidArgumentError(
            f"the type of {node.data!r}, which Slice {node.name!r} slices, is not known; "
            "add it to the model's value_info, or run onnx.shape_inference on models of custom operators"
        )


def _nodes(slices: list[SliceNode], dys: dict[str, str], dx: str) -> list[Any]:
    """The nodes of all slices of one tensor. The last of them makes the gradient `dx`."""
    nodes, sums = [], [f"{dx}_{i}" for i in range(len(slices) - 1)] + [dx]
    for i, node in enumerate(slices):
        _check(node)
        dy = dys[node.output]
        constants, arguments = _arguments(node, dy)
        nodes += constants
        if i == 0:
            shape = f"{dx}_shape"
            nodes.append(_shape_node(node, shape))
            nodes.append(onnx.helper.make_node("SliceGrad", [dy, shape, *arguments], [sums[0]], domain=MICROSOFT))
        else:
            inputs = [*arguments, *[""] * (4 - len(arguments)), sums[i - 1], dy]
            nodes.append(onnx.helper.make_node("SliceGradAccumulate", inputs, [sums[i]], domain=BACKSLICE))
    return nodes


def _arguments(node: SliceNode, dy: str) -> tuple[list[Any], list[str]]:
    """The names of starts, ends, axes and steps, and the nodes that make those which are attributes."""
    if node.inputs:
        names = [node.inputs.get(argument, "") for argument in ARGUMENTS]
        nodes = []
    else:
        names = [f"{dy}_{argument}" if argument in node.constants else "" for argument in ARGUMENTS]
        nodes = [_constant(f"{dy}_{argument}", values) for argument, values in node.constants.items()]
    while names[-1] == "":
        names.pop()
    return nodes, names


def _shape_node(node: SliceNode, name: str) -> Any:
    """A constant where the shape is known, so that the tensor need not be kept for it."""
    if node.shape is not None and None not in node.shape:
        return _constant(name, [n for n in node.shape if n is not None])
    return onnx.helper.make_node("Shape", [node.data], [name])


def _constant(name: str, values: list[int]) -> Any:
    tensor = onnx.helper.make_tensor(name, onnx.TensorProto.INT64, [len(values)], values)
    return onnx.helper.make_node("Constant", [], [name], value=tensor)


def _check_names(model: Any, made: GradientNodes) -> None:
    graph = model.graph
    taken = {name for node in graph.node for name in node.output}
    taken |= {value.name for value in [*graph.input, *graph.initializer]}
    new = [*made.dys.values(), *(name for node in made.nodes for name in node.output)]
    if clashes := sorted(taken & set(new)):
        raise InvalidArgumentError(f"the model has a tensor {clashes[0]!r} already; give another suffix")


def _result_shape(node: SliceNode) -> tuple[int | None, ...] | None:
    selection = node.selection()
    if selection is not None:
        return selection.result_shape
    return None if node.shape is None else (None,) * len(node.shape)


def _info(name: str, elem_type: int, shape: tuple[int | None, ...] | None) -> Any:
    return onnx.helper.make_tensor_value_info(name, elem_type, shape)
