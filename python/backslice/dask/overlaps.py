"""Whether slices select common elements. This matters for dtypes that cannot be added."""

from collections.abc import Sequence
from math import gcd

from .._core import Selection

Taken = tuple[int, int, int]  # start, step and count along an axis
Run = tuple[int, int, int]  # an axis in ascending order: lowest, highest, distance


def overlap(selections: Sequence[Selection]) -> bool:
    """Return whether any two select a common element. A sweep along the first axis compares only slices whose ranges
    overlap there."""
    taken = [[*map(_run, s.axes)] for s in selections if all(count for _, _, count in s.axes)]
    taken.sort(key=lambda runs: runs[:1])
    near: list[list[Run]] = []
    for runs in taken:
        near = [other for other in near if not runs or other[0][1] >= runs[0][0]]
        if any(all(map(_meet, runs, other)) for other in near):
            return True
        near.append(runs)
    return False


def _run(taken: Taken) -> Run:
    start, step, count = taken
    last = start + (count - 1) * step
    return min(start, last), max(start, last), abs(step)


def _meet(a: Run, b: Run) -> bool:
    """Return whether two arithmetic progressions have a common number, by the Chinese remainder theorem."""
    (a_low, a_high, a_step), (b_low, b_high, b_step) = a, b
    common = gcd(a_step, b_step)
    if (b_low - a_low) % common:
        return False
    period = b_step // common
    steps = (b_low - a_low) // common * pow(a_step // common, -1, period) % period
    first, repeat = a_low + steps * a_step, a_step * period
    first += max(0, -((first - max(a_low, b_low)) // repeat)) * repeat
    return first <= min(a_high, b_high)
