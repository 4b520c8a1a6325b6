"""Argument checks. They run while the graph is built, so a refused call computes nothing."""

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
    """Check an argument that determines the selected elements: it must not depend on data that is still to be
    computed."""
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
    """Check all of them, in order."""
    return [known(argument, value) for argument, value in values.items()]


def pairs(slices: Any) -> Iterator[tuple[Any, Any]]:
    """Return the (index, dy) of each slice."""
    if isinstance(slices, Mapping) or not isinstance(slices, Iterable) or is_dask_collection(slices):
        raise DTypeError(f"slices has type {type(slices).__name__}, expected a list of pairs (index, dy)")
    for i, pair in enumerate(slices):
        if not isinstance(pair, tuple | list):
            raise DTypeError(f"slices[{i}] has type {type(pair).__name__}, expected a pair (index, dy)")
        if len(pair) != 2:
            raise InvalidArgumentError(f"slices[{i}] has {len(pair)} items, expected a pair (index, dy)")
        yield pair[0], pair[1]


def numpy_blocks(argument: str, value: Any) -> Any:
    """Return an argument as a Dask array whose chunks are NumPy arrays."""
    if da.array_expr_enabled():
        raise UnimplementedError(
            "Dask's query planning for arrays is on, which backslice.dask does not support;"
            " set the configuration array.query-planning to False before dask.array is imported"
        )
    array = value if isinstance(value, da.Array) else converted(argument, value)
    _check_meta(argument, array)
    return array


def blocks_of(argument: str, value: Any) -> Any:
    """Return the same, with chunks of known sizes."""
    array = numpy_blocks(argument, value)
    for axis, chunks in enumerate(array.chunks):
        if any(math.isnan(size) for size in chunks):
            raise InvalidArgumentError(
                f"{argument} has chunks of unknown size along axis {axis}; call {argument}.compute_chunk_sizes() first"
            )
    return array


def converted(argument: str, value: Any) -> Any:
    """Convert an array that is not a Dask array yet."""
    if is_dask_collection(value):
        raise DTypeError(
            f"{argument} is a Dask {type(value).__name__}, expected a Dask array; dask.array.from_delayed makes one of"
            f" a Delayed, and to_dask_array(lengths=True) of a DataFrame"
        )
    if value is None:
        raise DTypeError(f"{argument} is None, expected a Dask array or what becomes one")
    if isinstance(value, int | float | complex) and not isinstance(value, np.generic):
        raise DTypeError(f"{argument} is {value!r}, a Python number, which has no dtype; expected an array")
    try:
        return da.asarray(value)
    except Exception as error:
        raise DTypeError(
            f"{argument} is a {type(value).__name__}, expected a Dask array or what becomes one: {error}"
        ) from None


def _check_meta(argument: str, array: Any) -> None:
    kind = type(array._meta)
    if kind is not np.ndarray:
        convert = {"MaskedArray": f"dask.array.ma.filled({argument}, 0)"}
        how = convert.get(kind.__name__, f"{argument}.map_blocks(f), where f(block) is a numpy.ndarray")
        raise UnimplementedError(
            f"{argument} has chunks of type {kind.__name__}, expected numpy.ndarray; convert them with {how}"
        )


def check_dtype(argument: str, dtype: np.dtype[Any], *, zeros: Callable[[], bool], added: Callable[[], bool]) -> None:
    """Check that chunks of this dtype can be moved and, if needed, zeroed and added."""
    has = f"{argument} is {dtype}" if argument == "dtype" else f"{argument} has dtype {dtype}"
    if dtype.hasobject:
        raise DTypeError(f"{has}, whose zero only its elements tell; expected numbers, or strings as S or U")
    nothing = np.empty(0, dtype)
    try:
        _core.slice(nothing, ...)
    except DTypeError as error:
        raise DTypeError(f"{has}, which{str(error).partition(', which')[2]}") from None
    if not _works(lambda: _core.slice_grad(nothing, (1,), "0:0")) and zeros():
        raise DTypeError(f"{has}, which has no zero; the gradient is zero where no slice takes an element")
    if not _works(lambda: _core.multi_slice_grad((0,), [(":", nothing)], out=nothing, accumulate=True)) and added():
        raise DTypeError(f"{has}, whose elements cannot be added; expected numbers in the machine's byte order")


def _works(call: Callable[[], Any]) -> bool:
    try:
        call()
    except DTypeError:
        return False
    return True


def same_dtype(argument: str, dtype: np.dtype[Any], expected: np.dtype[Any], of: str) -> None:
    """Check that two arrays can be added."""
    if dtype != expected:
        raise DTypeError(f"{argument} has dtype {dtype}, expected {expected}, that of {of}; convert it with astype")


def result_chunks(chunks: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Chunks:
    """Expand the caller's chunks to one tuple of sizes per axis."""
    known("chunks", chunks)
    by_axis = _by_axis(chunks.tolist() if isinstance(chunks, np.ndarray) else chunks, len(shape))
    try:
        _check_notation(by_axis)
        found = normalize_chunks(by_axis, shape, dtype=dtype)
    except MemoryError:
        raise InvalidArgumentError(
            f"chunks is {chunks!r}, and an array of shape {shape} has too many of those for memory; ask for larger ones"
        ) from None
    except Exception:  # of many types, with unhelpful messages
        raise InvalidArgumentError(
            f"chunks is {chunks!r}, which does not fit the shape {shape}; expected a size for all axes or, per axis,"
            f' a size, a list of sizes that add up to the extent, -1 for one chunk, or "auto"'
        ) from None
    for axis, (sizes, extent) in enumerate(zip(found, shape, strict=True)):
        _check_sizes(axis, sizes, extent)
    return tuple(tuple(map(int, sizes)) for sizes in found)


def _by_axis(chunks: Any, rank: int) -> Any:
    """Return a dict of chunks with axes counted from the front. Dask ignores keys that are not axes."""
    if not isinstance(chunks, dict):
        return chunks
    if unknown := [axis for axis in chunks if axis not in range(-rank, rank)]:
        raise InvalidArgumentError(f"chunks has the key {unknown[0]!r}, expected axes of an array of rank {rank}")
    by_axis = {axis % rank: sizes for axis, sizes in chunks.items()}
    if len(by_axis) < len(chunks):
        raise InvalidArgumentError(
            f"chunks is {chunks!r}, which names an axis twice, from both ends; expected each once"
        )
    return by_axis


def _check_notation(chunks: Any) -> None:
    """Refuse sizes that Dask would read as chunks of one element, or of fractions of one."""
    values = chunks.values() if isinstance(chunks, dict) else [chunks]
    parts = [part for value in values for part in _parts(value)]
    if any(isinstance(part, bool | np.bool_) or (isinstance(part, str) and not part) for part in parts):
        raise ValueError


def _check_sizes(axis: int, sizes: tuple[Any, ...], extent: int) -> None:
    if any(math.isnan(size) for size in sizes):
        raise InvalidArgumentError(
            f"chunks has an unknown size along axis {axis}; expected sizes that add up to {extent}"
        )
    if any(size < 0 for size in sizes) or sum(sizes) != extent:
        raise InvalidArgumentError(f"chunks has {sizes} along axis {axis}, which must add up to {extent}")


def fitting_onto(onto: Any, shape: tuple[int, ...], dtype: np.dtype[Any], chunks: Any, *, chunked: bool) -> Any:
    """Return the Dask array `onto`, to which a gradient can be added. If it was not `chunked`, it gets the caller's
    chunks."""
    if onto.shape != shape:
        raise InvalidArgumentError(f"onto has shape {onto.shape}, expected {shape}, that of the gradient")
    same_dtype("onto", onto.dtype, dtype, "dy")
    if isinstance(chunks, str) and chunks == "auto":
        return onto
    wanted = result_chunks(chunks, shape, dtype)
    if not chunked:
        return onto.rechunk(wanted)
    if wanted != onto.chunks:
        raise InvalidArgumentError(
            f"chunks is {chunks!r}, but the result has the chunks of onto; leave it out, or rechunk onto"
        )
    return onto


def broadcast(argument: str, dy: Any, shape: tuple[int, ...]) -> Any:
    """Broadcast `dy` to the slice's shape."""
    if dy.shape == shape:
        return dy
    try:
        return da.broadcast_to(dy, shape)
    except ValueError:
        raise InvalidArgumentError(_wrong_shape(argument, dy, shape)) from None


def exact(argument: str, dy: Any, shape: tuple[int, ...]) -> Any:
    """Check that `dy` has the slice's shape."""
    if dy.shape != shape:
        raise InvalidArgumentError(_wrong_shape(argument, dy, shape))
    return dy


def row_major(argument: str, dy: Any, shape: tuple[int, ...]) -> Any:
    """Return `dy` in the slice's shape, read in row-major order. It must have as many elements as the slice."""
    if dy.shape == shape:
        return dy
    size = math.prod(shape)
    if dy.size != size:
        raise InvalidArgumentError(
            f"{argument} has {dy.size} elements, expected {size}, those of a slice of shape {shape}"
        )
    if size == 0:
        return da.zeros(shape, dtype=dy.dtype)
    return _without_empty_chunks(dy).reshape(-1).reshape(shape)


def _without_empty_chunks(array: Any) -> Any:
    """Refuse arrays with unknown chunk sizes, which Dask cannot reshape."""
    return array.rechunk(tuple(tuple(size for size in axis if size) for axis in array.chunks))


Fit = Callable[[str, Any, tuple[int, ...]], Any]


def _wrong_shape(argument: str, dy: Any, shape: tuple[int, ...]) -> str:
    return f"{argument} has shape {dy.shape}, expected {shape}, the shape of the slice"
