"""How often the kernels took a gradient, and how often they left one to PyTorch, and why.

Counts are added without a lock, which another thread could hold while the process forks.
"""

import collections
from typing import Any

taken: collections.Counter[tuple[str, str]] = collections.Counter()  # per op and where it ran
left: dict[tuple[str, str], collections.Counter[str]] = {}  # the same, per reason


def count_taken(op: str, key: str) -> None:
    taken[op, key] += 1


def count_left(op: str, key: str, reason: str) -> None:
    left.setdefault((op, key), collections.Counter())[reason] += 1


def snapshot() -> tuple[Any, Any]:
    return taken.copy(), {where: count.copy() for where, count in left.items()}


def restore(counts: tuple[Any, Any]) -> None:
    reset()
    taken.update(counts[0])
    left.update(counts[1])


def reset() -> None:
    taken.clear()
    left.clear()
