"""The primitives in programs that XLA partitions: each device computes its own shard.

Axes that every slice takes whole may be sharded alike in the array and in its slices. Along the others, which are cut,
a shard of a gradient is what the slices place into its box, of dy's that every device has; and a slice is the sum over
the shards of what each has of it, so that only selected elements are exchanged.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial, reduce, wraps
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec

from .._core import Selection
from ..placement import selection
from . import handlers, internals, native
from .selections import Selections, Slices, attribute, is_whole

Entry = Any  # of a PartitionSpec: None, the name of an axis of the mesh, or a tuple of names


def is_possible() -> bool:
    """Whether handlers can run in programs that XLA divides. Otherwise it divides JAX's own operations."""
    return internals.primitives_that_need_devices() is not None


def will_be_partitioned(primitives: Iterable[Any]) -> None:
    if (needing := internals.primitives_that_need_devices()) is not None:
        needing.update(primitives)


def spec_of_slice(of_array: Sequence[Entry], taken: Selection) -> list[Entry]:
    """Return the sharding of a slice: its array's along the axes that are selected whole, none along the others."""
    return [of_array[axis] if axis >= 0 and is_whole(taken, axis) else None for axis in taken.result_axes]


def spec_of_gradient(of_dys: Sequence[Sequence[Entry]], selections: Selections) -> list[Entry]:
    """How the gradient is sharded: along the axes that all slices take whole as the first dy that is sharded."""
    cut = _cut(selections)
    for of_dy, taken in zip(of_dys, selections, strict=False):  # none where they are stacked
        found = {axis: entry for axis, entry in zip(taken.result_axes, of_dy, strict=True) if axis not in cut}
        if any(entry is not None for axis, entry in found.items() if axis >= 0):
            return [found.get(axis) for axis in range(len(taken.shape))]
    return [None] * len(selections[0].shape)


def without_explicit_axes(avals: Sequence[Any]) -> tuple[list[Any], AbstractContextManager[Any]]:
    """The same types for a function that XLA is to divide as it likes, and the mesh to trace it with: of our own
    operations the type is known, and those of JAX may have none, as slices of a sharded axis."""
    mesh = next((aval.sharding.mesh for aval in avals if any(entries(aval))), None)
    if mesh is None:
        return list(avals), nullcontext()
    explicit = [name for name, of in zip(mesh.axis_names, mesh.axis_types, strict=True) if of == AxisType.Explicit]
    automatic = mesh.update_axis_types(dict.fromkeys(explicit, AxisType.Auto))
    unsharded = [aval.update(sharding=NamedSharding(automatic, PartitionSpec(*[None] * aval.ndim))) for aval in avals]
    return unsharded, jax.sharding.use_abstract_mesh(automatic)


def is_partial(aval: Any) -> bool:
    """Whether it is a sum over some axes of a mesh that is not computed yet, or the gradient of it is."""
    return bool(aval.sharding.spec.unreduced or aval.sharding.spec.reduced)


def name_callback(ctx: Any, results: Sequence[Any], *facts: Any) -> None:
    """Rename the function that XLA calls to divide an operation, by facts that determine what it does.

    JAX names it by its address, so that its persistent cache would know no program with it.
    """
    callbacks, attributes = internals.callbacks_of_partitioning(), getattr(results[0].owner, "attributes", {})
    if callbacks is None or "backend_config" not in attributes:
        return
    address = attributes["backend_config"]
    info = callbacks.get(address.value.encode())
    if info is None:
        return
    types = [str(operand.type) for operand in results[0].owner.operands]
    devices = ctx.module_context.axis_context.device_assignment
    mesh = info.mesh.shape_tuple, [device.id for device in devices]
    name = "backslice " + hashlib.sha256(repr((facts, types, mesh)).encode()).hexdigest()
    ctx.module_context.add_keepalive(callbacks.setdefault(name.encode(), info))
    attributes["backend_config"] = type(address).get(name)


def sharded_gradient(selections: Selections, platform: str) -> Any:
    """multi_slice_grad, for any sharding of its result."""

    def partition(mesh: Mesh, dys: Sequence[Any], dx: Any) -> Any:
        spec = _spec(mesh, dx)
        shape, inside = _local_shape(mesh, spec, dx.shape), _localised(mesh, spec, selections)

        @_outside_meshes
        def local(*parts: Any) -> Any:
            if platform == "cuda" and any(_parts(mesh, spec[axis]) > 1 for axis in _cut(selections)):
                return _shard_by_jax(parts, inside, _shard(spec, selections), shape)
            if platform == "cuda":
                return handlers.gradient(Slices(inside), platform, *parts)
            result = jax.ShapeDtypeStruct(shape, dx.dtype)
            return jax.ffi.ffi_call("backslice_shard_of_gradient", result)(
                _shard(spec, selections), *parts, slices=attribute(inside)
            )

        return mesh, local, NamedSharding(mesh, spec), tuple(_of_slices(mesh, spec, selections))

    gradient: Any = custom_partitioning(partial(handlers.gradient, Slices(selections), platform))
    gradient.def_partition(
        partition=partition, sharding_rule=f"{_slices_rule(selections)} -> {_array_rule(selections)}"
    )
    return gradient


def _shard_by_jax(dys: Sequence[Any], selections: Selections, shard: Any, shape: tuple[int, ...]) -> Any:
    """By JAX's own operations, where a handler cannot know which shard it is to write: on a CUDA device that number is
    in memory that the CPU would have to wait for. XLA computes no more of each term than the shard."""
    begin = [shard[axis] * extent for axis, extent in enumerate(shape)]
    terms = [native.gradient(dy, selections=(taken,)) for dy, taken in zip(dys, selections, strict=True)]
    return reduce(jax.lax.add, [jax.lax.dynamic_slice(term, begin, shape) for term in terms])


def sharded_slices(selections: Selections, platform: str) -> Any:
    """multi_slice, for any sharding of its array; by handlers of the CPU."""

    def partition(mesh: Mesh, arguments: Sequence[Any], results: Sequence[Any]) -> Any:
        [x] = arguments
        spec = _spec(mesh, x)
        cut = tuple(name for axis in _cut(selections) for name in _names(spec[axis]))
        inside = _localised(mesh, spec, selections)

        @_outside_meshes
        def local(part: Any) -> Any:
            shapes = [jax.ShapeDtypeStruct(taken.result_shape, x.dtype) for taken in inside]
            parts = jax.ffi.ffi_call("backslice_slices_of_shard", shapes)(
                _shard(spec, selections), part, slices=attribute(inside)
            )
            return [_united(part, cut) for part in parts] if cut else parts

        return mesh, local, _of_slices(mesh, spec, selections), (NamedSharding(mesh, spec),)

    slices: Any = custom_partitioning(partial(handlers.slices, Slices(selections), platform))
    slices.def_partition(partition=partition, sharding_rule=f"{_array_rule(selections)} -> {_slices_rule(selections)}")
    return slices


def _outside_meshes(local: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of one device, traced without a mesh: its arrays are not divided any further."""

    @wraps(local)
    def traced(*parts: Any) -> Any:
        with jax.sharding.use_abstract_mesh(AbstractMesh((), ())):
            return local(*parts)

    return traced


def _cut(selections: Selections) -> list[int]:
    """The axes that some slice does not take whole."""
    return [axis for axis in range(len(selections[0].shape)) if not all(is_whole(s, axis) for s in selections)]


def entries(array: Any) -> list[Entry]:
    """How an array, or one of that type, is sharded along each axis."""
    spec = array.sharding.spec.partitions if isinstance(array.sharding, NamedSharding) else ()
    return [*spec, *[None] * (len(array.shape) - len(spec))]


def _names(entry: Entry) -> tuple[str, ...]:
    return () if entry is None else entry if isinstance(entry, tuple) else (entry,)


def _parts(mesh: Mesh, entry: Entry) -> int:
    return math.prod(mesh.shape[name] for name in _names(entry))


def _spec(mesh: Mesh, array: Any) -> PartitionSpec:
    """How an array is sharded, one entry per axis; an axis whose shards would be uneven is not."""
    pairs = zip(entries(array), array.shape, strict=True)
    return PartitionSpec(*(entry if extent % _parts(mesh, entry) == 0 else None for entry, extent in pairs))


def _local_shape(mesh: Mesh, spec: PartitionSpec, shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(extent // _parts(mesh, entry) for entry, extent in zip(spec, shape, strict=True))


def _shard(spec: PartitionSpec, selections: Selections) -> Any:
    """The number of this device's shard along each axis, as the handlers count: those taken whole are their own."""
    cut = _cut(selections)
    numbers = [
        jax.lax.axis_index(_names(entry)) if axis in cut and entry is not None else jnp.int32(0)
        for axis, entry in enumerate(spec)
    ]
    return jnp.stack([number.astype(jnp.int32) for number in numbers]) if numbers else jnp.zeros(0, jnp.int32)


def _localised(mesh: Mesh, spec: PartitionSpec, selections: Selections) -> Selections:
    """Return the slices for an array with the shard's size along the axes that are selected whole."""
    cut, old = _cut(selections), selections[0].shape
    local = _local_shape(mesh, spec, old)
    shape = [n if axis in cut else local[axis] for axis, n in enumerate(old)]
    whole = [(0, 1, n) for n in shape]
    axes = [
        [of[axis] if axis in cut else whole[axis] for axis in range(len(shape))] for of in (s.axes for s in selections)
    ]
    return tuple(selection(shape, own, s.result_axes) for own, s in zip(axes, selections, strict=True))


def _of_slices(mesh: Mesh, spec: PartitionSpec, selections: Selections) -> list[NamedSharding]:
    cut = _cut(selections)
    return [
        NamedSharding(mesh, PartitionSpec(*(None if a < 0 or a in cut else spec[a] for a in taken.result_axes)))
        for taken in selections
    ]


def _array_rule(selections: Selections) -> str:
    return " ".join(f"x{axis}" for axis in range(len(selections[0].shape)))


def _slices_rule(selections: Selections) -> str:
    """Axes that are selected whole have the array's name, the others names of their own."""
    cut = _cut(selections)
    return ", ".join(
        " ".join(f"y{i}n{j}" if a < 0 or a in cut else f"x{a}" for j, a in enumerate(taken.result_axes))
        for i, taken in enumerate(selections)
    )


def _united(part: Any, names: tuple[str, ...]) -> Any:
    """The sum over the shards, of which one has each element and the others zero bits: -0.0 stays as it is."""
    if jnp.issubdtype(part.dtype, jnp.complexfloating):
        return jax.lax.complex(_united(part.real, names), _united(part.imag, names))
    bits = jnp.dtype(f"uint{8 * part.dtype.itemsize}")
    if part.dtype == jnp.bool_:
        return jax.lax.psum(part.astype(bits), names).astype(part.dtype)
    return jax.lax.bitcast_convert_type(jax.lax.psum(jax.lax.bitcast_convert_type(part, bits), names), part.dtype)
