"""dy's that are computed alike, from other slices of the same arrays: one `vmap` of the common computation.

XLA compiles a kernel per dy, and for hundreds of slices that is most of the time that a program takes. The dy's that
differ only in the positions of slices and in numbers are computed by one kernel along a new first axis. The others are
put together where one kernel can compute several of them.
"""

import heapq
import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.extend.core.primitives import slice_p

LEAST = 4  # dy's of one kernel: fewer kernels are compiled as fast
MOST_OPERATIONS = 64  # per dy
MOST_IN_KERNEL = 8  # dy's of a small array that are computed from one another; a longer concatenation is no kernel
MOST_BYTES_OF_KERNEL = 1 << 22  # of their array, once per dy

# A value may be computed a second time by these where something else reads it too.
CHEAP = frozenset(
    {
        "abs", "add", "add_any", "and", "broadcast_in_dim", "clamp", "convert_element_type", "copy", "eq", "ge", "gt",
        "integer_pow", "le", "lt", "max", "min", "mul", "ne", "neg", "not", "or", "reshape", "rev", "select_n", "sign",
        "square", "squeeze", "sub", "xor",
    }
)  # fmt: skip
COSTLY = frozenset(
    {
        "acos", "asin", "atan", "atan2", "cbrt", "ceil", "complex", "cos", "cosh", "div", "erf", "erf_inv", "erfc",
        "exp", "exp2", "expm1", "floor", "imag", "is_finite", "log", "log1p", "logistic", "pow", "real", "rem", "round",
        "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh",
    }
)  # fmt: skip
OF_SHAPES = frozenset({"broadcast_in_dim", "reshape", "rev", "squeeze"})


@dataclass(frozen=True)
class Operation:
    """One that was traced: its number says which came first."""

    number: int
    primitive: Primitive
    operands: tuple[Any, ...]
    params: dict[str, Any]
    result: Any

    @property
    def is_elementwise(self) -> bool:
        return self.primitive.name in CHEAP or self.primitive.name in COSTLY

    def again(self, operands: Sequence[Any]) -> Any:
        return self.primitive.bind(*operands, **self.params)


@dataclass
class Trace:
    """The operations of a function that is being traced, by their results, and which read each value."""

    operations: dict[int, Operation] = field(default_factory=dict)
    readers: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))

    def record(
        self, primitive: Primitive, operands: Sequence[Any], params: dict[str, Any], results: Sequence[Any]
    ) -> None:
        number = len(self.operations)
        for operand in operands:
            self.readers[id(operand)].add(number)
        for result in results:
            if isinstance(result, jax.core.Tracer):
                self.operations[id(result)] = Operation(number, primitive, tuple(operands), params, result)


_current: ContextVar[Trace | None] = ContextVar("backslice_trace", default=None)


@contextmanager
def recorded() -> Iterator[None]:
    token = _current.set(Trace())
    try:
        yield
    finally:
        _current.reset(token)


def record(primitive: Primitive, operands: Sequence[Any], params: dict[str, Any], results: Sequence[Any]) -> None:
    if (trace := _current.get()) is not None:
        trace.record(primitive, operands, params, results)


def computed(dys: Sequence[Any]) -> frozenset[int]:
    """The numbers of those that an elementwise operation computes."""
    trace = _current.get() or Trace()
    found = [trace.operations.get(id(dy)) for dy in dys]
    return frozenset(i for i, operation in enumerate(found) if operation is not None and operation.is_elementwise)


def stacked(dys: Sequence[Any], array_bytes: int) -> tuple[list[Any], tuple[tuple[int, ...], ...]]:
    """Operands that have the dy's along a new first axis, or one dy, and the numbers of the dy's in each."""
    trace = _current.get()
    if trace is None or any(_is_explicit(dy) for dy in dys):
        return list(dys), ()
    alike: dict[Any, list[tuple[int, _Program]]] = {}
    for number, dy in enumerate(dys):
        program = _Program.of(trace, dy)
        if program is not None:
            alike.setdefault(program.key(), []).append((number, program))
    operands, stacks, equal = [], [], set[int]()
    for members in alike.values():
        members.sort(key=lambda member: [leaf.starts for leaf in member[1].leaves if isinstance(leaf, _Slice)])
        programs = [program for _, program in members]
        if len(members) < LEAST:
            continue
        if _differ(programs):
            operands.append(_together(programs))
            stacks.append(tuple(number for number, _ in members))
        else:  # XLA computes them once
            equal.update(number for number, _ in members)
    done = equal.union(*stacks)
    rest = _joined(trace, dys, [i for i in range(len(dys)) if i not in done], array_bytes)
    for numbers in itertools.chain(([i] for i in equal), rest):
        operands.append(jnp.stack([dys[i] for i in numbers]) if len(numbers) > 1 else dys[numbers[0]])
        stacks.append(tuple(numbers))
    return operands, tuple(stacks)


def _is_explicit(dy: Any) -> bool:
    return any(entry is not None for entry in jax.typeof(dy).sharding.spec.partitions)


# --- how a value is computed


def _reached(trace: Trace, roots: Sequence[Any], may_repeat: bool) -> dict[int, Operation] | None:
    """The elementwise operations that compute some values, by number; None where there are too many."""
    found = [trace.operations[id(root)] for root in roots if id(root) in trace.operations]
    heap = [-operation.number for operation in found]
    heapq.heapify(heap)
    known = {operation.number: operation for operation in found}
    own = set(known)
    inside: dict[int, Operation] = {}
    while heap:
        operation = known[-heapq.heappop(heap)]
        # What reads a value came after it, so that it is inside already or not at all.
        is_own = operation.number in own or trace.readers[id(operation.result)] <= inside.keys()
        is_cheap = may_repeat and operation.primitive.name in CHEAP
        if operation.number in inside or not operation.is_elementwise or not (is_own or is_cheap):
            continue
        inside[operation.number] = operation
        if len(inside) > MOST_OPERATIONS * len(roots):
            return None
        for operand in operation.operands:
            if (of := trace.operations.get(id(operand))) is not None and of.number not in known:
                known[of.number] = of
                heapq.heappush(heap, -of.number)
    return inside


@dataclass(frozen=True)
class _Slice:
    array: Any
    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]


@dataclass(frozen=True)
class _Program:
    """The operations that compute a value, in their order, and what they are applied to."""

    operations: list[Operation]
    leaves: list[Any]  # a _Slice, or a value
    places: list[list[int]]  # of the operands of each operation: leaves come first

    @classmethod
    def of(cls, trace: Trace, dy: Any) -> "_Program | None":
        if id(dy) not in trace.operations or trace.readers[id(dy)] or not dy.size:
            return None
        inside = _reached(trace, [dy], may_repeat=True)
        if not inside:
            return None
        operations = [inside[number] for number in sorted(inside)]
        leaves: dict[int, Any] = {}
        results = {id(operation.result) for operation in operations}
        for operand in itertools.chain(*(operation.operands for operation in operations)):
            if id(operand) not in results:
                leaves.setdefault(id(operand), operand)
        order = [*leaves, *(id(operation.result) for operation in operations)]
        place = {key: i for i, key in enumerate(order)}
        places = [[place[id(operand)] for operand in operation.operands] for operation in operations]
        return cls(operations, [_slice_of(trace, leaf) or leaf for leaf in leaves.values()], places)

    def key(self) -> Any:
        """Equal for programs that are alike."""
        steps = [(o.primitive, repr(o.params), *places) for o, places in zip(self.operations, self.places, strict=True)]
        return tuple(steps), tuple(map(_kind, self.leaves))

    def run(self, *leaves: Any) -> Any:
        values = list(leaves)
        for operation, places in zip(self.operations, self.places, strict=True):
            values.append(operation.again([values[i] for i in places]))
        return values[-1]


def _kind(leaf: Any) -> Any:
    if isinstance(leaf, _Slice):
        return "slice", id(leaf.array), leaf.sizes, leaf.steps
    aval = jax.typeof(leaf)
    return ("number", aval.dtype, aval.weak_type) if np.ndim(leaf) == 0 else id(leaf)


def _slice_of(trace: Trace, value: Any) -> _Slice | None:
    """A slice of an array, through slices of slices."""
    found: _Slice | None = None
    while (operation := trace.operations.get(id(value))) is not None and operation.primitive is slice_p:
        starts = operation.params["start_indices"]
        steps = operation.params["strides"] or (1,) * len(starts)
        value = operation.operands[0]
        if found is None:
            found = _Slice(value, tuple(starts), tuple(operation.result.shape), tuple(steps))
        else:
            starts = tuple(a + b * c for a, b, c in zip(starts, steps, found.starts, strict=True))
            found = _Slice(value, starts, found.sizes, tuple(map(math.prod, zip(steps, found.steps, strict=True))))
    return found


# --- several at once


def _differ(programs: Sequence[_Program]) -> bool:
    return any(_axis_of(leaves) is not None for leaves in zip(*(p.leaves for p in programs), strict=True))


def _axis_of(leaves: Sequence[Any]) -> int | None:
    """None for what all have."""
    if isinstance(leaves[0], _Slice):
        return 0 if len({leaf.starts for leaf in leaves}) > 1 else None
    if isinstance(leaves[0], jax.Array):
        return 0 if len({id(leaf) for leaf in leaves}) > 1 else None
    return 0 if len({np.asarray(leaf).tobytes() for leaf in leaves}) > 1 else None


def _together(programs: Sequence[_Program]) -> Any:
    columns = list(zip(*(program.leaves for program in programs), strict=True))
    axes = [_axis_of(leaves) for leaves in columns]
    leaves = [_stack(leaves) if axis == 0 else _alone(leaves[0]) for leaves, axis in zip(columns, axes, strict=True)]
    return jax.vmap(programs[0].run, in_axes=axes)(*leaves)


def _alone(leaf: Any) -> Any:
    if not isinstance(leaf, _Slice):
        return leaf
    return lax.slice(leaf.array, leaf.starts, _limits(leaf.starts, leaf.sizes, leaf.steps), leaf.steps)


def _limits(starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> list[int]:
    return [a + (n - 1) * step + 1 if n else a for a, n, step in zip(starts, sizes, steps, strict=True)]


def _stack(leaves: Sequence[Any]) -> Any:
    """Slices or numbers, along a new first axis."""
    if not isinstance(leaves[0], _Slice):
        return lax.concatenate([lax.reshape(jnp.asarray(number), (1,)) for number in leaves], 0)
    array, sizes, steps = leaves[0].array, leaves[0].sizes, leaves[0].steps
    starts = np.array([leaf.starts for leaf in leaves])
    moving = np.flatnonzero(np.any(starts != starts[0], axis=0))
    distances = np.diff(starts[:, moving], axis=0)
    if len(moving) == 1 and np.all(distances == distances[0]) and (axis := int(moving[0])) is not None:
        distance, size = int(distances[0, 0]), sizes[axis]
        if distance > 0 and (size == 1 or (distance == size and steps[axis] == 1)):
            return _adjacent(leaves, axis, distance)
    spans = _limits((0,) * len(sizes), sizes, steps)
    rows = jax.vmap(lambda start: lax.dynamic_slice(array, start, spans))(jnp.asarray(starts, np.int32))
    return rows if all(step == 1 for step in steps) else lax.slice(rows, (0,) * rows.ndim, rows.shape, (1, *steps))


def _adjacent(leaves: Sequence[_Slice], axis: int, distance: int) -> Any:
    """Slices at equal distances, as another view of the array."""
    first, count = leaves[0], len(leaves)
    sizes, steps = list(first.sizes), list(first.steps)
    size = sizes[axis]
    sizes[axis], steps[axis] = count * size, distance if size == 1 else 1
    rows = lax.slice(first.array, first.starts, _limits(first.starts, sizes, steps), steps)
    apart = lax.reshape(rows, (*sizes[:axis], count, size, *sizes[axis + 1 :]))
    return jnp.moveaxis(apart, axis, 0)


def _joined(trace: Trace, dys: Sequence[Any], numbers: Sequence[int], array_bytes: int) -> Iterator[list[int]]:
    """Of the others, the numbers of those that one kernel computes."""
    count = len(numbers)
    of = [dys[i] for i in numbers]
    is_small = 1 < count <= MOST_IN_KERNEL and len(dys) * array_bytes <= MOST_BYTES_OF_KERNEL
    if is_small and len({dy.shape for dy in of}) == 1 and _fit_one_kernel(trace, of):
        yield list(numbers)
        return
    free = [i for i in numbers if _is_computed_for_itself(trace, dys[i])] if count >= 2 * LEAST else []
    shapes: dict[Any, list[int]] = defaultdict(list)
    for i in free:
        shapes[dys[i].shape].append(i)
    together = [same[k : k + LEAST] for same in shapes.values() for k in range(0, len(same) - LEAST + 1, LEAST)]
    yield from together
    yield from ([i] for i in numbers if i not in set(itertools.chain(*together)))


def _is_computed_for_itself(trace: Trace, dy: Any) -> bool:
    operation = trace.operations.get(id(dy))
    return operation is not None and dy.ndim > 0 and operation.is_elementwise and not trace.readers[id(dy)]


def _fit_one_kernel(trace: Trace, dys: Sequence[Any]) -> bool:
    """Whether XLA computes them in one kernel: from slices of arrays, by elementwise operations, each of which serves
    these dy's alone."""
    if len(set(map(id, dys))) < len(dys) or not dys[0].ndim or any(id(dy) not in trace.operations for dy in dys):
        return False
    remaining, operations = list(dys), dict[int, Operation]()
    while remaining:
        operation = trace.operations.get(id(remaining.pop()))
        if operation is None or operation.number in operations:
            continue
        if not (operation.is_elementwise or operation.primitive is slice_p) or len(operations) > 8 * MOST_OPERATIONS:
            return False
        operations[operation.number] = operation
        remaining += operation.operands
    computing = [o for o in operations.values() if o.primitive is not slice_p and o.primitive.name not in OF_SHAPES]
    return bool(computing) and all(trace.readers[id(o.result)] <= operations.keys() for o in computing)
