"""The shapes that onnx infers for a model, in time bounded by the size of the model."""

from typing import Any

from ..errors import InvalidArgumentError
from .bodies import STANDARD, bodies_of, graphs_in
from .external import declared, without_external_data
from .package import onnx

# onnx follows the values of integer lists, such as the result of Shape, by one object per element. It does so for every
# 1-D tensor, whatever its type. No shape is longer than this.
LONGEST_SHAPE = 1024
HIDDEN = "backslice.hidden"  # an unknown domain, which onnx ignores


def types_in(graph: Any) -> dict[str, Any]:
    """Return the known types of tensors, by name."""
    values = {info.name: info.type.tensor_type for info in [*graph.value_info, *graph.input, *graph.output]}
    for tensor in graph.initializer:
        values.setdefault(tensor.name, declared(tensor).type.tensor_type)
    return values


def shape_in(tensor_type: Any) -> tuple[int | None, ...] | None:
    """Return the extents, with None for each unknown one; None if the rank is unknown."""
    if not tensor_type.HasField("shape"):
        return None
    return tuple(int(d.dim_value) if d.HasField("dim_value") else None for d in tensor_type.shape.dim)


def inferred_types(model: Any, wanted: set[str]) -> dict[str, Any]:
    """Return the types of all tensors of a model's graph, with the shapes of `wanted` as far as onnx can infer them."""
    _check_extents(model.graph)
    model = without_external_data(model)
    types = types_in(_inferred(model).graph)
    # Following computed shapes helps only while something is unknown. Each round may find the rank of a tensor that had
    # to be hidden before.
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
        # ValidationError: a recursive function; ValueError: 2 GB and more
        raise InvalidArgumentError(f"onnx cannot infer the shapes of the model: {error}") from error


def _without_long_lists(model: Any, types: dict[str, Any]) -> Any:
    """Return the model with the nodes hidden that onnx must not follow; the types found so far replace them."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    result.opset_import.append(onnx.helper.make_opsetid(HIDDEN, 1))
    described = {info.name for info in [*model.graph.value_info, *model.graph.input, *model.graph.output]}
    for node in result.graph.node:
        inside = any(bodies_of(node)) or node.domain not in STANDARD
        if inside or (_follows_values(node) and any(_may_be_long(types.get(name)) for name in node.input if name)):
            node.domain, known = HIDDEN, [name for name in node.output if name in types and name not in described]
            result.graph.value_info.extend(_value_info(name, types[name]) for name in known)
    return result


def _follows_values(node: Any) -> bool:
    """Return whether onnx computes the values of its results. Shape is an exception: it does not read its input's
    values."""
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
    """Refuse negative extents, some of which make onnx end the process."""
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
