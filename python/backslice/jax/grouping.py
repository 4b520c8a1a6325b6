"""Which dy's a program computes into one array, several at a time, and which it computes inside their sum.

XLA compiles one kernel per dy, and that is most of the time that it takes for a program with hundreds of slices. Those
that are computed alike are computed by a loop (loops.py). Of the others, a concatenation of a few is one kernel that
computes them all. Both need elementwise operations whose result nothing else reads: others are computed by kernels of
their own in any case, and would be copied.

Of a small array, a few dy's are one kernel even where they are computed from one another, as those of the steps of a
recurrence: it computes anew for each dy what several of them need, which takes more time to run and less to compile.

The sum as XLA does it is one kernel that computes such dy's too, and looks at every element of the array once per
slice. That is no more than what they hold together where each of them is a large part of the array.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import jax
import numpy as np
from jax.interpreters.mlir import ir
from numpy.typing import NDArray

from .loops import Loop, aval_of, loops_of
from .programs import OF_SHAPES, is_simple, shape_of
from .selections import Selections

MOST = 4  # dy's per array: with more, the kernels get slower
LEAST_DYS = 8  # below, there is little to gain
MOST_IN_KERNEL = 8  # dy's: a concatenation of more is no part of a kernel for XLA
MOST_BYTES_OF_KERNEL = 1 << 22  # of their array, once per dy
MOST_OPERATIONS = 512
LARGE_PART = 4  # the array's elements per element of a dy, on average, that make it a large part

SLICE = "stablehlo.slice"
READ_ANYWHERE = OF_SHAPES | {SLICE}  # without being computed first

ELEMENTWISE = frozenset(
    f"stablehlo.{name}"
    for name in (
        "abs", "add", "broadcast_in_dim", "convert", "cosine", "divide", "exponential", "log", "logistic", "maximum",
        "minimum", "multiply", "negate", "power", "rsqrt", "select", "sign", "sine", "sqrt", "subtract", "tanh",
    )
)  # fmt: skip


def parts_of(dys: Sequence[Any]) -> list[int]:
    """How many dy's, given as values of the lowered program, are put together each time."""
    parts: list[int] = []
    for kind, alike in groupby(dys, _kind):
        count = len(list(alike))
        grouped = count // MOST if kind is not None and len(dys) >= LEAST_DYS else 0
        parts += [MOST] * grouped + [1] * (count - MOST * grouped)
    return parts


def fit_one_kernel(dys: Sequence[Any], array_bytes: int) -> bool:
    """Whether XLA computes them in one kernel if they are put together: from slices of arrays, by elementwise
    operations, each of which serves these dy's alone."""
    if not 1 < len(dys) <= MOST_IN_KERNEL or len(dys) * array_bytes > MOST_BYTES_OF_KERNEL:
        return False
    if len({str(dy.type) for dy in dys}) > 1 or len(set(dys)) < len(dys) or not shape_of(dys[0]):
        return False
    if any(isinstance(dy.owner, ir.Block) for dy in dys):
        return False
    operations, remaining = set[Any](), list(dys)
    while remaining:
        value = remaining.pop()
        if isinstance(value.owner, ir.Block) or value.owner.operation in operations:
            continue
        operation = value.owner.operation
        if not (is_simple(operation) or operation.name == SLICE) or len(operations) == MOST_OPERATIONS:
            return False
        operations.add(operation)
        remaining += operation.operands
    computing = [operation for operation in operations if operation.name not in READ_ANYWHERE]
    return bool(computing) and all(
        use.owner.operation in operations for operation in computing for use in operation.results[0].uses
    )


def are_computed_in_their_sum(dys: Sequence[Any], selections: Selections) -> bool:
    """Whether they are left to XLA: large parts of their array, of many shapes, each of which takes its own loop."""
    if len(dys) < LEAST_DYS or 2 * len({str(dy.type) for dy in dys}) < len(dys) or None in map(_kind, dys):
        return False
    elements = sum(math.prod(taken.result_shape) for taken in selections)
    return LARGE_PART * elements >= len(dys) * math.prod(selections[0].shape)


def _kind(dy: Any) -> Any:
    """What a dy has in common with others that it can be put together with: all but the extent of its first axis."""
    of = ir.ShapedType(dy.type)
    if isinstance(dy.owner, ir.Block) or of.rank == 0:  # an argument of the program, or a number
        return None
    if dy.owner.operation.name not in ELEMENTWISE or list(dy.uses):
        return None
    return str(of.element_type), *of.shape[1:]


@dataclass(frozen=True)
class Arrangement:
    """How the arguments of a call hold the dy's: first those of loops, then the others."""

    loops: Sequence[Loop]
    others: Sequence[int]  # their numbers
    counts: Sequence[int]  # of the others, how many each argument holds

    def operands(self, dys: Sequence[Any], avals: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What the program that makes the arguments reads, with the types."""
        read = [value for loop in self.loops for value in loop.operands()]
        return (
            read + [dys[number] for number in self.others],
            [aval_of(value) for value in read] + [avals[number] for number in self.others],
        )

    def arguments(self, operands: Sequence[Any], dtype: Any) -> list[Any]:
        remaining = iter(operands)
        computed = [loop.computed(remaining, dtype) for loop in self.loops]
        return computed + _joined(list(remaining), self.counts)

    def parts(self, selections: Selections) -> NDArray[np.int64]:
        """One list of integers; adapters/jax/parts.h describes it."""
        numbers: list[int] = []
        for loop in self.loops:
            numbers += [-len(loop.members), *(n for place in loop.places() for n in place)]
        remaining = iter(self.others)
        for count in self.counts:
            numbers += self._explicit([next(remaining) for _ in range(count)], selections) if self.loops else [count]
        return np.array(numbers, np.int64)

    def _explicit(self, numbers: Sequence[int], selections: Selections) -> list[int]:
        found, offset = [-len(numbers)], 0
        for number in numbers:
            shape = selections[number].result_shape
            found += [number, offset, *(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))]
            offset += math.prod(shape)
        return found


def arranged(dys: Sequence[Any], array_bytes: int, may_loop: bool) -> Arrangement:
    """Of dy's that are values of the lowered program."""
    loops = [loop for loop in loops_of(dys) if None not in map(aval_of, loop.operands())] if may_loop else []
    if may_loop and not loops and fit_one_kernel(dys, array_bytes):
        return Arrangement([], range(len(dys)), [len(dys)])
    looped = {number for loop in loops for number, _ in loop.members}
    others = [number for number in range(len(dys)) if number not in looped]
    return Arrangement(loops, others, parts_of([dys[number] for number in others]))


def one_by_one(count: int) -> Arrangement:
    return Arrangement([], range(count), [1] * count)


def _joined(dys: Sequence[Any], counts: Sequence[int]) -> list[Any]:
    """The arrays that hold the dy's, one after the other along the first axis."""
    remaining = iter(dys)
    return [
        jax.lax.concatenate([next(remaining) for _ in range(count)], 0) if count > 1 else next(remaining)
        for count in counts
    ]
