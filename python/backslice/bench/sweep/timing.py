"""Times one case: both sides in turns, best of several, after their results were compared."""

from dataclasses import dataclass, field
from timeit import Timer
from typing import Any

import numpy as np

import backslice as bs

from ...cli import Failure
from .cases import Case

ENOUGH = 0.012  # seconds of calls on one side
AT_ONCE = 1e-4  # seconds of calls between two looks at the clock
ROUNDS = (4, 40)  # at least, at most
AGAIN = 3  # how often a slow case is measured again
SLOW = 0.5  # a ratio that is


@dataclass
class Measured:
    case: Case
    seconds: float
    numpy_seconds: float
    again: list[float] = field(default_factory=list)  # ratios of later measurements
    peers: dict[str, float] = field(default_factory=dict)  # seconds of the peers that can express the case

    @property
    def ratio(self) -> float:
        """NumPy's time over ours. If it was measured again, the best of those: no accident makes a case slow."""
        return max(self.again, default=self.first)

    @property
    def first(self) -> float:
        return self.numpy_seconds / self.seconds

    def to_dict(self) -> dict[str, Any]:
        times = {"seconds": self.seconds, "numpy_seconds": self.numpy_seconds}
        return self.case.to_dict() | times | {"ratio": self.ratio, "again": self.again, "peers": self.peers}


def measure(case: Case) -> Measured:
    names: dict[str, Any] = {"np": np, "bs": bs}
    exec(case.setup, names)
    with np.errstate(all="ignore"):  # sums grow
        compare(case, names)
        return Measured(case, *best_times([Timer(statement, globals=names) for statement in case.statements]))


def measure_again(measured: Measured) -> None:
    for _ in range(AGAIN):
        measured.again.append(measure(measured.case).first)


def compare(case: Case, names: dict[str, Any]) -> None:
    """Runs each side twice, from the same state, since the second call may take another path."""
    kept = names["x"].copy() if "x" in names else None
    found = []
    for statement, result in zip(case.statements, case.results, strict=True):
        for _ in range(2):
            exec(statement, names)
        found.append(np.array(eval(result, names)))
        if kept is not None:
            names["x"][...] = kept
    ours, theirs = found
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape or not np.array_equal(ours, theirs):
        raise Failure(f"backslice and NumPy disagree: {case.line}")


def best_times(timers: list[Timer]) -> tuple[float, float]:
    """Alternate in the order 0 1 1 0 0 1 ...: each follows itself as often as the other."""
    quickest = min(timer.timeit(1) for timer in timers for _ in range(2))
    repeat = max(1, min(1000, int(AT_ONCE / quickest)))
    best, spent, rounds = [float("inf")] * 2, 0.0, 0
    while rounds < ROUNDS[0] or (spent < 2 * ENOUGH and rounds < ROUNDS[1]):
        for side in (0, 1) if rounds % 2 == 0 else (1, 0):
            seconds = timers[side].timeit(repeat)
            best[side], spent = min(best[side], seconds / repeat), spent + seconds
        rounds += 1
    return best[0], best[1]
