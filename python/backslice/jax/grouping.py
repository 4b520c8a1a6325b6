"""Which dy's a program computes into one array, several at a time.

XLA compiles one kernel per dy, and that is most of the time that it takes for a program with hundreds of slices. A
concatenation of a few dy's is one kernel that computes them all. This needs elementwise operations whose result nothing
else reads: others are computed by kernels of their own in any case, and would be copied.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import jax
from jax.interpreters.mlir import ir

MOST = 4  # dy's per array: with more, the kernels get slower
LEAST_DYS = 8  # below, there is little to gain

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


def _kind(dy: Any) -> Any:
    """The type of a dy that can be put together with others of that type."""
    if isinstance(dy.owner, ir.Block) or ir.ShapedType(dy.type).rank == 0:  # an argument of the program, or a number
        return None
    return str(dy.type) if dy.owner.operation.name in ELEMENTWISE and not list(dy.uses) else None


def joined(dys: Sequence[Any], parts: Sequence[int]) -> list[Any]:
    """The arrays that hold the dy's, one after the other along the first axis."""
    remaining = iter(dys)
    return [
        jax.lax.concatenate([next(remaining) for _ in range(count)], 0) if count > 1 else next(remaining)
        for count in parts
    ]
