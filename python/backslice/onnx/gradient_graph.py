"""The nodes of gradients, as a value, and a model that contains them beside its own nodes."""

from dataclasses import dataclass, field
from typing import Any

from ..errors import InvalidArgumentError
from .external import declared, without_external_data
from .package import onnx
from .slices import SliceNode, check_model

FIRST_WITH_PLAIN_INITIALIZERS = 4  # the version of the format; before, each was an input with a default


@dataclass(frozen=True)
class GradientNodes:
    """The result of :func:`gradient_nodes`.

    Attributes
    ----------
    nodes : list of onnx.NodeProto
        In the order in which they run. They read tensors of the forward model by their names.
    initializers : list of onnx.TensorProto
        The constants that they read.
    dys : dict of str
        For each slice whose gradient comes from outside, the name under which the nodes read it. The gradient of a
        tensor that is sliced again, and used by nothing else, comes from the nodes.
    dxs : dict of str
        For each sliced tensor, the name of its gradient.
    slices : list of SliceNode
        The slices.
    sums : dict of list of str
        For each tensor whose gradients several nodes add up, the names of the partial sums: the outputs of all but the
        last.
    """

    nodes: list[Any] = field(default_factory=list)
    initializers: list[Any] = field(default_factory=list)
    dys: dict[str, str] = field(default_factory=dict)
    dxs: dict[str, str] = field(default_factory=dict)
    slices: list[SliceNode] = field(default_factory=list)
    sums: dict[str, list[str]] = field(default_factory=dict)

    def added_to(self, model: Any) -> Any:
        """Return the model with the nodes added. The dys are additional inputs, the dxs additional outputs.

        Parameters
        ----------
        model : onnx.ModelProto
            The forward model, which is not changed. Constants in files that have not been read stay there.

        Returns
        -------
        onnx.ModelProto
            Checked by ``onnx.checker``, with its shapes inferred, in strict mode.

        Raises
        ------
        InvalidArgumentError
            `model` is not a ModelProto, ``onnx.checker`` or shape inference refuses it, or the rank of a sliced tensor
            is unknown.
        """
        check_model(model)
        result = onnx.ModelProto()
        result.CopyFrom(model)
        self._add_to(result.graph)
        if model.ir_version < FIRST_WITH_PLAIN_INITIALIZERS:
            result.graph.input.extend(declared(tensor) for tensor in self.initializers)
        present = {entry.domain for entry in result.opset_import}
        for domain in sorted({node.domain for node in self.nodes} - present - {""}):
            result.opset_import.append(onnx.helper.make_opsetid(domain, 1))
        return _checked(result)

    def _add_to(self, graph: Any) -> None:
        sliced = {node.data: node for node in self.slices}
        made = {node.output: node for node in self.slices}
        graph.input.extend(_info(dy, made[output], _result_shape(made[output])) for output, dy in self.dys.items())
        graph.output.extend(_info(dx, sliced[data], sliced[data].shape) for data, dx in self.dxs.items())
        for data, names in self.sums.items():  # old versions of ONNX Runtime do not infer their types
            graph.value_info.extend(_info(name, sliced[data], sliced[data].shape) for name in names)
        graph.initializer.extend(self.initializers)
        graph.node.extend(self.nodes)


def _result_shape(node: SliceNode) -> tuple[int | None, ...] | None:
    selection = node.selection()
    if selection is not None:
        return selection.result_shape
    return None if node.shape is None else (None,) * len(node.shape)


def _info(name: str, node: SliceNode, shape: tuple[int | None, ...] | None) -> Any:
    if shape is None:
        raise InvalidArgumentError(
            f"the rank of {node.data!r}, which Slice {node.name!r} slices, is not known, and ONNX wants it for "
            f"{name!r}, an input or output of the model; add the shape to the model's value_info, with names for "
            "extents that are not known"
        )
    return onnx.helper.make_tensor_value_info(name, node.elem_type, shape)


def _checked(model: Any) -> Any:
    whole = without_external_data(model)
    try:
        inferred = onnx.shape_inference.infer_shapes(whole, check_type=True, strict_mode=True)
        onnx.checker.check_model(inferred)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError) as error:
        raise InvalidArgumentError(f"onnx refuses the model with its gradients: {error}") from error
    if whole is model:
        return inferred
    for known, found in [
        (model.graph.value_info, inferred.graph.value_info),
        (model.graph.output, inferred.graph.output),
    ]:
        del known[:]
        known.extend(found)
    return model
