"""backslice bench."""

import os
import platform
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import backslice as bs

from . import report, workloads
from .runner import PEERS, installed_peers
from .runner import run as run_workloads


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "threads": bs.get_num_threads(),
        "processor": platform.processor() or platform.machine(),
        "simd": bs.simd_target(),
        "backslice": bs.__version__,
        "python": platform.python_version(),
    }


def run(output: Path, wanted: list[str], only: str, rounds: int, quick: bool) -> bool:
    console = Console()
    unknown = sorted(set(wanted) - set(PEERS))
    if unknown:
        console.print(f"[red]unknown peer {unknown[0]!r}; known are {', '.join(PEERS)}[/]")
        return False
    peers = {p: python for p, python in installed_peers().items() if not wanted or p in wanted or p == "backslice"}
    missing = [p for p in (wanted or PEERS) if p not in peers]
    if missing:
        console.print(f"[yellow]not installed, left out: {', '.join(missing)} (make bench installs them)[/]")
    chosen = workloads.QUICK if quick else [w for w in workloads.ALL_WORKLOADS if only in w.name]
    if not chosen:
        console.print(f"[red]no workload's name contains {only!r}[/]")
        return False
    rounds = 1 if quick else rounds
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(chosen) * rounds * len(peers))
        results = run_workloads(chosen, peers, rounds, lambda text: progress.update(task, advance=1, description=text))
    wide = console if console.is_terminal else Console(width=180)
    wide.print(report.table(results))
    for peer, mean in report.geometric_means(results).items():
        console.print(f"geometric mean over the dense workloads: {mean:.2f}x {peer}")
    output.mkdir(parents=True, exist_ok=True)
    report.save_json(results, output / "bench.json", machine())
    console.print(f"wrote {output / 'bench.json'}")
    try:
        report.save_plot(results, output / "bench.png")
        console.print(f"wrote {output / 'bench.png'}")
    except ModuleNotFoundError:
        console.print("no plot: matplotlib is not installed")
    return True
