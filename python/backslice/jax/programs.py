"""How a value of a program that is being lowered is computed from slices of arrays: as a value itself.

A dy that is a function of `x[:, 3]` is computed like one of `x[:, 4]`; what differs are the positions of slices and
single numbers. `read` takes the operations apart from what they are given, so that loops.py can find dy's that are
alike and repeat their operations with other operands.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from jax.interpreters.mlir import ir

MOST_OPERATIONS = 64

# Of these a value may be computed a second time where something else reads it too.
CHEAP = frozenset(
    f"stablehlo.{name}"
    for name in (
        "abs", "add", "and", "broadcast_in_dim", "clamp", "compare", "constant", "convert", "maximum", "minimum",
        "multiply", "negate", "not", "or", "reshape", "reverse", "select", "sign", "subtract", "xor",
    )
)  # fmt: skip
OF_SHAPES = frozenset(f"stablehlo.{name}" for name in ("broadcast_in_dim", "constant", "reshape", "reverse"))
COSTLY = frozenset(
    f"stablehlo.{name}"
    for name in (
        "atan2", "cbrt", "ceil", "complex", "cosine", "divide", "exponential", "exponential_minus_one", "floor", "imag",
        "is_finite", "log", "log_plus_one", "logistic", "power", "real", "remainder", "rsqrt", "sine", "sqrt", "tan",
        "tanh",
    )
) | frozenset(
    f"chlo.{name}" for name in ("acos", "asin", "atan", "cosh", "erf", "erf_inv", "erfc", "sinh", "square")
)  # fmt: skip
ELEMENTWISE = CHEAP - OF_SHAPES | COSTLY
REPEATED = CHEAP | COSTLY


def shape_of(value: Any) -> tuple[int, ...]:
    return tuple(ir.ShapedType(value.type).shape)


@dataclass(frozen=True)
class Slice:
    """A slice of an array: where it begins is what dy's that are alike differ in."""

    array: Any
    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]

    def kind(self, is_elastic: bool) -> Any:
        return "slice", self.array, len(self.sizes) if is_elastic else (self.sizes, self.steps)


@dataclass(frozen=True)
class Given:
    """A value that is computed elsewhere."""

    value: Any

    def kind(self, is_elastic: bool) -> Any:
        return "number" if not shape_of(self.value) else self.value, str(self.value.type)


@dataclass(frozen=True)
class Step:
    """An operation, and the numbers of what it is applied to."""

    operation: Any
    operands: tuple[int, ...]

    def kind(self, is_elastic: bool) -> Any:
        [result] = self.operation.results
        element = str(ir.ShapedType(result.type).element_type)
        extents = len(shape_of(result)) if is_elastic else shape_of(result)
        return self.operation.name, self.operands, element, extents, _attributes(self.operation, is_elastic)


def _attributes(operation: Any, is_elastic: bool) -> Any:
    if operation.name == "stablehlo.constant" and is_elastic:
        return constant_in(operation).get_splat_value()
    return tuple((name, operation.attributes[name]) for name in names_of(operation))


def constant_in(operation: Any) -> Any:
    """What a constant is; None for other operations, and where the bindings cannot read it, as if it is complex."""
    try:
        return operation.attributes["value"] if operation.name == "stablehlo.constant" else None
    except TypeError:
        return None


def names_of(operation: Any) -> list[str]:
    """Of its attributes; versions of the bindings iterate over names or over pairs."""
    return [item if isinstance(item, str) else item.name for item in operation.attributes]


@dataclass(frozen=True)
class Program:
    """What computes a value, the last of the nodes, in an order in which it can be computed."""

    nodes: tuple[Slice | Given | Step, ...]
    shape: tuple[int, ...]
    is_elastic: bool  # whether it computes values of other extents as well, of longer slices

    def kind(self) -> Any:
        """What programs that can be computed in one loop have in common."""
        shape = len(self.shape) if self.is_elastic else self.shape
        return self.is_elastic, shape, tuple(node.kind(self.is_elastic) for node in self.nodes)


Known = dict[Any, Slice]  # what slices of slices were found to be, so that long chains of them are followed once


def read(value: Any, known: Known) -> Program | None:
    """The program of a value that nothing reads yet; None where it is not computed by simple operations alone, or has
    no elements."""
    if not _is_static(value) or not shape_of(value) or 0 in shape_of(value):
        return None
    found = _repeatable(value)
    if not found or not all(map(_is_static, found)):
        return None
    numbers: dict[Any, int] = {}
    nodes = []
    for each in found:  # operands come first
        nodes.append(_node(each, numbers, found, known))
        numbers[each] = len(numbers)
    if not isinstance(nodes[-1], Step):  # it is computed elsewhere
        return None
    return Program(tuple(nodes), shape_of(value), _is_elastic(nodes, numbers, shape_of(value)))


def _is_static(value: Any) -> bool:
    """Whether its extents are numbers: those of a program that is exported for any extents are not."""
    return bool(ir.ShapedType(value.type).has_static_shape)


def _node(value: Any, numbers: dict[Any, int], inside: dict[Any, bool], known: Known) -> Slice | Given | Step:
    if (operation := _slicing(value)) is not None:
        return _slice(operation, known)
    if inside[value]:
        operation = value.owner.operation
        return Step(operation, tuple(numbers[operand] for operand in operation.operands))
    return Given(value)


def _slicing(value: Any) -> Any:
    """The operation, if it is a slice."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "stablehlo.slice":
        return None
    return value.owner.operation


def _slice(operation: Any, known: Known) -> Slice:
    chain = [operation]
    while chain[-1] not in known and (outer := _slicing(chain[-1].operands[0])) is not None:
        chain.append(outer)
    for inner in reversed(chain):
        if inner not in known:
            known[inner] = _composed(inner, known)
    return known[operation]


def _composed(operation: Any, known: Known) -> Slice:
    """A slice of an array, of one that may be a slice of another, which is known."""
    starts, steps = (tuple(operation.attributes[name]) for name in ("start_indices", "strides"))
    array, sizes = operation.operands[0], shape_of(operation.results[0])
    if (slicing := _slicing(array)) is None:
        return Slice(array, starts, sizes, steps)
    outer = known[slicing]
    starts = tuple(a + b * c for a, b, c in zip(outer.starts, outer.steps, starts, strict=True))
    return Slice(outer.array, starts, sizes, tuple(map(mul, outer.steps, steps)))


def _repeatable(value: Any) -> dict[Any, bool]:
    """The values that it is computed from, operands first, each with whether its operation is to be repeated. Empty
    where there are too many."""
    order: dict[Any, None] = {}
    remaining = [(value, False)]
    while remaining:
        each, is_done = remaining.pop()
        if is_done:
            order[each] = None
        elif each not in order:
            remaining.append((each, True))
            remaining += [(operand, False) for operand in _operands(each)]
        if len(remaining) + len(order) > 4 * MOST_OPERATIONS:
            return {}
    return _without_those_read_elsewhere(value, list(dict.fromkeys(order)))


def _operands(value: Any) -> list[Any]:
    if isinstance(value.owner, ir.Block) or len(value.owner.operation.results) != 1:
        return []
    operation = value.owner.operation
    return list(operation.operands) if is_simple(operation) else []


def is_simple(operation: Any) -> bool:
    """Whether it is one of those that are repeated, or a call of a function of such, which JAX makes of jnp.where."""
    return operation.name in REPEATED or (operation.name == "func.call" and _is_simple_call(operation))


def _is_simple_call(operation: Any) -> bool:
    module = operation
    while module.parent is not None:
        module = module.parent
    name = ir.FlatSymbolRefAttr(operation.attributes["callee"]).value
    [body] = ir.SymbolTable(module)[name].operation.regions[0].blocks
    return all(inner.operation.name in REPEATED | {"func.return"} for inner in body.operations)


def _without_those_read_elsewhere(value: Any, order: Sequence[Any]) -> dict[Any, bool]:
    inside: dict[Any, bool] = {value: False}  # what is reached, and whether it is repeated
    operations: set[Any] = set()
    for each in reversed(order):  # what reads a value comes before it
        if each not in inside:
            continue
        operands = _operands(each)
        is_constant = not isinstance(each.owner, ir.Block) and each.owner.operation.name == "stablehlo.constant"
        if not (operands or is_constant) or not _may_be_repeated(each, operations):
            continue
        inside[each] = True
        operations.add(each.owner.operation)
        inside |= {operand: False for operand in operands if operand not in inside}
    return {each: inside[each] for each in order if each in inside} if sum(inside.values()) <= MOST_OPERATIONS else {}


def _may_be_repeated(value: Any, operations: set[Any]) -> bool:
    operation = value.owner.operation
    if operation.name == "stablehlo.constant":
        constant = constant_in(operation)
        return bool(shape_of(value)) and isinstance(constant, ir.DenseElementsAttr) and constant.is_splat
    return operation.name in CHEAP or all(use.owner.operation in operations for use in value.uses)


# --- whether extents may differ


def _is_elastic(nodes: Sequence[Any], numbers: dict[Any, int], shape: tuple[int, ...]) -> bool:
    shapes = [shape_of(value) for value in numbers]
    return math.prod(shape) > 0 and all(
        _node_is_elastic(node, own, nodes, shapes, shape) for node, own in zip(nodes, shapes, strict=True)
    )


def _longer(extents: Sequence[int]) -> list[int]:
    return [extent for extent in extents if extent != 1]


def _node_is_elastic(node: Any, own: tuple[int, ...], nodes: Sequence[Any], shapes: Sequence[Any], shape: Any) -> bool:
    if isinstance(node, Given):
        return own == ()
    if isinstance(node, Slice):
        return all(step == 1 for step in node.steps)
    if own not in (shape, ()):
        return False
    name, operands = node.operation.name, [shapes[i] for i in node.operands]
    if name == "stablehlo.reshape":
        return isinstance(nodes[node.operands[0]], Slice) and _longer(operands[0]) == _longer(own)
    if name == "stablehlo.broadcast_in_dim":
        return operands == [()]
    return name == "stablehlo.constant" or (name in ELEMENTWISE and all(operand == own for operand in operands))
