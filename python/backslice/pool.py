"""The memory of released results, kept for the next result of about the same size.

`set_limit` bounds how many bytes are kept, `trim` gives all of them back to the system, and `stats` counts them.

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
