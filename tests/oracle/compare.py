"""Compares the results of backslice and of a peer."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import backslice as bs
from numpy.typing import NDArray
from peer import Reply


def equal_bits(a: NDArray[Any], b: NDArray[Any]) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return list(a.flat) == list(b.flat) if a.dtype == object else a.tobytes() == b.tobytes()


# Return the known fault of the peer that a reply shows, if any.
Fault = Callable[[Reply], str | None]


Outputs = tuple[NDArray[Any], ...]


def brief(outputs: Outputs | None) -> str:
    if outputs is None:
        return "nothing"
    return ", ".join(f"{array.dtype} {array.shape} {array.ravel()[:12].tolist()}" for array in outputs)


class Comparison:
    """Counts agreements and collects differences. `allowed` names differences that are known faults of the peer."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.differences: list[str] = []

    def add(
        self, what: Any, ours: Callable[[], NDArray[Any] | Outputs], theirs: Reply, allowed: Fault = lambda _: None
    ) -> None:
        result: Outputs | None
        try:
            returned = ours()
            result, error = returned if isinstance(returned, tuple) else (returned,), None
        except bs.Error as e:
            result, error = None, f"{type(e).__name__}: {e}"
        if theirs.crashed:
            self.counts["peer crashed"] += 1
        elif theirs.error is not None and error is not None:
            self.counts["both refuse"] += 1
        elif theirs.arrays is not None and result is not None and all(map(equal_bits, result, theirs.arrays)):
            self.counts["equal"] += 1
        elif allowed(theirs) is not None:
            self.counts[str(allowed(theirs))] += 1
        else:
            self.differences.append(
                f"{what}\n  ours: {error or brief(result)}\n  peer: {theirs.error or brief(theirs.arrays)}"
            )

    def report(self, name: str) -> None:
        print(f"{name}: {dict(self.counts)}, {len(self.differences)} differences")
        assert not self.differences, "\n".join(self.differences[:5])
