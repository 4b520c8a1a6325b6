"""Makes the nodes that compute the gradients of a model's slices."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ..errors import InvalidArgumentError
from ..suggestions import checked_keywords
from .bodies import inner_slices
from .gradient_graph import GradientNodes
from .package import onnx
from .slices import ARGUMENTS, SliceNode, slice_nodes
from .stacks import Stack, stack_of
from .uses import names_in, uses_outside

BACKSLICE = "backslice"


@checked_keywords
def gradient_nodes(model: Any, *, slices: Iterable[str] | None = None, suffix: str = "_grad") -> GradientNodes:
    """Make the nodes that compute the gradients of a model's slices.

    The only slice of a tensor becomes a ``backslice::SliceGrad``. Several become one ``backslice::MultiSliceGrad``,
    which adds up their gradients in one pass, in the order of the graph. Slices of slices are followed. If a slice that
    is sliced again has other uses, the gradient from those comes first. A ``backslice::SliceGradAccumulate`` then adds
    the gradient of a single slice. It also adds, one by one, gradients of slices whose number of axes is unknown.
    Sessions made with :func:`backslice.onnxruntime.session_options` run all of these.

    Parameters
    ----------
    model : onnx.ModelProto
        The forward model, of any opset: up to 9, the slices have attributes; from 10 on inputs, constant or not.
    slices : iterable of str, optional
        The names of the slices, or of their outputs. By default all slices of tensors of floating-point numbers.
    suffix : str
        The suffix of a gradient's name, after the name of its tensor.

    Returns
    -------
    GradientNodes
        The nodes, and the names of their inputs and outputs.

    Raises
    ------
    InvalidArgumentError
        The model has no such Slice node, a node is wrong, the type of a sliced tensor is unknown, or a name is already
        in use.

    Examples
    --------
    >>> gradients = gradient_nodes(model)
    >>> gradients.dxs
    {'x': 'x_grad'}
    >>> onnx.save(gradients.added_to(model), "with_gradients.onnx")
    """
    if not isinstance(suffix, str) or not suffix:
        raise InvalidArgumentError(f"suffix is {suffix!r}, expected a text of one character or more")
    names = _names(slices)
    found = slice_nodes(model)
    chosen = _floating(model, found) if names is None else _named(found, names)
    for node in chosen:
        _check(node)
    made = GradientNodes(slices=chosen)
    _name(made, uses_outside(model, chosen), suffix)
    producers = {node.output: i for i, node in enumerate(chosen)}
    # The gradient of a slice that is sliced again must be computed before it is read.
    for data in sorted(made.dxs, key=lambda name: producers.get(name, -1), reverse=True):
        _make(made, data, suffix)
    _check_names(model, made)
    return made


def _names(wanted: Any) -> list[str] | None:
    if wanted is None or isinstance(wanted, str):
        return None if wanted is None else [wanted]
    try:
        names = list(wanted)
    except TypeError:
        raise InvalidArgumentError(f"slices is {wanted!r}, expected the names of Slice nodes") from None
    for name in names:
        if not isinstance(name, str):
            raise InvalidArgumentError(f"slices has {name!r}, expected the names of Slice nodes")
    if not names:
        raise InvalidArgumentError("slices is empty, expected the names of Slice nodes")
    return names


def _floating(model: Any, nodes: list[SliceNode]) -> list[SliceNode]:
    chosen = [node for node in nodes if node.elem_type == 0 or node.is_floating]
    if chosen:
        return chosen
    message = "model has no Slice node of floating-point numbers in its graph, so there is no gradient to make"
    if nodes:
        message += f"; of other types it has {len(nodes)}, which slices=[name, ...] selects"
    if inner := inner_slices(model):
        message += f"; functions and the bodies of If, Loop and Scan, which are not looked at, have {inner}"
    raise InvalidArgumentError(message)


def _named(nodes: list[SliceNode], names: list[str]) -> list[SliceNode]:
    chosen = [node for node in nodes if node.name in names or node.output in names]
    if lost := set(names) - {name for node in chosen for name in (node.name, node.output)}:
        raise InvalidArgumentError(f"slices has {min(lost)!r}, but the model's graph has no Slice of that name")
    return chosen


def _check(node: SliceNode) -> None:
    node.selection()  # raises if the slice is wrong
    if node.elem_type == 0:
        raise InvalidArgumentError(
            f"the type of {node.data!r}, which Slice {node.name!r} slices, is not known; "
            "add it to the model's value_info, as the outputs of custom operators need it"
        )


def _name(made: GradientNodes, used: set[str], suffix: str) -> None:
    """Name the gradients: of slices, which the nodes read, and of sliced tensors, which they make."""
    sliced = {node.data for node in made.slices}
    for node in made.slices:
        made.dxs[node.data] = node.data + suffix
        if node.output not in sliced or node.output in used:
            made.dys[node.output] = node.output + suffix
    for both in made.dys.keys() & made.dxs.keys():
        made.dxs[both] += "_total"


def _make(made: GradientNodes, data: str, suffix: str) -> None:
    """Make the nodes of all slices of one tensor. They add up its gradients: first the one from outside, then one per
    slice."""
    slices = [node for node in made.slices if node.data == data]
    outside = [made.dys[data]] if data in made.dys else []
    dys = [*outside, *(made.dxs.get(node.output) or made.dys[node.output] for node in slices)]
    stack = stack_of(slices) if len(slices) > 1 else None
    if stack is None:
        _make_one_by_one(made, slices, dys, suffix)
    else:
        _make_in_one_pass(made, slices[0], dys, stack.with_whole() if outside else stack)


def _make_in_one_pass(made: GradientNodes, node: SliceNode, dys: list[str], stack: Stack) -> None:
    dx = made.dxs[node.data]
    shape = _shape(made, node, f"{dx}_shape")
    names, constants, nodes = stack.tensors(f"{dx}_all")
    made.initializers.extend(constants)
    made.nodes.extend(nodes)
    made.nodes.append(onnx.helper.make_node("MultiSliceGrad", [shape, *names, *dys], [dx], domain=BACKSLICE))


def _make_one_by_one(made: GradientNodes, slices: list[SliceNode], dys: list[str], suffix: str) -> None:
    """Make nodes that each add to the gradient so far. If there are more `dys` than slices, the first is from
    outside."""
    data, outside = slices[0].data, dys[: len(dys) - len(slices)]
    dx = made.dxs[data]
    if len(slices) > 1:
        made.sums[data] = [f"{dx}_{i}" for i in range(len(slices) - 1)]
    sums = [*outside, *made.sums.get(data, []), dx]
    for i, node in enumerate(slices, start=len(outside)):
        arguments = _arguments(made, node, suffix)
        if i == 0:
            inputs = [dys[i], _shape(made, node, f"{dx}_shape"), *arguments]
            made.nodes.append(onnx.helper.make_node("SliceGrad", inputs, [sums[i]], domain=BACKSLICE))
        else:
            inputs = [*arguments, *[""] * (4 - len(arguments)), sums[i - 1], dys[i]]
            made.nodes.append(onnx.helper.make_node("SliceGradAccumulate", inputs, [sums[i]], domain=BACKSLICE))


def _arguments(made: GradientNodes, node: SliceNode, suffix: str) -> list[str]:
    """Return the names of starts, ends, axes and steps: inputs of the slice, or constants made of its attributes."""
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
    """Return the name of the shape: a constant if the shape is known, so that the tensor need not be kept for it."""
    if node.shape is not None and None not in node.shape:
        made.initializers.append(_constant(name, [n for n in node.shape if n is not None]))
    else:
        made.nodes.append(onnx.helper.make_node("Shape", [node.data], [name]))
    return name


def _constant(name: str, values: list[int]) -> Any:
    return onnx.helper.make_tensor(name, onnx.TensorProto.INT64, [len(values)], values)


def _check_names(model: Any, made: GradientNodes) -> None:
    new = [*(tensor.name for tensor in made.initializers), *(name for node in made.nodes for name in node.output)]
    if clashes := sorted(names_in(model.graph) & {*new, *made.dys.values()}):
        raise InvalidArgumentError(f"the model has a tensor {clashes[0]!r} already; give another suffix")
    if clashes := sorted(name for name, count in Counter(new).items() if count > 1):
        raise InvalidArgumentError(f"two new tensors would be named {clashes[0]!r}; give another suffix")
