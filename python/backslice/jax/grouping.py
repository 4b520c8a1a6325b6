"""Which dy's a program computes into one array, several at a time, and which it computes inside their sum.

XLA compiles one kernel per dy, and that is most of the time that it takes for a program with hundreds of slices. A
concatenation of a few dy's is one kernel that computes them all. This needs elementwise operations whose result nothing
else reads: others are computed by kernels of their own in any case, and would be copied.

The sum as XLA does it is one kernel that computes such dy's too, and looks at every element of the array once per
slice. That is no more than what they hold together where each of them is a large part of the array.
"""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import jax
from jax.interpreters.mlir import ir

from .selections import Selections

MOST = 4  # dy's per array: with more, the kernels get slower
LEAST_DYS = 8  # below, there is little to gain
LARGE_PART = 4  # the array's elements per element of a dy, on average, that make it a large part

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


def joined(dys: Sequence[Any], parts: Sequence[int]) -> list[Any]:
    """The arrays that hold the dy's, one after the other along the first axis."""
    remaining = iter(dys)
    return [
        jax.lax.concatenate([next(remaining) for _ in range(count)], 0) if count > 1 else next(remaining)
        for count in parts
    ]
