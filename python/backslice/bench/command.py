"""backslice bench."""

import os
import platform
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import backslice as bs

from .._core import environment_problems
from ..cli import Failure, Usage
from ..cli.console import console
from ..cli.outputs import check_target
from ..suggestions import did_you_mean
from . import report, workloads
from .runner import PEERS, Result, installed_peers
from .runner import run as run_workloads

FILES = ("bench.json", "bench.png")


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "threads": bs.get_num_threads(),
        "processor": platform.processor() or platform.machine(),
        "simd": bs.simd_target(),
        "backslice": bs.__version__,
        "python": platform.python_version(),
    }


def run(output: Path, wanted: list[str], only: str, rounds: int, quick: bool, force: bool) -> None:
    check_peers(wanted)
    chosen = workloads.QUICK if quick else [w for w in workloads.ALL_WORKLOADS if only in w.name]
    if not chosen:
        names = ", ".join(repr(w.name) for w in workloads.ALL_WORKLOADS[:3])
        raise Usage(f"--only is {only!r}, which no workload's name contains; names are such as {names}")
    if problems := environment_problems():
        raise Failure("; ".join(problems))
    prepare_folder(output, force)
    out = console()
    peers = {p: python for p, python in installed_peers().items() if not wanted or p in wanted or p == "backslice"}
    missing = [p for p in (wanted or PEERS) if p not in peers]
    if missing:
        out.print(f"Not installed, left out: {', '.join(missing)} (make bench installs them)", style="yellow")
    out.print(f"Results go to {output.resolve()}", highlight=False, soft_wrap=True)
    report_on(measure_all(chosen, peers, 1 if quick else rounds, out), output, out)


def check_peers(wanted: list[str]) -> None:
    for name in wanted:
        if name not in PEERS:
            raise Usage(f"--peer is {name!r}, expected one of {', '.join(PEERS)}{did_you_mean(name, PEERS)}")


def prepare_folder(folder: Path, force: bool) -> None:
    """Before minutes are spent on what cannot be saved."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise Failure(f"{folder} is not a folder; choose another with -o") from None
    for name in FILES:
        check_target(folder / name, force)


def measure_all(chosen: list[Any], peers: dict[str, Path], rounds: int, out: Console) -> list[Result]:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task("", total=len(chosen) * rounds * len(peers))
        return run_workloads(chosen, peers, rounds, lambda text: progress.update(task, advance=1, description=text))


def report_on(results: list[Result], folder: Path, out: Console) -> None:
    wide = out if out.is_terminal else console(width=180)
    wide.print(report.table(results))
    for peer, mean in report.geometric_means(results).items():
        out.print(f"{peer} takes {mean:.2f} times as long (geometric mean over the dense workloads)", highlight=False)
    report.save_json(results, folder / "bench.json", machine())
    saved = "bench.json"
    try:
        report.save_plot(results, folder / "bench.png")
        saved = "bench.json and bench.png"
    except ModuleNotFoundError:
        out.print("No plot: matplotlib is not installed (pip install matplotlib)", style="yellow")
    out.print(f"Wrote {saved} into {folder.resolve()}", highlight=False, soft_wrap=True)
