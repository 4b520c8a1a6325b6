"""Conversion of containers to NumPy arrays, and support for copy and pickle."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from .errors import DTypeError

Reduced = tuple[Callable[..., Any], tuple[Any, ...]]


def array_as(array: np.ndarray[Any, Any], dtype: Any, copy: bool | None) -> np.ndarray[Any, Any]:
    """Return the result of `__array__`: `array` itself unless NumPy asks for a copy."""
    if dtype is None or np.dtype(dtype) == array.dtype:
        return array.copy() if copy else array
    if copy is False:
        raise ValueError(
            f"Unable to avoid copy while creating an array as requested: the dtype is {array.dtype}, "
            f"not {np.dtype(dtype)}; use copy=None, or leave the dtype out"
        )
    return array.astype(dtype)


def reduced(container: Any) -> Reduced:
    """Return the result of `__reduce__`, which is the same for every pickle protocol."""
    device = getattr(container, "device", "cpu")
    if device != "cpu":
        kind = type(container).__name__
        raise DTypeError(f"cannot copy or pickle a {kind} on {device}; copy it to the CPU first, and pickle that")
    for known, parts in _PARTS.items():
        if isinstance(container, known):
            return parts(container)
    raise DTypeError(f"cannot pickle a {type(container).__name__}")


def _selection(shape: tuple[int, ...], index: str) -> _core.Selection:
    return _core.Selection.from_index(shape, index)


def _native(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the same bytes in the machine's byte order. Before protocol 5, NumPy's pickles have that order in any
    case."""
    return array if array.dtype.isnative else array.view(array.dtype.newbyteorder("="))


def _ragged(
    values: np.ndarray[Any, Any], dtype: np.dtype[Any], splits: tuple[np.ndarray[Any, Any], ...]
) -> _core.RaggedTensor:
    return _core.RaggedTensor(values if dtype.isnative else values.view(dtype), splits)


def _grad_buffer(region: _core.Selection, content: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> _core.GradBuffer:
    buffer = _core.GradBuffer(region.shape, dtype)
    buffer.write(region, content if dtype.isnative else content.view(dtype))
    return buffer


def _rows(ragged: _core.RaggedTensor, shape: tuple[int, ...]) -> _core.VariantArray:
    return _core.ragged_tensor_to_variant(ragged).reshape(shape)


def _tensor_array(making: tuple[Any, ...], *rest: Any) -> _core.TensorArray:
    is_gradient, all_read, elements = rest
    dtype = making[1]
    if isinstance(dtype, np.dtype) and not dtype.isnative:
        elements = tuple(_with_value(e, None if e[2] is None else e[2].view(dtype)) for e in elements)
    return _core.TensorArray._restore((making, is_gradient, all_read, elements))


def _with_value(element: tuple[Any, ...], value: np.ndarray[Any, Any] | None) -> tuple[Any, ...]:
    return (*element[:2], value, *element[3:])


def _parts_of_ragged(rt: _core.RaggedTensor) -> Reduced:
    return _ragged, (_native(rt.values), rt.dtype, rt.nested_row_splits)


def _parts_of_grad_buffer(buffer: _core.GradBuffer) -> Reduced:
    """Keep a single region alone. Several may overlap, so then everything counts as written."""
    regions = buffer._regions
    if not regions:
        return _core.GradBuffer, (buffer.shape, buffer.dtype)
    region = regions[0] if len(regions) == 1 else _selection(buffer.shape, "...")
    return _grad_buffer, (region, _native(region.slice(buffer.array)), buffer.dtype)


def _parts_of_variants(array: _core.VariantArray) -> Reduced:
    if array._batch is not None:
        return _rows, (array._batch, array.shape)
    elements = [_core.RaggedTensor(e, []) if isinstance(e, np.ndarray) else e for e in array]
    return _core.VariantArray, (elements, array.shape)


def _parts_of_tensor_array(array: _core.TensorArray) -> Reduced:
    *known, elements = array._contents()
    native = tuple(_with_value(e, None if e[2] is None else _native(e[2])) for e in elements)
    return _tensor_array, (*known, native)


def _refuse_container(_: _core.TensorArrayContainer) -> Reduced:
    raise DTypeError(
        "cannot copy or pickle a TensorArrayContainer: it gives names to arrays that are in use elsewhere in this "
        "process, and a copy would name others; pickle the arrays, container.find(name), one by one"
    )


_PARTS: dict[type, Callable[[Any], Reduced]] = {
    _core.Selection: lambda s: (_selection, s.__getstate__()),
    _core.PreparedSlice: lambda p: (operator.methodcaller("prepare", p.dtype), (p.selection,)),
    _core.GradBuffer: _parts_of_grad_buffer,
    _core.RaggedTensor: _parts_of_ragged,
    _core.VariantArray: _parts_of_variants,
    _core.TensorArray: _parts_of_tensor_array,
    _core.TensorArrayContainer: _refuse_container,
}
