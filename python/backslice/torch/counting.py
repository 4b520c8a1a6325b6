"""How often the kernels ran, and how often they left a gradient to PyTorch, and why."""

import collections
import threading

Tally = dict[tuple[str, str], int]  # per op and where it ran

_lock = threading.RLock()  # a pass that is collected while this is held counts, too
taken: collections.Counter[str] = collections.Counter()  # per op
taken_on: collections.Counter[tuple[str, str]] = collections.Counter()  # per op and where it ran
left: dict[tuple[str, str], collections.Counter[str]] = {}  # the same, per reason
events: collections.Counter[str] = collections.Counter()


def count_taken(op: str, key: str) -> None:
    count_all({(op, key): 1})


def count_all(tally: Tally) -> None:
    """Of many at once, which takes less time than one by one."""
    with _lock:
        for (op, key), count in tally.items():
            taken[op] += count
            taken_on[op, key] += count


def count_left(op: str, key: str, reason: str) -> None:
    with _lock:
        left.setdefault((op, key), collections.Counter())[reason] += 1


def count_event(event: str) -> None:
    with _lock:
        events[event] += 1


def reset() -> None:
    with _lock:
        taken.clear()
        taken_on.clear()
        left.clear()
        events.clear()
