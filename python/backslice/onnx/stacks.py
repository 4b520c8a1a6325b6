"""Several slices of one tensor as inputs of MultiSliceGrad: starts, ends, axes and steps with one row per slice."""

from dataclasses import dataclass
from typing import Any

from .package import onnx
from .slices import ARGUMENTS, SliceNode

INT32, INT64 = onnx.TensorProto.INT32, onnx.TensorProto.INT64
TO_THE_END = {INT32: 2**31 - 1, INT64: 2**63 - 1}

Row = dict[str, list[int] | str]  # the values of each argument, or the name of the tensor that has them


@dataclass(frozen=True)
class Stack:
    """One row per slice, all of one length and one type."""

    rows: list[Row]
    length: int
    elem_type: int

    def with_whole(self) -> "Stack":
        """Return the same rows after a slice that selects the whole tensor."""
        n = self.length
        whole: Row = {"starts": [0] * n, "ends": [TO_THE_END[self.elem_type]] * n}
        whole |= {"axes": list(range(n)), "steps": [1] * n}
        return Stack([whole, *self.rows], n, self.elem_type)

    def tensors(self, prefix: str) -> tuple[list[str], list[Any], list[Any]]:
        """Return the names of starts, ends, axes and steps, the constants, and the nodes that make them."""
        names, constants, nodes = [f"{prefix}_{argument}" for argument in ARGUMENTS], [], []
        for argument, name in zip(ARGUMENTS, names, strict=True):
            column = [row[argument] for row in self.rows]
            values = [n for entry in column if not isinstance(entry, str) for n in entry]
            if len(values) == len(column) * self.length:
                constants.append(self._constant(name, values, [len(column), self.length]))
            else:
                made, joined = self._joined(name, column)
                constants.extend(made)
                nodes.extend(joined)
        return names, constants, nodes

    def _joined(self, name: str, column: list[list[int] | str]) -> tuple[list[Any], list[Any]]:
        """Return the constants and nodes that join the rows when the model runs."""
        parts = [entry if isinstance(entry, str) else f"{name}_{i}" for i, entry in enumerate(column)]
        constants = [
            self._constant(part, entry, [self.length])
            for part, entry in zip(parts, column, strict=True)
            if not isinstance(entry, str)
        ]
        constants.append(onnx.helper.make_tensor(f"{name}_shape", INT64, [2], [len(column), self.length]))
        nodes = [
            onnx.helper.make_node("Concat", parts, [f"{name}_flat"], axis=0),
            onnx.helper.make_node("Reshape", [f"{name}_flat", f"{name}_shape"], [name]),
        ]
        return constants, nodes

    def _constant(self, name: str, values: list[int], dims: list[int]) -> Any:
        return onnx.helper.make_tensor(name, self.elem_type, dims, values)


def stack_of(slices: list[SliceNode]) -> Stack | None:
    """Return slices of one tensor as a stack; None if their lists may differ in length."""
    shape = slices[0].shape
    if shape is not None and all(node.is_constant for node in slices):
        rows, length, elem_types = [_of_every_axis(node, len(shape)) for node in slices], len(shape), {INT64}
    else:
        length = slices[0].length or 0
        rows = [_as_given(node, length) for node in slices]
        elem_types = {node.list_type for node in slices}
        if length == 0 or not elem_types <= TO_THE_END.keys():
            return None
    known = [row for row in rows if row is not None]
    return Stack(known, length, elem_types.pop()) if len(known) == len(rows) and len(elem_types) == 1 else None


def _of_every_axis(node: SliceNode, rank: int) -> Row | None:
    """Return a constant slice with an entry for each axis; None if its lists are wrong, which is an error when it
    runs."""
    n = len(node.constants["starts"])
    lists = {"axes": list(range(n)), "steps": [1] * n} | node.constants
    if any(len(values) != n for values in lists.values()) or any(not -rank <= a < rank for a in lists["axes"]):
        return None
    places = {axis % rank: i for i, axis in enumerate(lists["axes"])}
    if len(places) != n:
        return None
    row: Row = {"axes": list(range(rank))}
    for name, whole in [("starts", 0), ("ends", TO_THE_END[INT64]), ("steps", 1)]:
        row[name] = [lists[name][places[axis]] if axis in places else whole for axis in range(rank)]
    return row


def _as_given(node: SliceNode, length: int) -> Row | None:
    """Return a slice of that many axes, with names for arguments that are not constant."""
    row: Row = {"axes": list(range(length)), "steps": [1] * length, **node.inputs, **node.constants}
    constants = [entry for entry in row.values() if not isinstance(entry, str)]
    return row if node.length == length and all(len(values) == length for values in constants) else None
