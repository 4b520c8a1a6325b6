"""dy's that are computed alike, from other slices of the same arrays: one loop or `vmap` of the common computation.

XLA compiles a kernel per dy, and for hundreds of slices that is most of the time that a program takes. The dy's that
differ only in the positions of slices and in numbers are computed along a new first axis. A few others are put
together where one kernel can compute them.
"""

import heapq
import itertools
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.extend.core.primitives import slice_p

from ..placement import Placement
from .choice import choose
from .native import has_whole_bytes
from .primitives import multi_slice_p
from .sharding import entries

LEAST = 4  # dy's of one loop: fewer kernels are compiled as fast
MOST_OPERATIONS = 64  # per dy
LARGEST_START = 2**31 - 1
LARGE_PART = 4  # the array's elements per element of a dy, on average, that make it a large part
MOST_IN_KERNEL = 8  # dy's of a small array that are computed from one another; a longer concatenation is no kernel
MOST_BYTES_OF_KERNEL = 1 << 22  # of their array, once per dy

# A value may be computed a second time by these where something else reads it too.
CHEAP = frozenset(
    {
        "abs", "add", "add_any", "and", "broadcast_in_dim", "clamp", "conj", "convert_element_type", "copy", "eq", "ge",
        "gt", "integer_pow", "le", "lt", "max", "min", "mul", "ne", "neg", "not", "one_minus_square", "or", "reshape",
        "rev", "select_n", "sign", "square", "squeeze", "sub", "xor",
    }
)  # fmt: skip
COSTLY = frozenset(
    {
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "complex", "cos", "cosh", "digamma",
        "div", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "imag", "is_finite", "lgamma", "log", "log1p",
        "log2", "logistic", "nextafter", "pow", "real", "rem", "round", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh",
    }
)  # fmt: skip
SLICING = frozenset({"backslice_multi_slice", "slice", "split", "unstack"})
OF_SHAPES = frozenset({"broadcast_in_dim", "reshape", "rev", "squeeze"})


@dataclass(frozen=True)
class Operation:
    """A traced operation; its number gives its order."""

    number: int
    primitive: Primitive
    operands: tuple[Any, ...]
    params: dict[str, Any]
    result: Any
    place: int  # of the result among those of the operation

    @property
    def is_elementwise(self) -> bool:
        return self.primitive.name in CHEAP or self.primitive.name in COSTLY


@dataclass
class Trace:
    """The operations of a function that is being traced, by their results, and which read each value."""

    operations: dict[int, Operation] = field(default_factory=dict)
    readers: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    count: int = 0


_current: ContextVar[Trace | None] = ContextVar("backslice_trace", default=None)


@contextmanager
def recorded() -> Iterator[None]:
    token = _current.set(Trace())
    try:
        yield
    finally:
        _current.reset(token)


def record(primitive: Primitive, operands: Sequence[Any], params: dict[str, Any], results: Sequence[Any]) -> None:
    if (trace := _current.get()) is None:
        return
    trace.count += 1
    for operand in operands:
        trace.readers[id(operand)].add(trace.count)
    for i, result in enumerate(results):
        if isinstance(result, jax.core.Tracer):
            trace.operations[id(result)] = Operation(trace.count, primitive, tuple(operands), params, result, i)


def computed(dys: Sequence[Any]) -> frozenset[int]:
    """The numbers of those that an elementwise operation computes."""
    trace = _current.get() or Trace()
    found = [trace.operations.get(id(dy)) for dy in dys]
    return frozenset(i for i, operation in enumerate(found) if operation is not None and operation.is_elementwise)


def are_cheaper_in_their_sum(dys: Sequence[Any], array_elements: int) -> bool:
    """Whether they are large parts of their array, of many shapes: XLA computes such dy's inside the sum, by one kernel
    that looks at every element of the array once per slice."""
    has_many_shapes = len(dys) >= 2 * LEAST and 2 * len({dy.shape for dy in dys}) >= len(dys)
    return (
        has_many_shapes
        and LARGE_PART * sum(dy.size for dy in dys) >= len(dys) * array_elements
        and len(computed(dys)) == len(dys)
    )


def stacked(dys: Sequence[Any], array_bytes: int) -> tuple[list[Any], tuple[tuple[int, ...], ...]]:
    """Operands that have the dy's along a new first axis, or one dy, and the numbers of the dy's in each."""
    trace = _current.get()
    if trace is None or not has_whole_bytes(dys[0].dtype) or any(any(entries(jax.typeof(dy))) for dy in dys):
        return list(dys), ()
    alike: dict[Any, list[tuple[int, _Program]]] = {}
    for number, dy in enumerate(dys):
        program = _Program.of(trace, dy)
        if program is not None:
            alike.setdefault(program.key(), []).append((number, program))
    operands, stacks, has_equal = list[Any](), list[tuple[int, ...]](), False
    for members in alike.values():
        if len(members) < LEAST:
            continue
        members.sort(key=lambda member: [leaf.starts for leaf in member[1].leaves if isinstance(leaf, _Slice)])
        columns = list(zip(*(program.leaves for _, program in members), strict=True))
        if any(map(_differ, columns)):
            operands.append(_together([program for _, program in members], columns))
            stacks.append(tuple(number for number, _ in members))
        else:  # XLA computes them once
            has_equal = True
    done = set(itertools.chain(*stacks))
    single = [i for i in range(len(dys)) if i not in done]
    if len(single) == len(dys) and not has_equal and _fit_one_kernel(trace, dys, array_bytes):
        return [jnp.stack(dys)], (tuple(single),)
    return [*operands, *(dys[i] for i in single)], (*stacks, *((i,) for i in single))


# --- how a value is computed


def _repeatable(trace: Trace, dy: Any) -> list[Operation]:
    """Return the operations that compute a dy and may be repeated, in their order; none if there are too many."""
    known = {trace.operations[id(dy)].number: trace.operations[id(dy)]}
    remaining, inside = [-number for number in known], dict[int, Operation]()
    while remaining and len(inside) <= MOST_OPERATIONS:
        operation = known[-heapq.heappop(remaining)]
        # What reads a value came after it, so that it is inside already or not at all.
        is_read_elsewhere = not trace.readers[id(operation.result)] <= inside.keys()
        if not operation.is_elementwise or (is_read_elsewhere and operation.primitive.name not in CHEAP):
            continue
        inside[operation.number] = operation
        for operand in operation.operands:
            if (of := trace.operations.get(id(operand))) is not None and of.number not in known:
                known[of.number] = of
                heapq.heappush(remaining, -of.number)
    return [] if remaining else [inside[number] for number in sorted(inside)]


@dataclass(frozen=True)
class _Slice:
    array: Any
    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    dropped: tuple[int, ...]  # axes that the slice does not have


@dataclass(frozen=True)
class _Program:
    """The operations that compute a value, in their order, and their inputs."""

    operations: list[Operation]
    leaves: list[Any]  # a _Slice, or a value
    places: list[list[int]]  # of the operands of each operation: leaves come first

    @classmethod
    def of(cls, trace: Trace, dy: Any) -> "_Program | None":
        if id(dy) not in trace.operations or trace.readers[id(dy)] or not dy.size:
            return None
        operations = _repeatable(trace, dy)
        if not operations:
            return None
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
            values.append(operation.primitive.bind(*[values[i] for i in places], **operation.params))
        return values[-1]


def _kind(leaf: Any) -> Any:
    if isinstance(leaf, _Slice):
        return "slice", id(leaf.array), leaf.sizes, leaf.steps, leaf.dropped
    aval = jax.typeof(leaf)
    return ("number", aval.dtype, aval.weak_type) if np.ndim(leaf) == 0 else id(leaf)


def _slice_of(trace: Trace, value: Any) -> _Slice | None:
    """A slice of an array, through slices of slices."""
    shape, place, array = np.shape(value), None, value
    while (operation := trace.operations.get(id(array))) is not None and (step := _placement(operation)) is not None:
        place, array = step if place is None else step.of(place), operation.operands[0]
    if place is None or not array.ndim:
        return None
    axes = {axis[0]: (*axis[1:], n) for axis, n in zip(place.axes, shape, strict=True) if axis is not None}
    axes |= {axis: (position, 1, 1) for axis, position in place.fixed.items()}
    starts, steps, sizes = zip(*(axes[axis] for axis in range(array.ndim)), strict=True)
    found = _Slice(array, starts, sizes, steps, tuple(sorted(place.fixed)))
    return found if max(starts) <= LARGEST_START else None


def _placement(operation: Operation) -> Placement | None:
    """Return the position of a slicing operation's result in its operand."""
    if operation.primitive.name not in SLICING:
        return None
    params, rank = operation.params, operation.operands[0].ndim
    if operation.primitive is slice_p:
        return Placement(tuple(zip(range(rank), params["start_indices"], params["strides"] or [1] * rank, strict=True)))
    if operation.primitive is multi_slice_p:
        taken = params["slices"].selections[operation.place]
        is_plain = min(taken.result_axes, default=0) >= 0 and all(step > 0 for _, step, _ in taken.axes)
        return Placement.from_selection(taken) if is_plain else None
    if operation.primitive.name == "split":
        return Placement.sliced(rank, params["axis"], sum(params["sizes"][: operation.place]))
    return Placement.selected(rank, params["axis"], operation.place)  # unstack


# --- several at once


def _differ(leaves: Sequence[Any]) -> bool:
    if isinstance(leaves[0], _Slice):
        return len({leaf.starts for leaf in leaves}) > 1
    if isinstance(leaves[0], jax.Array):
        return len({id(leaf) for leaf in leaves}) > 1
    return len({np.asarray(leaf).tobytes() for leaf in leaves}) > 1


def _together(programs: Sequence[_Program], columns: Sequence[Any]) -> Any:
    """Compute the values along a new first axis: by a loop if memory need not be filled first, else by `vmap`."""
    operands = [_operand(leaves) for leaves in columns]
    dy = programs[0].operations[-1].result
    count = len(programs)

    def value(i: Any, operands: Sequence[Any]) -> Any:
        return programs[0].run(*map(partial(_leaf, i), columns, operands))

    def by_vmap(*operands: Any) -> Any:
        return jax.vmap(lambda i: value(i, operands))(jnp.arange(count))

    def by_loop(*operands: Any) -> Any:
        def body(i: Any, result: Any) -> Any:
            begin = [lax.convert_element_type(i, np.int32), *[np.int32(0)] * dy.ndim]
            return lax.dynamic_update_slice(result, value(i, operands)[None], begin, allow_negative_indices=False)

        # The same number whenever the program is made; another one for each loop, so that XLA makes each its memory.
        number = zlib.crc32(repr([program.operations[-1].number for program in programs]).encode())
        memory = jax.ShapeDtypeStruct((count, *dy.shape), dy.dtype)
        return lax.fori_loop(0, count, body, jax.ffi.ffi_call("backslice_unwritten", memory)(number=np.int64(number)))

    if any(jax.typeof(operand).manual_axis_type.varying for operand in operands):  # inside shard_map
        return by_vmap(*operands)
    return choose(by_loop, by_vmap, operands)


def _operand(leaves: Sequence[Any]) -> Any:
    """What the leaves of several programs at one place are taken from: the array that is sliced, the value that all
    have, or a table of numbers."""
    if isinstance(leaves[0], _Slice):
        return leaves[0].array
    if not _differ(leaves):
        return leaves[0]
    return lax.concatenate([lax.reshape(jnp.asarray(number), (1,)) for number in leaves], 0)


def _leaf(i: Any, leaves: Sequence[Any], operand: Any) -> Any:
    """Return the i-th of them, for a traced i."""
    first = leaves[0]
    if not isinstance(first, _Slice):
        return _item(operand, i) if _differ(leaves) else operand
    starts = [_position(positions, i) for positions in zip(*(leaf.starts for leaf in leaves), strict=True)]
    spans = [(size - 1) * step + 1 if size else 0 for size, step in zip(first.sizes, first.steps, strict=True)]
    taken = lax.dynamic_slice(operand, starts, spans, allow_negative_indices=False)
    if any(step != 1 for step in first.steps):
        taken = lax.slice(taken, [0] * taken.ndim, spans, first.steps)
    return lax.squeeze(taken, first.dropped) if first.dropped else taken


def _position(starts: Sequence[int], i: Any) -> Any:
    """The i-th of some starts."""
    [distance, *others] = {b - a for a, b in itertools.pairwise(starts)}
    if others:
        return _item(jnp.asarray(starts, np.int32), i)
    first = np.int32(starts[0])
    return first + lax.convert_element_type(i, np.int32) * np.int32(distance) if distance else first


def _item(table: Any, i: Any) -> Any:
    return lax.dynamic_index_in_dim(table, i, keepdims=False, allow_negative_indices=False)


def _fit_one_kernel(trace: Trace, dys: Sequence[Any], array_bytes: int) -> bool:
    """Whether XLA computes them in one kernel: from slices of arrays, by elementwise operations, each of which serves
    these dy's alone."""
    if not 1 < len(dys) <= MOST_IN_KERNEL or len(dys) * array_bytes > MOST_BYTES_OF_KERNEL or not dys[0].ndim:
        return False
    if len({dy.shape for dy in dys}) > 1 or len(set(map(id, dys))) < len(dys):
        return False
    if any(id(dy) not in trace.operations for dy in dys):
        return False
    remaining, operations = list(dys), dict[int, Operation]()
    while remaining:
        operation = trace.operations.get(id(remaining.pop()))
        if operation is None or operation.number in operations:
            continue
        is_known = operation.is_elementwise or operation.primitive.name in SLICING
        if not is_known or len(operations) > 8 * MOST_OPERATIONS:
            return False
        operations[operation.number] = operation
        remaining += operation.operands
    computing = [o for o in operations.values() if o.primitive.name not in OF_SHAPES | SLICING]
    return bool(computing) and all(trace.readers[id(o.result)] <= operations.keys() for o in computing)
