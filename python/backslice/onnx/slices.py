"""The Slice nodes of a model, of every opset, with everything known about them before it runs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .._core import Selection
from ..errors import Error, InvalidArgumentError
from ..suggestions import checked_keywords
from .bodies import STANDARD, is_slice
from .constants import WrongConstantError, attribute_list, constant_tensors, list_in
from .inference import inferred_types, shape_in
from .package import onnx

ARGUMENTS = ("starts", "ends", "axes", "steps")
FIRST_WITH_INPUTS = 10  # the opset that turned starts, ends and axes into inputs, and added steps


@dataclass(frozen=True)
class SliceNode:
    """A Slice of a model.

    Attributes
    ----------
    name : str
        The name of the node, or of its output if the node has none.
    data, output : str
        The names of the sliced tensor and of the slice.
    shape : tuple of (int or None), or None
        The shape of the sliced tensor, as far as it is known before the model runs.
    elem_type : int
        ONNX's number of the element type; 0 if it is unknown.
    inputs : dict of str
        The names of the inputs that are starts, ends, axes and steps, from opset 10 on.
    constants : dict of list of int
        The values of constant arguments.
    wrong : dict of str
        The defects of arguments that are constant but not lists of integers.
    length : int or None
        The number of entries of starts, if it is known.
    list_type : int
        ONNX's number of the type of starts; 0 if it is unknown.
    """

    name: str
    data: str
    output: str
    shape: tuple[int | None, ...] | None
    elem_type: int
    inputs: dict[str, str]
    constants: dict[str, list[int]]
    wrong: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    list_type: int = 0

    @property
    def is_floating(self) -> bool:
        """Whether it has a gradient in the sense of training: its elements are real or complex numbers."""
        names = {number: name for name, number in onnx.TensorProto.DataType.items()}
        return str(names.get(self.elem_type, "")).startswith(("FLOAT", "DOUBLE", "COMPLEX", "BFLOAT"))

    @property
    def is_constant(self) -> bool:
        """Whether everything but the shape is known before the model runs."""
        return {"starts", "ends"} <= set(self.constants) and set(self.inputs) <= set(self.constants)

    def selection(self) -> Selection | None:
        """Return the selected elements, or None if they are unknown before the model runs.

        Raises
        ------
        InvalidArgumentError
            ONNX Runtime would not run the slice.
        """
        for name, fault in self.wrong.items():
            raise InvalidArgumentError(f"Slice {self.name!r}: {name} {fault}")
        if not self.is_constant or self.shape is None or None in self.shape:
            return None
        try:
            return Selection.from_onnx([n for n in self.shape if n is not None], **self.constants)
        except Error as error:
            raise InvalidArgumentError(f"Slice {self.name!r}: {error}") from error


@checked_keywords
def slice_nodes(model: Any) -> list[SliceNode]:
    """List the Slice nodes of a model's graph, in its order.

    Nodes inside functions, and inside the bodies of If, Loop and Scan, are not listed. Constants in files that have not
    been read, as after ``onnx.load(path, load_external_data=False)``, count as unknown.

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
        `model` is not a ModelProto, a tensor has a negative extent, onnx cannot infer the shapes, or a Slice lacks its
        data, starts or ends.
    """
    check_model(model)
    slices = [node for node in model.graph.node if is_slice(node)]
    types = inferred_types(model, {node.input[0] for node in slices if node.input})
    tensors = constant_tensors(model.graph)
    opset = next((entry.version for entry in model.opset_import if entry.domain in STANDARD), 1)
    return [_slice_node(node, types, tensors, opset) for node in slices]


def check_model(model: Any) -> None:
    """Refuse arguments that are not models."""
    if not isinstance(model, onnx.ModelProto):
        raise InvalidArgumentError(
            f"model is {type(model).__name__}, expected an onnx.ModelProto; onnx.load(path) makes one from a file"
        )


def _slice_node(node: Any, types: dict[str, Any], tensors: dict[str, Any], opset: int) -> SliceNode:
    name = node.name or next(iter(node.output), "")
    if not node.input or not node.output:
        raise InvalidArgumentError(f"Slice {name!r} has {len(node.input)} inputs and {len(node.output)} outputs")
    inputs: dict[str, str] = {}
    if opset < FIRST_WITH_INPUTS:
        known, wrong = _read(attribute_list, {a.name: a for a in node.attribute if a.name in ARGUMENTS})
    else:
        inputs = {name: given for name, given in zip(ARGUMENTS, node.input[1:], strict=False) if given}
        known, wrong = _read(list_in, {name: tensors[given] for name, given in inputs.items() if given in tensors})
    if lacking := {"starts", "ends"} - {*inputs, *known, *wrong}:
        where = "attribute" if opset < FIRST_WITH_INPUTS else "input"
        raise InvalidArgumentError(f"Slice {name!r} has no {where} {min(lacking)}, which opset {opset} wants")
    data = types.get(node.input[0])
    length: int | None = len(known.get("starts", []))
    list_type = int(onnx.TensorProto.INT64)
    if inputs:
        length, list_type = _list_in(types.get(inputs["starts"]))
    return SliceNode(
        name=name,
        data=node.input[0],
        output=node.output[0],
        shape=None if data is None else shape_in(data),
        elem_type=0 if data is None else int(data.elem_type),
        inputs=inputs,
        constants=known,
        wrong=wrong,
        length=length,
        list_type=list_type,
    )


def _list_in(declared: Any) -> tuple[int | None, int]:
    """Return the length and the type of a list, as far as they are known."""
    if declared is None:
        return None, 0
    shape = shape_in(declared)
    return shape[0] if shape is not None and len(shape) == 1 else None, int(declared.elem_type)


def _read(reader: Callable[[Any], list[int]], given: dict[str, Any]) -> tuple[dict[str, list[int]], dict[str, str]]:
    """Return the lists, and the defects of other constants."""
    known, wrong = {}, {}
    for name, value in given.items():
        try:
            known[name] = reader(value)
        except WrongConstantError as error:
            wrong[name] = str(error)
    return known, wrong
