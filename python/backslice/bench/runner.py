"""Runs the workloads. Each peer has its own process, which stays alive; the peers take turns."""

import contextlib
import json
import os
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .places import CPU, Place
from .workloads import AnyWorkload

OUT_OF_MEMORY = "out of memory"


@dataclass
class Result:
    workload: AnyWorkload
    limit: float | None = None  # seconds that the memory alone would take
    seconds: dict[str, float] = field(default_factory=dict)
    compiling: dict[str, float] = field(default_factory=dict)  # seconds before the first call, of peers that compile
    failures: dict[str, str] = field(default_factory=dict)
    how: dict[str, Any] = field(default_factory=dict)  # strategy, pieces and plan of ours, where one slice is written

    def ratio(self, peer: str) -> float | None:
        """Return the peer's time over backslice's."""
        if peer not in self.seconds or "backslice" not in self.seconds:
            return None
        return self.seconds[peer] / self.seconds["backslice"]

    def to_dict(self) -> dict[str, Any]:
        return {
            "workload": self.workload.to_dict(),
            "output_bytes": self.workload.output_bytes,
            "seconds": self.seconds,
            "compiling_seconds": self.compiling,
            "failures": self.failures,
            "limit_seconds": self.limit,
            "how": self.how,
            "ratios": {p: self.ratio(p) for p in self.seconds if p != "backslice"},
            "shares_of_limit": {p: self.limit / seconds for p, seconds in self.seconds.items()} if self.limit else {},
        }


class Child:
    def __init__(self, peer: str, python: Path, place: Place = CPU) -> None:
        self.peer, self.python, self.place = peer, python, place
        self.process: Any = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.process is None:
            self.start()
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.stop()
            return {"error": OUT_OF_MEMORY}  # the usual end of a process that answered before
        reply: dict[str, Any] = json.loads(line)
        if reply.get("error") == OUT_OF_MEMORY:
            self.stop()  # memory that its allocator keeps would be missing for the next workloads
        return reply

    def start(self) -> None:
        more = {"TF_CPP_MIN_LOG_LEVEL": "3", "BACKSLICE_BENCH_MEMORY": str(self.place.memory)}
        self.process = subprocess.Popen(
            [self.python, Path(__file__).with_name("worker.py"), self.peer + self.place.suffix],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | more | self.place.environment,
        )

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with contextlib.suppress(BrokenPipeError):  # the pipe has no reader any more
                self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def run(
    workloads: Iterable[AnyWorkload],
    peers: dict[str, Path],
    rounds: int,
    tick: Callable[[str], None] = lambda _: None,
    place: Place = CPU,
) -> list[Result]:
    children = {peer: Child(peer, python, place) for peer, python in peers.items()}
    results = []
    try:
        for workload in workloads:
            result = Result(workload)
            for _ in range(rounds):
                for peer, child in children.items():
                    tick(f"{workload.name}: {peer}")
                    measure(result, child)  # as often for backslice as for the others
                    if peer == "backslice":
                        measure_limit(result, child)
            results.append(result)
    finally:
        for child in children.values():
            child.stop()
    return results


def measure(result: Result, child: Child) -> None:
    if child.peer in result.failures or result.seconds.get(child.peer, 0) > 5:
        return
    reply = child.ask(result.workload.to_dict())
    if "seconds" in reply:
        result.seconds[child.peer] = min(reply["seconds"], result.seconds.get(child.peer, float("inf")))
        result.how = reply["how"] or result.how
        if "compiling" in reply:
            result.compiling[child.peer] = min(reply["compiling"], result.compiling.get(child.peer, float("inf")))
    elif "error" in reply:
        result.failures[child.peer] = reply["error"]


def measure_limit(result: Result, child: Child) -> None:
    for request in child.place.limits(result.workload):
        reply = child.ask(request)
        if "seconds" in reply:
            result.limit = min(reply["seconds"], result.limit or float("inf"))
