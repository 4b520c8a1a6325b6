"""What the tasks run: one call per chunk of the result, on the thread that Dask gave the task."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .pieces import Places
from .workers import prepare_worker

Array = NDArray[Any]


@contextmanager
def one_thread() -> Iterator[None]:
    """The scheduler keeps the cores busy: a task that started threads would take those of its neighbours."""
    prepare_worker()
    before = _core._set_serial(True)
    try:
        yield
    finally:
        _core._set_serial(before)


def zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """A chunk that no slice meets. Like those of ``dask.array.zeros``, it takes no memory."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def gradient(shape: tuple[int, ...], places: Places, *dys: Array) -> Array:
    """A chunk of the gradient of one slice. Every piece of dy fills its box, so that each byte is written once."""
    with one_thread():
        if len(places) == 1:
            return _core.slice_grad(dys[0][places[0].source], shape, places[0].target)
        dx = _core._uninitialised(shape, dys[0])
        for place, dy in zip(places, dys, strict=True):
            out = dx[place.box]
            _core.slice_grad(dy[place.source], out.shape, place.target_in_box, out=out)
        return dx


def total(shape: tuple[int, ...], places: Places, *dys: Array) -> Array:
    """A chunk of the sum of the gradients of several slices, which may overlap; each byte is written once."""
    with one_thread():
        return _core.multi_slice_grad(shape, _slices(places, dys))


def accumulated(onto: Array, places: Places, *dys: Array) -> Array:
    """A chunk of `onto` with its part of the gradient added; `onto` stays as it is, since others may use it."""
    with one_thread():
        sum_ = _core.slice(onto, ...)
        return _core.multi_slice_grad(onto.shape, _slices(places, dys), out=sum_, accumulate=True)


def _slices(places: Places, dys: tuple[Array, ...]) -> list[tuple[Any, Array]]:
    return [(place.target, dy[place.source]) for place, dy in zip(places, dys, strict=True)]


def sparse_gradient(indices: Array, taken: Array, grad: Array, start: tuple[int, ...]) -> Array:
    """The gradient of one row partition, whose slice has the indices `taken`."""
    with one_thread():
        return _core.sparse_slice_grad(grad, indices, start, taken)


def sparse_gradient_by_size(indices: Array, grad: Array, start: tuple[int, ...], size: tuple[int, ...]) -> Array:
    """The gradient of one row partition, whose slice is the window of `size` at `start`."""
    with one_thread():
        return _core.sparse_slice_grad_by_size(grad, indices, start, size)
