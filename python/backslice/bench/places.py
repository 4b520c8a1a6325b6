"""The places of a benchmark: their peers, their machine, and the limit that its memory sets."""

import importlib.util
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import backslice as bs

from . import venvs, workloads
from .workloads import AnyWorkload, Container, Workload

Requests = list[dict[str, Any]]


@dataclass(frozen=True)
class Place:
    peers: dict[str, Callable[[], Path | None]]  # each with the Python that it runs in, if it is installed
    workloads: list[AnyWorkload]
    limits: Callable[[AnyWorkload], Requests]  # workloads for backslice; the limit is the least of the answers
    machine: Callable[[], dict[str, Any]]
    unavailable_reason: Callable[[], str | None]  # it cannot be used
    advice: str  # shown if a peer is missing
    needs: str = ""  # reason why backslice itself cannot run
    environment: dict[str, str] = field(default_factory=dict)  # environment of the peers' processes
    suffix: str = "_peer"  # names of the modules in the folder peers
    memory: int = 0  # bytes that a peer's process may have; 0: any number

    def installed_peers(self) -> dict[str, Path]:
        found = {peer: find() for peer, find in self.peers.items()}
        return {peer: python for peer, python in found.items() if python is not None}


def with_any(*modules: str, venv: str | None = None) -> Callable[[], Path | None]:
    """Return this Python if it has one of the modules, else the Python of the benchmark's environment."""

    def find() -> Path | None:
        if not modules or any(importlib.util.find_spec(module) for module in modules):
            return Path(sys.executable)
        return venvs.find(venv) if venv else None

    return find


def in_venv(name: str) -> Callable[[], Path | None]:
    return lambda: venvs.find(name)


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "threads": bs.get_num_threads(),
        "processor": platform.processor() or platform.machine(),
        "simd": bs.simd_target(),
        "backslice": bs.__version__,
        "python": platform.python_version(),
    }


def plain_loops(workload: AnyWorkload) -> Requests:
    """The faster kind of stores. Told for containers that name what they read, and for gradients of 1 MiB and more that
    touch all of their output."""
    if isinstance(workload, Container):
        sizes = [workload.input_bytes, workload.output_bytes]
        return [{"kind": "limit", "threads": 0, "read_and_write": sizes}] if workload.input_bytes else []
    if not isinstance(workload, Workload) or workload.kind not in ("gradient", "many"):
        return []
    if workload.output_bytes < 2**20 or workload.group == "sparse":
        return []
    copied = workload.selected_bytes
    sizes = [workload.output_bytes - copied, copied, copied]
    request = {"kind": "limit", "threads": workload.threads, "bytes": sizes}
    return [request | {"streaming": streaming} for streaming in (False, True)]


CPU = Place(
    {
        "backslice": with_any(),
        "numpy": with_any(),
        "tensorflow": in_venv("tensorflow"),
        "tensorflow_with_backslice": in_venv("tensorflow"),
        "torch": in_venv("torch"),
        "torch_with_backslice": in_venv("torch"),
        "jax": in_venv("jax"),
        "jax_with_backslice": in_venv("jax"),
        "onnxruntime": in_venv("onnxruntime-training"),
        "onnxruntime_with_backslice": in_venv("onnxruntime"),
        "dask_pad": with_any("dask"),
        "dask_assignment": with_any("dask"),
        "dask_copy": with_any("dask"),
    },
    workloads.ALL_WORKLOADS,
    plain_loops,
    machine,
    unavailable_reason=lambda: None,
    advice="make bench installs them",
    environment={"CUDA_VISIBLE_DEVICES": ""},
    memory=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2,  # half of all: they are all alive at once
)


def copy_of_as_many_bytes(workload: AnyWorkload) -> Requests:
    """A copy within the device's memory that reads and writes as many bytes as the gradient or the slice does."""
    if not isinstance(workload, Workload) or workload.output_bytes < 2**20:
        return []
    return [{"kind": "copy", "bytes": workload.moved_bytes // 2}]


def machine_with_device() -> dict[str, Any]:
    return machine() | {"device": bs.cuda.devices()[0], "cuda": bs.cuda.versions()}


CUDA = Place(
    {
        "backslice": with_any("torch", "cupy", venv="torch"),  # one of them has the arrays
        "torch": with_any("torch", venv="torch"),
        "jax": with_any("jax"),
        "cupy": with_any("cupy"),
    },
    workloads.ON_CUDA,
    copy_of_as_many_bytes,
    machine_with_device,
    lambda: bs.cuda.unavailable_reason(),
    advice="pip install them beside backslice",
    needs="--device cuda needs PyTorch or CuPy, which have the arrays: pip install one of them beside backslice",
    environment={"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},  # the device's memory is for all of them
    suffix="_on_cuda_peer",
)

PLACES = {"cpu": CPU, "cuda": CUDA}
