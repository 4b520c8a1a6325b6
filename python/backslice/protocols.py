"""How containers become NumPy arrays, and how copy and pickle make them again."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .errors import DTypeError

Reduced = tuple[Callable[..., Any], tuple[Any, ...]]


def array_as(array: NDArray[Any], dtype: Any, copy: bool | None) -> NDArray[Any]:
    """What `__array__` returns: `array` itself wherever NumPy does not ask for a copy."""
    if dtype is None or np.dtype(dtype) == array.dtype:
        return array.copy() if copy else array
    if copy is False:
        raise ValueError(
            f"Unable to avoid copy while creating an array as requested: the dtype is {array.dtype}, "
            f"not {np.dtype(dtype)}; use copy=None, or leave the dtype out"
        )
    return array.astype(dtype)


def reduced(container: Any) -> Reduced:
    """What `__reduce__` returns. It is the same at every protocol of pickle's."""
    for known, parts in _PARTS.items():
        if isinstance(container, known):
            return parts(container)
    raise DTypeError(f"cannot pickle a {type(container).__name__}")


def _selection(shape: tuple[int, ...], index: str) -> _core.Selection:
    return _core.Selection.from_index(shape, index)


def _grad_buffer(content: NDArray[Any]) -> _core.GradBuffer:
    """Everything counts as written, until the next `write` or `zero`."""
    buffer = _core.GradBuffer(content.shape, content.dtype)
    buffer.write(..., content)
    return buffer


def _rows(ragged: _core.RaggedTensor, shape: tuple[int, ...]) -> _core.VariantArray:
    return _core.ragged_tensor_to_variant(ragged).reshape(shape)


def _tensor_array(contents: tuple[Any, ...]) -> _core.TensorArray:
    return _core.TensorArray._restore(contents)


def _parts_of_grad_buffer(buffer: _core.GradBuffer) -> Reduced:
    if buffer._is_zero:
        return _core.GradBuffer, (buffer.shape, buffer.dtype)
    return _grad_buffer, (buffer.array,)


def _parts_of_variants(array: _core.VariantArray) -> Reduced:
    if array._batch is not None:
        return _rows, (array._batch, array.shape)
    return _core.VariantArray, (list(array), array.shape)


def _refuse_container(_: _core.TensorArrayContainer) -> Reduced:
    raise DTypeError(
        "cannot copy or pickle a TensorArrayContainer: it gives names to arrays that are in use elsewhere in this "
        "process, and a copy would name others; pickle the arrays, container.find(name), one by one"
    )


_PARTS: dict[type, Callable[[Any], Reduced]] = {
    _core.Selection: lambda s: (_selection, s.__getstate__()),
    _core.PreparedSlice: lambda p: (operator.methodcaller("prepare", p.dtype), (p.selection,)),
    _core.GradBuffer: _parts_of_grad_buffer,
    _core.RaggedTensor: lambda rt: (_core.RaggedTensor, (rt.values, rt.nested_row_splits)),
    _core.VariantArray: _parts_of_variants,
    _core.TensorArray: lambda array: (_tensor_array, (array._contents(),)),
    _core.TensorArrayContainer: _refuse_container,
}
