"""Runs the workloads. Each peer has its own process, which stays alive; the peers take turns."""

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import venvs
from .workloads import AnyWorkload, Container, Workload

# peer: the environment it lives in, None for ours
PEERS: dict[str, str | None] = {
    "backslice": None,
    "numpy": None,
    "tensorflow": "tensorflow",
    "tensorflow_with_backslice": "tensorflow",
    "torch": "torch",
    "torch_with_backslice": "torch",
    "jax": "jax",
    "jax_with_backslice": "jax",
    "onnxruntime": "onnxruntime-training",
    "onnxruntime_with_backslice": "onnxruntime",
    "dask_pad": None,
    "dask_assignment": None,
    "dask_copy": None,
}


OUT_OF_MEMORY = "out of memory"


@dataclass
class Result:
    workload: AnyWorkload
    limit: float | None = None  # seconds that the memory alone would take
    seconds: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    how: dict[str, Any] = field(default_factory=dict)  # strategy, pieces and plan of ours, where one slice is written

    def ratio(self, peer: str) -> float | None:
        """How many times as long as backslice the peer takes."""
        if peer not in self.seconds or "backslice" not in self.seconds:
            return None
        return self.seconds[peer] / self.seconds["backslice"]

    def to_dict(self) -> dict[str, Any]:
        return {
            "workload": self.workload.to_dict(),
            "output_bytes": self.workload.output_bytes,
            "seconds": self.seconds,
            "failures": self.failures,
            "limit_seconds": self.limit,
            "how": self.how,
            "ratios": {p: self.ratio(p) for p in self.seconds if p != "backslice"},
        }


class Child:
    def __init__(self, peer: str, python: Path, memory: int) -> None:
        self.peer, self.python, self.memory = peer, python, memory
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
            return {"error": OUT_OF_MEMORY}  # what ends a process that answered before
        reply: dict[str, Any] = json.loads(line)
        if reply.get("error") == OUT_OF_MEMORY:
            self.stop()  # what its allocator keeps would be missing for the next workloads
        return reply

    def start(self) -> None:
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "BACKSLICE_BENCH_MEMORY": str(self.memory)}
        self.process = subprocess.Popen(
            [self.python, Path(__file__).with_name("worker.py"), self.peer],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | quiet,
        )

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with contextlib.suppress(BrokenPipeError):  # what was still to be written has no reader
                self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def installed_peers() -> dict[str, Path]:
    """The peers that can run here, with their Pythons."""
    found = {peer: _own_python(peer) if venv is None else venvs.find(venv) for peer, venv in PEERS.items()}
    return {peer: python for peer, python in found.items() if python is not None}


def _own_python(peer: str) -> Path | None:
    lacking = peer.startswith("dask") and importlib.util.find_spec("dask") is None
    return None if lacking else Path(sys.executable)


def memory_limit() -> int:
    """Half of the machine's memory for each process; they are all alive at once."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def run(
    workloads: Iterable[AnyWorkload],
    peers: dict[str, Path],
    rounds: int,
    tick: Callable[[str], None] = lambda _: None,
) -> list[Result]:
    children = {peer: Child(peer, python, memory_limit()) for peer, python in peers.items()}
    results = []
    try:
        for workload in workloads:
            result = Result(workload)
            for _ in range(rounds):
                for peer, child in children.items():
                    tick(f"{workload.name}: {peer}")
                    measure(result, child)  # as often for us as for the others
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
    elif "error" in reply:
        result.failures[child.peer] = reply["error"]


def measure_limit(result: Result, child: Child) -> None:
    """The time of the faster kind of stores. Told for containers that name what they read, and for gradients of 1 MiB
    and more that touch all of their output."""
    workload = result.workload
    if isinstance(workload, Container):
        if workload.input_bytes:
            sizes = [workload.input_bytes, workload.output_bytes]
            reply = child.ask({"kind": "limit", "threads": 0, "read_and_write": sizes})
            result.limit = min(reply["seconds"], result.limit or float("inf"))
        return
    if (
        not isinstance(workload, Workload)
        or workload.kind not in ("gradient", "many")
        or workload.output_bytes < 2**20
        or workload.group == "sparse"
    ):
        return
    copied = workload.selected_bytes
    for streaming in (False, True):
        sizes = [workload.output_bytes - copied, copied, copied]
        reply = child.ask({"kind": "limit", "threads": workload.threads, "bytes": sizes, "streaming": streaming})
        if "seconds" in reply:
            result.limit = min(reply["seconds"], result.limit or float("inf"))
