"""Makes the nodes that compute the gradients of a model's slices."""

from collections.abc import Iterable
from typing import Any

from ..errors import InvalidArgumentError
from .gradient_graph import GradientNodes
from .package import onnx
from .slices import ARGUMENTS, SliceNode, slice_nodes
from .uses import names_in, uses_outside

MICROSOFT, BACKSLICE = "com.microsoft", "backslice"


def gradient_nodes(model: Any, *, slices: Iterable[str] | None = None, suffix: str = "_grad") -> GradientNodes:
    """Make the nodes that compute the gradients of a model's slices.

    The first slice of a tensor becomes a ``com.microsoft::SliceGrad``; every further one a
    ``backslice::SliceGradAccumulate``, which adds to the gradient so far. Slices of slices are followed. Sessions
    made with :func:`backslice.onnxruntime.session_options` run both.

    Parameters
    ----------
    model : onnx.ModelProto
        The forward model, of any opset: up to 9, the slices have attributes; from 10 on inputs, constant or not.
    slices : iterable of str, optional
        The names of the slices, or of their outputs. By default all slices of tensors of floating-point numbers.
    suffix : str
        What is put after the name of a tensor to name its gradient.

    Returns
    -------
    GradientNodes
        The nodes, and how their inputs and outputs are named.

    Raises
    ------
    InvalidArgumentError
        The model has no such Slice node, one is wrong, the type of a sliced tensor is not known, or a name is taken
        already.

    Examples
    --------
    >>> gradients = gradient_nodes(model)
    >>> gradients.dxs
    {'x': 'x_grad'}
    >>> onnx.save(gradients.added_to(model), "with_gradients.onnx")
    """
    chosen = _chosen(slice_nodes(model), slices)
    made = GradientNodes(slices=chosen)
    _name(made, uses_outside(model, chosen), suffix)
    producers = {node.output: i for i, node in enumerate(chosen)}
    # The gradient of a slice that is sliced again comes first.
    for data in sorted(made.dxs, key=lambda name: producers.get(name, -1), reverse=True):
        _make(made, data, suffix)
    _check_names(model, made)
    return made


def _chosen(nodes: list[SliceNode], wanted: Iterable[str] | None) -> list[SliceNode]:
    if wanted is None:
        chosen = [node for node in nodes if node.elem_type == 0 or node.is_floating]
        if not chosen:
            raise InvalidArgumentError(
                "model has no Slice node of floating-point numbers in its graph, so there is no gradient to make; "
                f"of other types it has {len(nodes)}, which slices=[name, ...] selects"
            )
    else:
        names = [wanted] if isinstance(wanted, str) else list(wanted)
        chosen = [node for node in nodes if node.name in names or node.output in names]
        if lost := set(names) - {name for node in chosen for name in (node.name, node.output)}:
            raise InvalidArgumentError(f"slices has {min(lost)!r}, but the model's graph has no Slice of that name")
        if not chosen:
            raise InvalidArgumentError("slices is empty, expected the names of Slice nodes")
    for node in chosen:
        _check(node)
    return chosen


def _check(node: SliceNode) -> None:
    node.selection()  # raises where it is wrong
    if node.elem_type == 0:
        raise InvalidArgumentError(
            f"the type of {node.data!r}, which Slice {node.name!r} slices, is not known; "
            "add it to the model's value_info, as the outputs of custom operators need it"
        )


def _name(made: GradientNodes, used: set[str], suffix: str) -> None:
    """Names the gradients: of slices that the nodes read, of sliced tensors that they make."""
    sliced = {node.data for node in made.slices}
    for node in made.slices:
        made.dxs[node.data] = node.data + suffix
        if node.output not in sliced or node.output in used:
            made.dys[node.output] = node.output + suffix
    for both in made.dys.keys() & made.dxs.keys():
        made.dxs[both] += "_total"


def _make(made: GradientNodes, data: str, suffix: str) -> None:
    """The nodes of all slices of one tensor. They add up its gradients: that from outside, then one per slice."""
    slices, dx = [node for node in made.slices if node.data == data], made.dxs[data]
    outside = [made.dys[data]] if data in made.dys else []
    made.sums[data] = [f"{dx}_{i}" for i in range(len(slices) - 1)]
    sums = [*outside, *made.sums[data], dx]
    for i, node in enumerate(slices, start=len(outside)):
        dy, arguments = made.dxs.get(node.output) or made.dys[node.output], _arguments(made, node, suffix)
        if i == 0:
            inputs = [dy, _shape(made, node, f"{dx}_shape"), *arguments]
            made.nodes.append(onnx.helper.make_node("SliceGrad", inputs, [sums[i]], domain=MICROSOFT))
        else:
            inputs = [*arguments, *[""] * (4 - len(arguments)), sums[i - 1], dy]
            made.nodes.append(onnx.helper.make_node("SliceGradAccumulate", inputs, [sums[i]], domain=BACKSLICE))


def _arguments(made: GradientNodes, node: SliceNode, suffix: str) -> list[str]:
    """The names of starts, ends, axes and steps: inputs of the slice, or constants that were its attributes."""
    if node.inputs:
        names = [node.inputs.get(argument, "") for argument in ARGUMENTS]
    else:
        prefix = node.output + suffix
        names = [f"{prefix}_{argument}" if argument in node.constants else "" for argument in ARGUMENTS]
        made.initializers.extend(_constant(f"{prefix}_{name}", values) for name, values in node.constants.items())
    while names[-1] == "":
        names.pop()
    return names


def _shape(made: GradientNodes, node: SliceNode, name: str) -> str:
    """A constant where the shape is known, so that the tensor need not be kept for it."""
    if node.shape is not None and None not in node.shape:
        made.initializers.append(_constant(name, [n for n in node.shape if n is not None]))
    else:
        made.nodes.append(onnx.helper.make_node("Shape", [node.data], [name]))
    return name


def _constant(name: str, values: list[int]) -> Any:
    return onnx.helper.make_tensor(name, onnx.TensorProto.INT64, [len(values)], values)


def _check_names(model: Any, made: GradientNodes) -> None:
    new = [*made.dys.values(), *(tensor.name for tensor in made.initializers)]
    new += [name for node in made.nodes for name in node.output]
    if clashes := sorted(names_in(model.graph) & set(new)):
        raise InvalidArgumentError(f"the model has a tensor {clashes[0]!r} already; give another suffix")
