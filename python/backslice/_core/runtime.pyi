"""Threads, memory and vector instructions."""

from .types import PoolStats

def set_num_threads(threads: int) -> None:
    """Set how many threads large operations use.

    Parameters
    ----------
    threads : int
        From 1 to 4096. At most four threads per core run at once.

    Raises
    ------
    InvalidArgumentError
        `threads` is less than 1 or more than 4096.
    DTypeError
        `threads` is not an int.

    See Also
    --------
    get_num_threads

    Examples
    --------
    >>> before = bs.get_num_threads()
    >>> bs.set_num_threads(1)
    >>> bs.get_num_threads()
    1
    >>> bs.set_num_threads(before)
    """

def get_num_threads() -> int:
    """Return how many threads large operations use.

    Returns
    -------
    int
        What `set_num_threads` was given; else the environment variable
        BACKSLICE_NUM_THREADS; else the number of cores.

    Examples
    --------
    >>> bs.get_num_threads() >= 1
    True
    """

def pool_stats() -> PoolStats:
    """Return the counters of the memory pool.

    Returns
    -------
    dict
        bytes_in_use by live results; bytes_kept for later ones; limit, how
        many bytes may be kept; how many blocks were mapped from the system,
        and how many were reused.

    Examples
    --------
    >>> sorted(bs.pool.stats())
    ['bytes_in_use', 'bytes_kept', 'limit', 'mapped', 'reused']
    """

def set_pool_limit(bytes: int) -> None:
    """Set how many bytes of freed results the memory pool may keep.

    Parameters
    ----------
    bytes : int
        Zero turns the pool off.

    Raises
    ------
    InvalidArgumentError
        `bytes` is negative.
    DTypeError
        `bytes` is not an int.

    Examples
    --------
    >>> before = bs.pool.stats()["limit"]
    >>> bs.pool.set_limit(2**20)
    >>> bs.pool.stats()["limit"]
    1048576
    >>> bs.pool.set_limit(before)
    """

def trim_pool() -> None:
    """Return all memory that the pool keeps to the system.

    Examples
    --------
    >>> bs.pool.trim()
    >>> bs.pool.stats()["bytes_kept"]
    0
    """

def simd_targets() -> list[str]:
    """Return the SIMD targets that this machine can run, best first.

    Returns
    -------
    list of str

    Examples
    --------
    >>> bs.simd_target() in bs.simd_targets()
    True
    """

def simd_target() -> str:
    """Return the SIMD target in use.

    Returns
    -------
    str
        The best one of this machine, or the one that the environment
        variable BACKSLICE_FORCE_TARGET names.

    Examples
    --------
    >>> bs.simd_target() == bs.simd_targets()[0]
    True
    """
