"""The memory of results: kept after a result dies, for the next one of about its size.

>>> import backslice as bs
>>> bs.pool.set_limit(2**30)  # keep at most 1 GiB
>>> bs.pool.trim()  # give all of it back to the system
>>> bs.pool.stats()["bytes_kept"]
0
"""

from ._core import pool_stats as stats
from ._core import set_pool_limit as set_limit
from ._core import trim_pool as trim

__all__ = ["set_limit", "stats", "trim"]
