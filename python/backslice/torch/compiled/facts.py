"""Facts about the nodes of a graph of ATen operations: shapes, constants, bounds of slices.

Numbers may be symbols (`torch.SymInt`). Comparing two of them would add a guard to the compiled program, so shapes are
compared as expressions, and bounds are used only where they can be proved.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from ...placement import Axis, Placement
from ..indexing import INTEGER, NEW_AXIS, SLICE

aten = torch.ops.aten

# How many of the leading arguments of an op that fills a tensor come before the value; None where it is zero.
FILLS: dict[Any, int | None] = {
    aten.full.default: 1,
    aten.full_like.default: 1,
    aten.new_full.default: 2,
    aten.zeros.default: None,
    aten.zeros_like.default: None,
    aten.new_zeros.default: None,
}
OF_ZEROS_ZEROS = frozenset({aten._to_copy.default, aten.clone.default, torch.ops.prims.convert_element_type.default})
DEVICES = ("cpu", "cuda")


class UnprovedError(Exception):
    """The reason why a node is left as it is."""


def reason_of(error: Exception) -> str:
    """Return the reason in `status()` for a skipped node. Errors are not expected, and leave the graph valid."""
    return str(error) if isinstance(error, UnprovedError) else f"{type(error).__name__}: {error}"


def value_of(node: Any) -> Any:
    """Return the tensor without memory that tracing left on a node. Raises if there is none."""
    value = node.meta.get("val") if isinstance(node, torch.fx.Node) else None
    if not isinstance(value, torch.Tensor):
        raise UnprovedError("a node without a traced tensor")
    return value


def number(value: Any) -> Any:
    """Return an argument of a node that is an integer or a symbol."""
    if isinstance(value, torch.fx.Node):
        value = value.meta.get("val")
    if not isinstance(value, int | torch.SymInt):
        raise UnprovedError("a bound that is not an integer")
    return value


def key(value: Any) -> Any:
    """Return an integer or the expression of a symbol, which compare without a guard."""
    if isinstance(value, torch.SymInt):
        expression = value.node.expr
        return int(expression) if expression.is_number else expression
    return value


def keys(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(map(key, values))


def is_proved(condition: Any) -> bool:
    return bool(condition) if isinstance(condition, bool) else statically_known_true(condition)


def argument(node: Any, position: int, name: str, default: Any = None) -> Any:
    return node.args[position] if len(node.args) > position else node.kwargs.get(name, default)


def axis_of(node: Any, position: int, rank: int, default: int = 0) -> int:
    axis = argument(node, position, "dim", default)
    return int(axis) % rank


def is_zeros(node: Any) -> bool:
    """Tell whether a node makes a tensor of zeros; minus zeros are not."""
    while isinstance(node, torch.fx.Node) and node.target in OF_ZEROS_ZEROS:
        node = node.args[0]
    if not isinstance(node, torch.fx.Node) or node.target not in FILLS:
        return False
    position = FILLS[node.target]
    if position is None:
        return True
    value = argument(node, position, "fill_value")
    return isinstance(value, bool | int | float | complex) and value == 0 and "-" not in repr(value)


def first_of_slice(start: Any, step: Any, extent: Any, count: Any) -> Any:
    """Return the first position of a slice with so many elements. Raises if its bounds cannot be proved."""
    start, step = (0 if start is None else number(start)), number(step)
    if not isinstance(step, int):
        raise UnprovedError("a step that is a symbol")
    if key(count) == 0:
        return 0
    if is_proved(start < 0):
        start = torch.sym_max(start + extent, 0) if isinstance(start, torch.SymInt) else max(start + extent, 0)
    if not (is_proved(start >= 0) and is_proved(start + (count - 1) * step < extent)):
        raise UnprovedError("a slice with bounds that cannot be ordered")
    return start


def position_of(index: Any, extent: Any) -> Any:
    index = number(index)
    if is_proved(index < 0):
        index = index + extent
    if not (is_proved(index >= 0) and is_proved(index < extent)):
        raise UnprovedError("an index that may be out of range")
    return index


def placement_of_strides(size: Sequence[Any], stride: Sequence[Any], offset: Any, dx: Any) -> Placement:
    """Return the placement of `as_strided(size, stride, offset)` in a contiguous tensor, if it is a slice."""
    shape = dx.shape
    if not all(isinstance(n, int) for n in (*size, *stride, offset, *shape)) or 0 in size:
        raise UnprovedError("as_strided of a symbolic or empty shape")
    if not dx.is_contiguous() or key(dx.storage_offset()) != 0:
        raise UnprovedError("as_strided of a tensor that is not contiguous")
    of_axis = [1] * len(shape)
    for axis in reversed(range(len(shape) - 1)):
        of_axis[axis] = of_axis[axis + 1] * shape[axis + 1]
    first = [(offset // of_axis[axis]) % shape[axis] if shape[axis] else 0 for axis in range(len(shape))]
    used: dict[int, int] = {}
    axes: list[Axis | None] = []
    for extent, distance in zip(size, stride, strict=True):
        if extent == 1:
            axes.append(None)
            continue
        found = [a for a in range(len(shape)) if shape[a] > 1 and a not in used and distance % of_axis[a] == 0]
        found = [a for a in found if first[a] + (extent - 1) * (distance // of_axis[a]) < shape[a]]
        if not found or distance <= 0:
            raise UnprovedError("as_strided that is not a slice")
        used[found[0]] = distance // of_axis[found[0]]
        axes.append((found[0], first[found[0]], used[found[0]]))
    if sum(first[a] * of_axis[a] for a in range(len(shape))) != offset:
        raise UnprovedError("as_strided that is not a slice")
    return Placement(tuple(axes), {axis: first[axis] for axis in range(len(shape)) if axis not in used})


def entries_of_placement(placement: Placement, shape: Sequence[Any], extents: Sequence[Any]) -> Any:
    """Return an array's place as numbers for the op, and in which order its axes come there."""
    taken = {axis[0]: (own, axis) for own, axis in enumerate(placement.axes) if axis is not None}
    new = [own for own, axis in enumerate(placement.axes) if axis is None]
    entries: list[Any] = []
    for outer in range(len(shape)):
        if outer in taken:
            own, (_, first, step) = taken[outer]
            entries.append((SLICE, first, step, extents[own]))
        else:
            entries.append((INTEGER, placement.fixed.get(outer, 0), 1, 1))
    entries += [(NEW_AXIS, 0, 1, 1)] * len(new)
    return tuple(entries), [*(taken[outer][0] for outer in sorted(taken)), *new]


def is_functional(graph: Any) -> bool:
    """Tell whether no node changes a tensor, but for copies into arguments after everything else."""
    remaining = [node for node in graph.nodes if node.op == "call_function"]
    while remaining and remaining[-1].target is aten.copy_.default and remaining[-1].args[0].op == "placeholder":
        remaining.pop()
    return not any(_changes_tensors(node.target) for node in remaining)


def _changes_tensors(target: Any) -> bool:
    return getattr(getattr(target, "_schema", None), "is_mutable", False) or "mutation" in str(target)


def is_alike(a: Placement, b: Placement) -> bool:
    """Compare two placements without a guard."""
    axes = [[None if axis is None else keys(axis) for axis in one.axes] for one in (a, b)]
    fixed = [{axis: key(position) for axis, position in one.fixed.items()} for one in (a, b)]
    return axes[0] == axes[1] and fixed[0] == fixed[1]
