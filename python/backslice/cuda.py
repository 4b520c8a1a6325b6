"""CUDA devices: arrays of PyTorch, CuPy, JAX and Numba are sliced on their own device.

>>> import backslice as bs
>>> bs.cuda.is_available() == (bs.cuda.unavailable_reason() is None)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._core import _cuda_devices, _cuda_versions
from .deprecated import deprecated_names
from .errors import Error

if TYPE_CHECKING:
    from ._core import CudaDevice, CudaVersions

__all__ = ["devices", "is_available", "unavailable_reason", "versions"]


def devices() -> list[CudaDevice]:
    """List the CUDA devices.

    Returns
    -------
    list of dict
        For each device its ordinal, name, capability, bytes of memory and number of multiprocessors.

    Raises
    ------
    FailedPreconditionError
        There is no driver, it is too old, or there is no device.
    UnimplementedError
        backslice was built without CUDA.

    Examples
    --------
    >>> import backslice as bs
    >>> found = bs.cuda.devices() if bs.cuda.is_available() else []
    >>> all(device["bytes"] > 0 for device in found)
    True
    """
    return _cuda_devices()


def versions() -> CudaVersions:
    """Tell the versions of CUDA.

    Returns
    -------
    dict
        ``"runtime"``: the version of the CUDA runtime that is part of backslice, ``(13, 0)`` for 13.0.
        ``"driver"``: the newest version that the installed driver can run, or None where there is no driver.

    Raises
    ------
    UnimplementedError
        backslice was built without CUDA.

    Examples
    --------
    >>> import backslice as bs
    >>> bs.cuda.versions()["runtime"] >= (12, 0) if bs.cuda.is_available() else True
    True
    """
    return _cuda_versions()


def unavailable_reason() -> str | None:
    """Say why no CUDA device can be used.

    Returns
    -------
    str or None
        The reason; None where there is a device.

    Examples
    --------
    >>> import backslice as bs
    >>> reason = bs.cuda.unavailable_reason()
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
    return unavailable_reason() is None


if not TYPE_CHECKING:
    __getattr__ = deprecated_names(__name__, {"why_not": (unavailable_reason, "unavailable_reason")})
