"""backslice doctor: the information that a bug report needs."""

import importlib.metadata
import os
import platform
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

import backslice as bs

from .._core import environment_problems
from ..bench import venvs
from ..units import human_bytes
from .memory import available_memory, measure

if TYPE_CHECKING:
    from .._core import CudaDevice

PACKAGES = ("numpy", "ml_dtypes", "typer", "rich", "safetensors", "matplotlib")
ADAPTERS = {"backslice.scipy": "scipy", "backslice.awkward": "awkward", "backslice.arrow": "pyarrow",
            "backslice.tensorflow": "tensorflow"}  # fmt: skip
PEERS = {"tensorflow": ("tensorflow", "tensorflow-cpu"), "torch": ("torch",), "jax": ("jax",),
         "onnxruntime": ("onnxruntime", "onnxruntime-training-cpu")}  # fmt: skip


def facts() -> dict[str, dict[str, Any]]:
    speed = measure()
    return {
        "versions": {
            "backslice": bs.__version__,
            "python": f"{platform.python_version()} ({sys.executable})",
            "system": platform.platform(),
            **{name: version(name) or "not installed" for name in PACKAGES},
        },
        "processor": {
            "model": cpu_model(),
            "cores": os.cpu_count(),
            "cores this process may use": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
            **caches(),
            "SIMD targets": ", ".join(bs.simd_targets()),
            "SIMD target in use": bs.simd_target(),
        },
        "threads": {
            "threads": bs.get_num_threads(),
            **{name: value for name, value in sorted(os.environ.items()) if name.startswith("BACKSLICE_")},
            **{f"problem {i}": problem for i, problem in enumerate(environment_problems(), 1)},
        },
        "CUDA": cuda(),
        "memory": {
            "free": human_bytes(available_memory()),
            "limit of this process": limit(),
            "huge pages": chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
            "writes zeros at": f"{speed.zero / 1e9:.1f} GB/s",
            "copies at": f"{speed.copy / 1e9:.1f} GB/s",
            **{f"pool {name.replace('_', ' ')}": value for name, value in bs.pool.stats().items()},
        },
        "adapters": {name: version(package) or "not installed" for name, package in ADAPTERS.items()},
        "peers": {name: peer(name, packages) for name, packages in PEERS.items()},
    }


def version(package: str) -> str | None:
    with suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(package)
    return None


def peer(name: str, packages: tuple[str, ...]) -> str:
    """Return the version in this environment, or in one that the benchmark made."""
    found = next((f"{package} {v}" for package in packages if (v := version(package))), None)
    made = [kind for kind in venvs.REQUIREMENTS if kind.startswith(name) and venvs.find(kind)]
    places = ([f"{found} here"] if found else []) + ([f"for the benchmark: {', '.join(made)}"] if made else [])
    return "; ".join(places) or "not installed"


def cpu_model() -> str:
    with suppress(OSError, StopIteration), open("/proc/cpuinfo") as file:
        return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    return platform.processor() or platform.machine()


def caches() -> dict[str, str]:
    """Return the L1d, L2 and L3 caches as the system reports them."""
    found = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        with suppress(OSError):
            kind = (folder / "type").read_text().strip()
            if kind != "Instruction":
                found[f"L{(folder / 'level').read_text().strip()} cache"] = (folder / "size").read_text().strip()
    return found


def chosen(path: str) -> str:
    """Return the choice in brackets of a file such as "always [madvise] never"."""
    with suppress(OSError):
        return next((w.strip("[]") for w in Path(path).read_text().split() if w.startswith("[")), "unknown")
    return "unknown"


def cuda() -> dict[str, str]:
    """Return versions and devices, or the reason why there are none."""
    try:
        versions = bs.cuda.versions()
    except bs.UnimplementedError:
        return {"part of this build": "no"}
    except bs.Error as error:
        return {"part of this build": "yes", "devices": f"none: {error}"}
    info = {"part of this build": "yes", "runtime": dotted(versions["runtime"]),
            "driver": dotted(versions["driver"]) if versions["driver"] else "not found"}  # fmt: skip
    try:
        return info | {f"cuda:{device['ordinal']}": described(device) for device in bs.cuda.devices()}
    except bs.Error as error:
        return info | {"devices": f"none: {error}"}


def dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def described(device: "CudaDevice") -> str:
    made_of = f"compute capability {dotted(device['capability'])}, {device['multiprocessors']} multiprocessors"
    return f"{device['name']}, {human_bytes(device['bytes'])}, {made_of}"


def limit() -> str:
    soft = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return "none" if soft == resource.RLIM_INFINITY else human_bytes(soft)


def show(found: dict[str, dict[str, Any]], console: Console) -> None:
    for section, entries in found.items():
        table = Table(show_header=False, box=None, padding=(0, 1), title=section, title_justify="left")
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in entries.items():
            table.add_row(name, str(value))
        console.print(table, highlight=False)
