"""How often the kernels ran, and how often they left a gradient to PyTorch, and why."""

import collections
import threading

_lock = threading.Lock()
taken: collections.Counter[str] = collections.Counter()  # per op
left: dict[str, collections.Counter[str]] = {}  # per op, per reason
events: collections.Counter[str] = collections.Counter()


def count_taken(op: str) -> None:
    with _lock:
        taken[op] += 1


def count_left(op: str, reason: str) -> None:
    with _lock:
        left.setdefault(op, collections.Counter())[reason] += 1


def count_event(event: str) -> None:
    with _lock:
        events[event] += 1


def reset() -> None:
    with _lock:
        taken.clear()
        left.clear()
        events.clear()
