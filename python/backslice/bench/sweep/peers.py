"""PyTorch and JAX beside a case: new gradients and slices of contiguous arrays, which both can express.

They run in the processes of the benchmark, one per peer. Slices that a peer cannot express it declines.
"""

from types import TracebackType
from typing import Any

from ..places import CPU
from ..runner import Child
from .cases import Case, parsed
from .timing import ENOUGH, Measured

PEERS = ("torch", "jax")
KINDS = {"new": "gradient", "slice": "forward"}  # the workloads that are alike


class Peers:
    """The processes of the peers that are wanted and installed, until the end of a with block."""

    def __init__(self, wanted: list[str]) -> None:
        self.children = {p: Child(p, python) for p, python in CPU.installed_peers().items() if p in wanted}

    def __enter__(self) -> "Peers":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for child in self.children.values():
            child.stop()

    def measure(self, measured: Measured) -> None:
        if (workload := workload_of(measured.case)) is None:
            return
        for peer, child in self.children.items():
            if seconds := child.ask(workload).get("seconds"):
                measured.peers[peer] = seconds


def workload_of(case: Case) -> dict[str, Any] | None:
    """Return None if a peer cannot hold the arrays without changes."""
    if case.kind not in KINDS or {*case.layouts} != {"contiguous"}:
        return None
    items = [i if isinstance(i, int) else (i.start, i.stop, i.step) for i in parsed(case.index)]
    request = {"kind": KINDS[case.kind], "shape": case.shape, "index": items, "dtype": case.dtype}
    return request | {"threads": 0, "enough": ENOUGH}
