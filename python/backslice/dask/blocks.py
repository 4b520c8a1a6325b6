"""The functions that tasks run: one call per chunk of the result, on the thread that Dask gave the task."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import DTypeError, InvalidArgumentError
from .pieces import Index, Place, Places
from .workers import prepare_worker

Array = NDArray[Any]


@contextmanager
def one_thread() -> Iterator[None]:
    """Run on one thread. The scheduler keeps all cores busy, and more threads would slow down other tasks."""
    prepare_worker()
    before = _core._set_serial(True)
    try:
        yield
    finally:
        _core._set_serial(before)


def zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return a chunk that no slice meets. Like the chunks of ``dask.array.zeros``, it takes no memory."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def gradient(shape: tuple[int, ...], dtype: np.dtype[Any], places: Places, *dys: Any) -> Array:
    """Return a chunk of the gradient of one slice. The boxes of all pieces of dy divide the chunk, so each byte is
    written once."""
    with one_thread():
        if len(places) == 1:
            return _core.slice_grad(_piece(places[0], dys[0], dtype), shape, places[0].target)
        dx = _core._uninitialised(shape, np.empty(0, dtype))
        for place, dy in zip(places, dys, strict=True):
            out = dx[place.box]
            _core.slice_grad(_piece(place, dy, dtype), out.shape, place.target_in_box, out=out)
        return dx


def total(shape: tuple[int, ...], dtype: np.dtype[Any], places: Places, *dys: Any) -> Array:
    """Return a chunk of the sum of the gradients of several slices, which may overlap. Each byte is written once."""
    with one_thread():
        return _core.multi_slice_grad(shape, _slices(places, dys, dtype))


def accumulated(onto: Any, shape: tuple[int, ...], dtype: np.dtype[Any], places: Places, *dys: Any) -> Array:
    """Return a chunk of `onto` plus its part of the gradient. `onto` does not change, since others may use it."""
    with one_thread():
        sum_ = _core.slice(_declared("onto", onto, shape, dtype), ...)
        return _core.multi_slice_grad(shape, _slices(places, dys, dtype), out=sum_, accumulate=True)


def part(dy_shape: tuple[int, ...], dtype: np.dtype[Any], index: Index, dy: Any) -> Array:
    """Return a chunk that is part of a chunk of dy: a view, or a copy if a view would keep twice its memory alive."""
    whole = _declared("dy", dy, dy_shape, dtype)
    found: Array = whole[index]
    return found.copy() if 2 * found.size <= whole.size else found


def _slices(places: Places, dys: tuple[Any, ...], dtype: np.dtype[Any]) -> list[tuple[Any, Array]]:
    return [(place.target, _piece(place, dy, dtype)) for place, dy in zip(places, dys, strict=True)]


def _piece(place: Place, dy: Any, dtype: np.dtype[Any]) -> Array:
    """Return the piece of a chunk of dy that a chunk needs. With the ellipsis, an array of rank 0 stays an array and
    keeps its dtype."""
    piece: Array = _declared("dy", dy, place.dy_shape, dtype)[(*place.source, ...)]
    return piece


def _declared(argument: str, block: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return a block after checking that it is what its Dask array declares: a wrong shape would go unnoticed."""
    array = block if isinstance(block, np.ndarray) else _from_scalar(block, dtype)
    expected = f"expected {dtype} of shape {shape}, which its Dask array declares"
    if array.shape != shape:
        raise InvalidArgumentError(f"a block of {argument} has shape {array.shape}, {expected}")
    if array.dtype != dtype:
        raise DTypeError(f"a block of {argument} has dtype {array.dtype}, {expected}")
    return array


def _from_scalar(block: Any, dtype: np.dtype[Any]) -> Array:
    """Convert a block of rank 0, which is often a scalar without the array's byte order and string length."""
    array = np.asarray(block)
    allowed: Literal["safe", "same_kind"] = "safe" if dtype.kind in "SU" else "same_kind"
    return array.astype(dtype) if np.can_cast(array.dtype, dtype, allowed) else array


def sparse_gradient(indices: Array, taken: Array, grad: Array, start: tuple[int, ...]) -> Array:
    """Return the gradient of one row partition; `taken` has the indices of its slice."""
    with one_thread():
        return _core.sparse_slice_grad(grad, indices, start, taken)


def sparse_gradient_by_size(indices: Array, grad: Array, start: tuple[int, ...], size: tuple[int, ...]) -> Array:
    """Return the gradient of one row partition, whose slice is the window of `size` at `start`."""
    with one_thread():
        return _core.sparse_slice_grad_by_size(grad, indices, start, size)
