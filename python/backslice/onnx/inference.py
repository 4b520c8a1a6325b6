"""The shapes that onnx infers for a model, at a cost that the model's own size bounds."""

from typing import Any

from ..errors import InvalidArgumentError
from .bodies import STANDARD, bodies_of, graphs_in
from .external import declared, without_external_data
from .package import onnx

# onnx follows the values of lists of integers, such as the result of Shape, by an object per element, and does so for
# every 1-D tensor, whatever its type. No shape is longer than this.
LONGEST_SHAPE = 1024
HIDDEN = "backslice.hidden"  # a domain that onnx does not know, and so leaves alone


def types_in(graph: Any) -> dict[str, Any]:
    """What is known of the type of each tensor, by its name."""
    values = {info.name: info.type.tensor_type for info in [*graph.value_info, *graph.input, *graph.output]}
    for tensor in graph.initializer:
        values.setdefault(tensor.name, declared(tensor).type.tensor_type)
    return values


def shape_in(tensor_type: Any) -> tuple[int | None, ...] | None:
    """The extents, None for each that is not known; None where not even their number is."""
    if not tensor_type.HasField("shape"):
        return None
    return tuple(int(d.dim_value) if d.HasField("dim_value") else None for d in tensor_type.shape.dim)


def inferred_types(model: Any, wanted: set[str]) -> dict[str, Any]:
    """The types of all tensors of a model's graph, the shapes of `wanted` as far as onnx can tell."""
    _check_extents(model.graph)
    model = without_external_data(model)
    types = types_in(_inferred(model).graph)
    # What is known of shapes that the graph computes helps only where something is not known yet. Each round may tell
    # the rank of a tensor that had to be left alone before.
    for _ in range(len(wanted)):
        if all(_is_complete(types.get(name)) for name in wanted):
            break
        before, types = types, types_in(_inferred(_without_long_lists(model, types), data_prop=True).graph)
        if {name: shape_in(t) for name, t in types.items()} == {name: shape_in(t) for name, t in before.items()}:
            break
    return types


def _is_complete(known: Any) -> bool:
    shape = None if known is None else shape_in(known)
    return shape is not None and None not in shape


def _inferred(model: Any, **options: Any) -> Any:
    try:
        return onnx.shape_inference.infer_shapes(model, **options)
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, ValueError) as error:
        # ValidationError: a function that calls itself; ValueError: 2 GB and more
        raise InvalidArgumentError(f"onnx cannot infer the shapes of the model: {error}") from error


def _without_long_lists(model: Any, types: dict[str, Any]) -> Any:
    """The model, with what onnx must not follow hidden from it; the types found so far stand in for those nodes."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    result.opset_import.append(onnx.helper.make_opsetid(HIDDEN, 1))
    told = {info.name for info in [*model.graph.value_info, *model.graph.input, *model.graph.output]}
    for node in result.graph.node:
        inside = any(bodies_of(node)) or node.domain not in STANDARD
        if inside or (_follows_values(node) and any(_may_be_long(types.get(name)) for name in node.input if name)):
            node.domain, known = HIDDEN, [name for name in node.output if name in types and name not in told]
            result.graph.value_info.extend(_value_info(name, types[name]) for name in known)
    return result


def _follows_values(node: Any) -> bool:
    """Whether onnx computes the values of its results; of Shape it does without those of its input."""
    return node.op_type != "Shape" and bool(
        onnx.defs.has(node.op_type) and onnx.defs.get_schema(node.op_type).has_data_propagation_function
    )


def _may_be_long(known: Any) -> bool:
    shape = None if known is None else shape_in(known)
    return shape is None or (len(shape) == 1 and (shape[0] is None or shape[0] > LONGEST_SHAPE))


def _value_info(name: str, known: Any) -> Any:
    info = onnx.ValueInfoProto(name=name)
    info.type.tensor_type.CopyFrom(known)
    return info


def _check_extents(graph: Any) -> None:
    """onnx ends the process on some negative extents."""
    for graph_or_body in graphs_in(graph):
        for info in [*graph_or_body.input, *graph_or_body.output, *graph_or_body.value_info]:
            for extent in shape_in(info.type.tensor_type) or ():
                if extent is not None and extent < 0:
                    _refuse_extent(info.name, extent)
        for tensor in graph_or_body.initializer:
            for extent in tensor.dims:
                if extent < 0:
                    _refuse_extent(tensor.name, extent)


def _refuse_extent(name: str, extent: int) -> None:
    raise InvalidArgumentError(
        f"the model's tensor {name!r} has an extent of {extent}, expected 0 or more; "
        "give an extent that is not known a name (dim_param), or none"
    )
