"""What the functions are given, checked while the graph is built: nothing is computed for a call that is refused."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import dask.array as da
import numpy as np
from dask import is_dask_collection
from dask.array.core import normalize_chunks

from .. import _core
from ..errors import DTypeError, InvalidArgumentError, UnimplementedError
from .pieces import Chunks


def known(argument: str, value: Any) -> Any:
    """An argument that says which elements are taken: it must not depend on data that is still to be computed."""
    for part in _parts(value):
        if is_dask_collection(part):
            raise InvalidArgumentError(
                f"{argument} depends on data: it has a Dask {type(part).__name__}, unknown while the graph is built;"
                f" expected plain integers, as its compute() returns"
            )
    return value


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, slice):
        yield from (value.start, value.stop, value.step)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _parts(item)
    else:
        yield value


def known_arguments(**values: Any) -> list[Any]:
    """All of them, in order."""
    return [known(argument, value) for argument, value in values.items()]


def pairs(slices: Any) -> Iterator[tuple[Any, Any]]:
    """The (index, dy) of each slice."""
    if isinstance(slices, Mapping) or not isinstance(slices, Iterable) or is_dask_collection(slices):
        raise DTypeError(f"slices has type {type(slices).__name__}, expected a list of pairs (index, dy)")
    for i, pair in enumerate(slices):
        if not isinstance(pair, tuple | list):
            raise DTypeError(f"slices[{i}] has type {type(pair).__name__}, expected a pair (index, dy)")
        if len(pair) != 2:
            raise InvalidArgumentError(f"slices[{i}] has {len(pair)} items, expected a pair (index, dy)")
        yield pair[0], pair[1]


def numpy_blocks(argument: str, value: Any) -> Any:
    """An argument as a Dask array whose chunks are NumPy's."""
    if da.array_expr_enabled():
        raise UnimplementedError(
            "Dask's query planning for arrays is on, which backslice.dask does not support;"
            " set the configuration array.query-planning to False before dask.array is imported"
        )
    array = value if isinstance(value, da.Array) else _converted(argument, value)
    _check_meta(argument, array)
    return array


def blocks_of(argument: str, value: Any) -> Any:
    """The same, with chunks of known sizes."""
    array = numpy_blocks(argument, value)
    for axis, chunks in enumerate(array.chunks):
        if any(math.isnan(size) for size in chunks):
            raise InvalidArgumentError(
                f"{argument} has chunks of unknown size along axis {axis}; call {argument}.compute_chunk_sizes() first"
            )
    return array


def _converted(argument: str, value: Any) -> Any:
    try:
        return da.asarray(value)
    except Exception as error:
        raise DTypeError(
            f"{argument} is a {type(value).__name__}, expected a Dask array or what becomes one: {error}"
        ) from None


def _check_meta(argument: str, array: Any) -> None:
    if type(array._meta) is not np.ndarray:
        raise UnimplementedError(
            f"{argument} has chunks of type {type(array._meta).__name__}, expected numpy.ndarray;"
            f" convert them with {argument}.map_blocks(...) first"
        )


def check_dtype(argument: str, dtype: np.dtype[Any], *, zeros: bool, added: bool) -> None:
    """That chunks of this dtype can be moved, and be zero and be added where they are to be."""
    has = f"{argument} is {dtype}" if argument == "dtype" else f"{argument} has dtype {dtype}"
    if dtype.hasobject:
        raise DTypeError(f"{has}, whose zero only its elements tell; expected numbers, or strings as S or U")
    nothing = np.empty(0, dtype)
    try:
        _core.slice(nothing, ...)
    except DTypeError as error:
        raise DTypeError(f"{has}, which{str(error).partition(', which')[2]}") from None
    if zeros and not _works(lambda: _core.slice_grad(nothing, (1,), "0:0")):
        raise DTypeError(f"{has}, which has no zero; the gradient is zero where no slice takes an element")
    if added and not _works(lambda: _core.multi_slice_grad((0,), [(":", nothing)], out=nothing, accumulate=True)):
        raise DTypeError(f"{has}, whose elements cannot be added; expected numbers in the machine's byte order")


def _works(call: Callable[[], Any]) -> bool:
    try:
        call()
    except DTypeError:
        return False
    return True


def same_dtype(argument: str, dtype: np.dtype[Any], expected: np.dtype[Any], of: str) -> None:
    """That two arrays can be added."""
    if dtype != expected:
        raise DTypeError(f"{argument} has dtype {dtype}, expected {expected}, that of {of}; convert it with astype")


def result_chunks(chunks: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Chunks:
    """The caller's chunks in full, one tuple of sizes per axis."""
    known("chunks", chunks)
    by_axis = _by_axis(chunks, len(shape))
    try:
        found = normalize_chunks(by_axis, shape, dtype=dtype)
    except Exception:  # of many types, and for reasons that say little to the caller
        raise InvalidArgumentError(
            f"chunks is {chunks!r}, which does not fit the shape {shape}; expected a size for all axes or, per axis,"
            f' a size, a list of sizes that add up to the extent, -1 for one chunk, or "auto"'
        ) from None
    for axis, (sizes, extent) in enumerate(zip(found, shape, strict=True)):
        _check_sizes(axis, sizes, extent)
    return tuple(tuple(map(int, sizes)) for sizes in found)


def _by_axis(chunks: Any, rank: int) -> Any:
    """A dict of chunks with axes counted from the front; Dask passes over keys that are no axis."""
    if not isinstance(chunks, dict):
        return chunks
    if unknown := [axis for axis in chunks if axis not in range(-rank, rank)]:
        raise InvalidArgumentError(f"chunks has the key {unknown[0]!r}, expected axes of an array of rank {rank}")
    return {axis % rank: sizes for axis, sizes in chunks.items()}


def _check_sizes(axis: int, sizes: tuple[Any, ...], extent: int) -> None:
    if any(math.isnan(size) for size in sizes):
        raise InvalidArgumentError(
            f"chunks has an unknown size along axis {axis}; expected sizes that add up to {extent}"
        )
    if any(size < 0 for size in sizes) or sum(sizes) != extent:
        raise InvalidArgumentError(f"chunks has {sizes} along axis {axis}, which must add up to {extent}")


def check_onto(onto: Any, shape: tuple[int, ...], dtype: np.dtype[Any], chunks: Any) -> None:
    """That a gradient can be added to the Dask array `onto`."""
    if onto.shape != shape:
        raise InvalidArgumentError(f"onto has shape {onto.shape}, expected {shape}, that of the gradient")
    same_dtype("onto", onto.dtype, dtype, "dy")
    if chunks != "auto" and result_chunks(chunks, shape, dtype) != onto.chunks:
        raise InvalidArgumentError(
            f"chunks is {chunks!r}, but the result has the chunks of onto; leave it out, or rechunk onto"
        )


def broadcast(argument: str, dy: Any, shape: tuple[int, ...]) -> Any:
    """`dy` as the slice's shape, where it stands for more than one of its rows."""
    if dy.shape == shape:
        return dy
    try:
        return da.broadcast_to(dy, shape)
    except ValueError:
        raise InvalidArgumentError(_wrong_shape(argument, dy, shape)) from None


def exact(argument: str, dy: Any, shape: tuple[int, ...]) -> Any:
    """`dy`, which must have the slice's shape."""
    if dy.shape != shape:
        raise InvalidArgumentError(_wrong_shape(argument, dy, shape))
    return dy


def row_major(argument: str, dy: Any, shape: tuple[int, ...]) -> Any:
    """`dy` with as many elements as the slice, read in row-major order."""
    if dy.shape == shape:
        return dy
    if dy.size != math.prod(shape):
        raise InvalidArgumentError(
            f"{argument} has {dy.size} elements, expected {math.prod(shape)}, those of a slice of shape {shape}"
        )
    return dy.reshape(shape)


Fit = Callable[[str, Any, tuple[int, ...]], Any]


def _wrong_shape(argument: str, dy: Any, shape: tuple[int, ...]) -> str:
    return f"{argument} has shape {dy.shape}, expected {shape}, the shape of the slice"
