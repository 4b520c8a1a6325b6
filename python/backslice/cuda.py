"""CUDA devices, on which arrays of PyTorch, CuPy, JAX and Numba are sliced where they are.

>>> import backslice as bs
>>> bs.cuda.is_available() == (bs.cuda.why_not() is None)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._core import _cuda_devices
from .errors import Error

if TYPE_CHECKING:
    from ._core import CudaDevice

__all__ = ["devices", "is_available", "why_not"]


def devices() -> list[CudaDevice]:
    """List the CUDA devices.

    Returns
    -------
    list of dict
        Of each device its ordinal, name, capability, bytes of memory and number of multiprocessors.

    Raises
    ------
    FailedPreconditionError
        There is no driver, it is too old, or there is no device.
    UnimplementedError
        backslice was built without CUDA.

    Examples
    --------
    >>> import backslice as bs
    >>> all(device["bytes"] > 0 for device in bs.cuda.devices()) if bs.cuda.is_available() else True
    True
    """
    return _cuda_devices()


def why_not() -> str | None:
    """Say why no CUDA device can be used.

    Returns
    -------
    str or None
        The reason; None where there is a device.

    Examples
    --------
    >>> import backslice as bs
    >>> reason = bs.cuda.why_not()
    >>> reason is None or "CUDA" in reason or "cuda" in reason
    True
    """
    try:
        devices()
    except Error as error:
        return str(error)
    return None


def is_available() -> bool:
    """Tell whether a CUDA device can be used.

    Returns
    -------
    bool
        Whether `devices` finds one.

    Examples
    --------
    >>> import backslice as bs
    >>> bs.cuda.is_available() in (True, False)
    True
    """
    return why_not() is None
