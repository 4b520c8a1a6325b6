"""Arrays for other libraries, through DLPack, also of dtypes that NumPy does not export.

>>> import ml_dtypes
>>> import numpy as np
>>> import backslice as bs
>>> dx = bs.slice_grad(1, (4,), np.s_[1:3], dtype=ml_dtypes.bfloat16)
>>> bs.to_dlpack(dx).__dlpack_device__()
(1, 0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import _dlpack_capsule
from .suggestions import checked_keywords

if TYPE_CHECKING:  # the package is imported without it
    from numpy.typing import NDArray

_CPU = (1, 0)


class DLPackArray:
    """The result of `to_dlpack`: the memory of a NumPy array, for any `from_dlpack`."""

    __slots__ = ("_array",)

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array

    def __repr__(self) -> str:
        return f"DLPackArray(shape {self._array.shape}, dtype {self._array.dtype})"

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if stream is not None:
            raise BufferError(f"stream is {stream!r}, but the array is on the CPU, which has none")
        if dl_device is not None and tuple(dl_device) != _CPU:
            raise BufferError(f"dl_device is {dl_device}, but the array is on the CPU, {_CPU}; copy it there yourself")
        versioned = max_version is not None and max_version[0] >= 1
        if not (versioned or copy or self._array.flags.writeable):
            raise BufferError("the array is read-only, which DLPack can say from version 1 on; or export a copy of it")
        return _dlpack_capsule(self._array.copy() if copy else self._array, versioned, bool(copy))


@checked_keywords
def to_dlpack(a: NDArray[Any]) -> DLPackArray:
    """Export an array's memory to other libraries.

    NumPy exports most arrays itself; this exports those of bfloat16 and float8 too.

    Parameters
    ----------
    a : ndarray
        The array, of any strides that are whole numbers of elements. It is not copied.

    Returns
    -------
    DLPackArray
        An object with ``__dlpack__``, for ``torch.from_dlpack``, ``jax.numpy.from_dlpack`` and others.

    Raises
    ------
    DTypeError
        If DLPack has no code for the dtype: integers of less than a byte, float4, float6, quantised types, strings.
    InvalidArgumentError
        If a stride is no whole number of elements.

    Examples
    --------
    >>> import ml_dtypes
    >>> import numpy as np
    >>> import backslice as bs
    >>> dx = bs.slice_grad(np.ones(2, ml_dtypes.bfloat16), (4,), "1:3")
    >>> bs.to_dlpack(dx)  # torch.from_dlpack shares its memory
    DLPackArray(shape (4,), dtype bfloat16)
    """
    _dlpack_capsule(a, True, False)  # raises here, not in the consumer
    return DLPackArray(a)
