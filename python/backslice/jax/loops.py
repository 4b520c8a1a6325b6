"""dy's that are computed alike, from other slices, by one loop.

XLA compiles a kernel per dy, and for hundreds of slices that is most of the time that a program takes. The body of a
loop is compiled once: it slices at a position that depends on the round, repeats the operations, and writes its dy into
an array of all of them. Slices of different lengths are taken as long as the longest, where that is no more than twice
the work; the call that sums them reads what belongs to each.
"""

import itertools
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import mlir
from jax.interpreters.mlir import ir

from .programs import Known, Program, Slice, Step, constant_in, names_of, read, shape_of

LEAST = 4  # rounds of a loop: fewer kernels are compiled as fast
MOST_WASTE = 2  # elements that are computed, per element that is asked for
LARGEST_START = 2**31 - 1

Member = tuple[int, Program]  # the number of a slice, and what computes its dy
Leaf = Callable[[Any], Any]  # of the round: what the operations are applied to in it


@dataclass(frozen=True)
class Loop:
    members: Sequence[Member]
    shape: tuple[int, ...]  # of what a round computes
    shifts: Sequence[tuple[int, ...]]  # per member, where its dy begins therein

    @property
    def program(self) -> Program:
        return self.members[0][1]

    def places(self) -> Iterator[list[int]]:
        """Per member the number of its slice, where its dy begins in the result, and its strides."""
        strides = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        size = math.prod(self.shape)
        for i, ((number, _), shift) in enumerate(zip(self.members, self.shifts, strict=True)):
            yield [number, i * size + sum(a * b for a, b in zip(shift, strides, strict=True)), *strides]

    def operands(self) -> list[Any]:
        """The values of the lowered program that it reads."""
        return [value for alike in _leaves_of(self.members) for value in _values_of(alike)]

    def computed(self, operands: Iterable[Any], dtype: Any) -> Any:
        """The dy's, one after the other along a new first axis, of operands that are arrays now."""
        remaining = iter(operands)
        leaves = [_leaf(alike, [next(remaining) for _ in _values_of(alike)]) for alike in _leaves_of(self.members)]
        zeros = [np.int32(0)] * len(self.shape)

        def round_(i: Any, result: Any) -> Any:
            i = lax.convert_element_type(i, np.int32)
            dy = repeat_p.bind(*(leaf(i) for leaf in leaves), program=self.program, shape=self.shape, dtype=dtype)
            return lax.dynamic_update_slice(result, dy[None], (i, *zeros), allow_negative_indices=False)

        memory = jax.ShapeDtypeStruct((len(self.members), *self.shape), dtype)
        unwritten = jax.ffi.ffi_call("backslice_unwritten", memory)(number=np.int64(self._number()))
        return lax.fori_loop(0, len(self.members), round_, unwritten)

    def _number(self) -> int:
        """The same whenever the program is made again, so that a cache of programs knows it; different for loops that
        differ, so that XLA does not have them share their memory."""
        starts = [node.starts for _, program in self.members for node in program.nodes if isinstance(node, Slice)]
        return zlib.crc32(repr((list(self.places()), self.shape, starts)).encode())


def _leaves_of(members: Sequence[Member]) -> list[tuple[Any, ...]]:
    """The nodes that are no operations, each of all members."""
    nodes = zip(*(program.nodes for _, program in members), strict=True)
    return [alike for alike in nodes if not isinstance(alike[0], Step)]


def _leaf(alike: Sequence[Any], given: list[Any]) -> Leaf:
    if isinstance(alike[0], Slice):
        return _moving_slice(given[0], alike)
    if len(given) == 1:
        return lambda i: given[0]
    table = lax.concatenate([lax.reshape(number, (1,)) for number in given], 0)
    return lambda i: lax.dynamic_index_in_dim(table, i, keepdims=False, allow_negative_indices=False)


def _values_of(alike: Sequence[Any]) -> list[Any]:
    """The array that is sliced or that all are given, or a number per member where they differ."""
    if isinstance(alike[0], Slice):
        return [alike[0].array]
    values = [node.value for node in alike]
    return values[:1] if len({_identity(value) for value in values}) == 1 else values


def _identity(value: Any) -> Any:
    """Equal for numbers that are written several times."""
    constant = None if isinstance(value.owner, ir.Block) else constant_in(value.owner.operation)
    return value if constant is None else constant


def _moving_slice(array: Any, alike: Sequence[Slice]) -> Leaf:
    sizes, steps = _longest(node.sizes for node in alike), alike[0].steps
    spans = [(size - 1) * step + 1 for size, step in zip(sizes, steps, strict=True)]
    starts = [_position([s[axis] for s in _clamped(array.shape, alike, spans)]) for axis in range(len(sizes))]

    def leaf(i: Any) -> Any:
        taken = lax.dynamic_slice(array, [start(i) for start in starts], spans, allow_negative_indices=False)
        return lax.slice(taken, [0] * len(spans), spans, steps) if any(step != 1 for step in steps) else taken

    return leaf


def _clamped(shape: Sequence[int], alike: Sequence[Slice], spans: Sequence[int]) -> list[tuple[int, ...]]:
    """Where each slice begins if all are as long as the longest."""
    return [tuple(map(min, node.starts, [n - span for n, span in zip(shape, spans, strict=True)])) for node in alike]


def _position(starts: Sequence[int]) -> Leaf:
    steps = {b - a for a, b in itertools.pairwise(starts)}
    first = np.int32(starts[0])
    if steps == {0}:
        return lambda i: first
    if len(steps) == 1:
        step = np.int32(steps.pop())
        return lambda i: lax.add(lax.mul(i, step), first)
    table = np.array(starts, np.int32)
    return lambda i: lax.dynamic_index_in_dim(jnp.asarray(table), i, keepdims=False, allow_negative_indices=False)


def _longest(extents: Iterable[Sequence[int]]) -> tuple[int, ...]:
    return tuple(map(max, zip(*extents, strict=True)))


# --- finding them


def loops_of(dys: Sequence[Any]) -> list[Loop]:
    """Those that pay; each dy, given as a value of the lowered program, is in one of them or in none."""
    alike: dict[Any, list[Member]] = {}
    known: Known = {}
    for number, dy in enumerate(dys):
        if next(iter(dy.uses), None) is None and (program := read(dy, known)) is not None:
            alike.setdefault(program.kind(), []).append((number, program))
    return [loop for members in alike.values() for loop in _loops_of(members)]


def _loops_of(members: Sequence[Member]) -> Iterator[Loop]:
    for similar in _of_similar_size(members) if len(members) >= LEAST and _differ(members) else ():
        loop = _loop(similar)
        if loop is not None and len(loop.members) >= LEAST:
            yield loop


def _differ(members: Sequence[Member]) -> bool:
    """Whether they are not all the same value, which XLA computes once."""
    return len({program.shape for _, program in members}) > 1 or any(
        len({(node.starts, node.sizes) for node in alike}) > 1
        if isinstance(alike[0], Slice)
        else len(_values_of(alike)) > 1
        for alike in _leaves_of(members)
    )


def _of_similar_size(members: Sequence[Member]) -> Iterator[list[Member]]:
    taken: list[Member] = []
    elements = 0
    longest: tuple[int, ...] = ()
    for member in sorted(members, key=lambda member: (-math.prod(member[1].shape), member[1].shape)):
        own = member[1].shape
        longest = _longest([longest, own]) if taken else own
        if (len(taken) + 1) * math.prod(longest) > MOST_WASTE * (elements + math.prod(own)):
            yield taken
            taken, elements, longest = [], 0, own
        taken.append(member)
        elements += math.prod(own)
    yield taken


def _loop(members: Sequence[Member]) -> Loop | None:
    """A loop of those members whose slices begin at the same place in what is computed for them."""
    kept = sorted(members, key=lambda member: member[0])
    while kept:
        shape = _longest(program.shape for _, program in kept)
        sizes = _longest_slices([program for _, program in kept])
        shifts = [_shift(program, shape, sizes) for _, program in kept]
        if None not in shifts:
            return Loop(kept, shape, [shift for shift in shifts if shift is not None])
        kept = [member for member, shift in zip(kept, shifts, strict=True) if shift is not None]
    return None


def _longest_slices(programs: Sequence[Program]) -> dict[int, tuple[int, ...]]:
    """Per node that is a slice, how long it is in the longest of programs that are alike."""
    return {
        i: _longest(program.nodes[i].sizes for program in programs)  # type: ignore[union-attr]
        for i, node in enumerate(programs[0].nodes)
        if isinstance(node, Slice)
    }


def _shift(program: Program, shape: tuple[int, ...], sizes: dict[int, tuple[int, ...]]) -> tuple[int, ...] | None:
    if not _starts_fit(program):
        return None
    found = set()
    for i, node in enumerate(program.nodes) if program.is_elastic else ():
        if isinstance(node, Slice):
            found.add(_shift_of_slice(node, sizes[i], program.shape, shape))
    found -= {()}  # numbers
    if not found:
        return (0,) * len(shape)
    return found.pop() if len(found) == 1 else None


def _starts_fit(program: Program) -> bool:
    return all(max(node.starts, default=0) <= LARGEST_START for node in program.nodes if isinstance(node, Slice))


def _shift_of_slice(node: Slice, sizes: Sequence[int], own: Sequence[int], shape: Sequence[int]) -> Any:
    """Per axis of what is computed; () for a slice that is one number, None where its axes are not those."""
    axes = [axis for axis, size in enumerate(sizes) if size != 1]
    of = [axis for axis, size in enumerate(shape) if size != 1]
    if not axes and of:
        return ()
    if [sizes[a] for a in axes] != [shape[a] for a in of] or [node.sizes[a] for a in axes] != [own[a] for a in of]:
        return None
    [clamped] = _clamped(shape_of(node.array), [node], sizes)
    shift = [0] * len(shape)
    for axis, a in zip(of, axes, strict=True):
        shift[axis] = node.starts[a] - clamped[a]
    return tuple(shift)


# --- the operations, again


repeat_p = Primitive("backslice_repeat")  # only ever traced while a program is lowered


def _repeat_aval(*leaves: Any, program: Program, shape: tuple[int, ...], dtype: Any) -> Any:
    return jax.core.ShapedArray(shape, dtype)


def _repeat(ctx: Any, *leaves: Any, program: Program, shape: tuple[int, ...], dtype: Any) -> list[Any]:
    remaining = iter(leaves)
    values: list[Any] = []
    for node in program.nodes:
        values.append(_repeated(node, values, program, shape) if isinstance(node, Step) else next(remaining))
    return [values[-1]]


def _repeated(step: Step, values: Sequence[Any], program: Program, shape: tuple[int, ...]) -> Any:
    operation = step.operation
    [result] = operation.results
    extents = shape if shape_of(result) == program.shape else shape_of(result)
    of = ir.RankedTensorType.get(extents, ir.ShapedType(result.type).element_type)
    attributes = {name: operation.attributes[name] for name in names_of(operation)}
    if operation.name == "stablehlo.constant":
        attributes["value"] = ir.DenseElementsAttr.get_splat(of, attributes["value"].get_splat_value())
    operands = [values[i] for i in step.operands]
    return ir.Operation.create(operation.name, [of], operands, attributes).results[0]


repeat_p.def_abstract_eval(_repeat_aval)
mlir.register_lowering(repeat_p, _repeat, cacheable=False)


@cache
def _dtypes() -> dict[str, Any]:
    names = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
             "float32", "float64", "complex64", "complex128")  # fmt: skip
    with mlir.make_ir_context():
        return {str(mlir.dtype_to_ir_type(jnp.dtype(name))): jnp.dtype(name) for name in names}


def aval_of(value: Any) -> Any:
    """None where the type is one of the rarer ones."""
    dtype = _dtypes().get(str(ir.ShapedType(value.type).element_type))
    return None if dtype is None else jax.core.ShapedArray(shape_of(value), dtype)
