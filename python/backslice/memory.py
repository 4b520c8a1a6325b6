"""Whether the C library keeps the memory of large arrays that were freed."""

import ctypes
from typing import Any

from .errors import UnimplementedError
from .suggestions import checked_keywords

# mallopt's parameters, and their values when a program starts.
_MMAP_MAX, _TRIM_THRESHOLD = -4, -1
_DEFAULTS = {"M_MMAP_MAX": 65536, "M_TRIM_THRESHOLD": 128 * 1024}
_KEEPING = {"M_MMAP_MAX": 0, "M_TRIM_THRESHOLD": 2**31 - 1}


@checked_keywords
def keep_memory(keep: bool = True) -> dict[str, int]:
    """Let the process keep the memory of large arrays that are freed, for all libraries in it.

    glibc gives large blocks back to the system when they are freed, and the system hands out new ones page by page,
    filled with zeros, which often takes longer than computing what is in them. JAX, NumPy and others that allocate
    every result anew become several times as fast on large arrays when the memory is kept. The price: the process keeps
    its peak of memory until it ends or `keep_memory(False)` is called, and memory may be fragmented.

    Results of this package's own functions come from its pool, and need none of this.

    Parameters
    ----------
    keep : bool, default: True
        Whether to keep memory. False sets what a program starts with and gives back what can be given back; glibc's
        habit of raising its threshold for large blocks by itself, which ends with the first call, stays off.

    Returns
    -------
    dict
        The settings, by the names of glibc's parameters.

    Raises
    ------
    UnimplementedError
        The C library is not glibc, or refused.

    Examples
    --------
    >>> bs.keep_memory()
    {'M_MMAP_MAX': 0, 'M_TRIM_THRESHOLD': 2147483647}
    >>> bs.keep_memory(False)
    {'M_MMAP_MAX': 65536, 'M_TRIM_THRESHOLD': 131072}
    """
    library = _glibc()
    wanted = _KEEPING if keep else _DEFAULTS
    for parameter, name in ((_MMAP_MAX, "M_MMAP_MAX"), (_TRIM_THRESHOLD, "M_TRIM_THRESHOLD")):
        if library.mallopt(parameter, wanted[name]) != 1:
            raise UnimplementedError(f"glibc refused {name} = {wanted[name]}")
    if not keep:
        library.malloc_trim(0)
    return dict(wanted)


def _glibc() -> Any:
    library = ctypes.CDLL(None)
    if not all(hasattr(library, name) for name in ("gnu_get_libc_version", "mallopt", "malloc_trim")):
        raise UnimplementedError("keep_memory() needs glibc, which this process does not use")
    library.malloc_trim.argtypes = [ctypes.c_size_t]
    return library
