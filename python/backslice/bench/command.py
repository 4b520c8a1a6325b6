"""backslice bench."""

from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from .._core import environment_problems
from ..cli import Failure, Usage
from ..cli.console import console
from ..cli.outputs import check_target
from ..suggestions import did_you_mean
from . import report, workloads
from .places import PLACES, Place
from .runner import Result
from .runner import run as run_workloads

FILES = ("bench.json", "bench.png")


def run(output: Path, wanted: list[str], only: str, rounds: int, quick: bool, force: bool, device: str = "cpu") -> None:
    place = PLACES[device]
    check_peers(wanted, place)
    chosen = workloads.QUICK if quick else [w for w in place.workloads if only in w.name]
    if not chosen:
        names = ", ".join(repr(w.name) for w in place.workloads[:3])
        raise Usage(f"--only is {only!r}, which no workload's name contains; names are such as {names}")
    if problems := environment_problems():
        raise Failure("; ".join(problems))
    if reason := place.unavailable_reason():
        raise Failure(f"--device {device}: {reason}")
    out = console()
    peers = chosen_peers(wanted, place, out)
    prepare_folder(output, force, FILES)
    out.print(f"Results go to {output.resolve()}", highlight=False, soft_wrap=True)
    report_on(measure_all(chosen, peers, 1 if quick else rounds, out, place), output, out, place)


def check_peers(wanted: list[str], place: Place) -> None:
    for name in wanted:
        if name not in place.peers:
            known = f"expected one of {', '.join(place.peers)}"
            raise Usage(f"--peer is {name!r}, {known}{did_you_mean(name, place.peers)}")


def chosen_peers(wanted: list[str], place: Place, out: Console) -> dict[str, Path]:
    """Return the installed peers, and name the others."""
    installed = place.installed_peers()
    if "backslice" not in installed:
        raise Failure(place.needs)
    peers = {p: python for p, python in installed.items() if not wanted or p in wanted or p == "backslice"}
    missing = [p for p in (wanted or place.peers) if p not in peers]
    if missing:
        out.print(f"Not installed, left out: {', '.join(missing)} ({place.advice})", style="yellow")
    return peers


def prepare_folder(folder: Path, force: bool, files: tuple[str, ...]) -> None:
    """Before minutes are spent on what cannot be saved."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise Failure(f"{folder} is not a folder; choose another with -o") from None
    for name in files:
        check_target(folder / name, force)


def measure_all(chosen: list[Any], peers: dict[str, Path], rounds: int, out: Console, place: Place) -> list[Result]:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task("", total=len(chosen) * rounds * len(peers))
        tick = partial(progress.update, task, advance=1)
        return run_workloads(chosen, peers, rounds, lambda text: tick(description=text), place)


def report_on(results: list[Result], folder: Path, out: Console, place: Place) -> None:
    wide = out if out.is_terminal else console(width=180)
    wide.print(report.table(results))
    if (compiling := report.compiling_table(results)) is not None:
        wide.print(compiling)
    for peer, mean in report.geometric_means(results).items():
        out.print(f"{peer} takes {mean:.2f} times as long (geometric mean over the dense workloads)", highlight=False)
    report.save_json(results, folder / "bench.json", place.machine())
    saved = "bench.json"
    try:
        report.save_plot(results, folder / "bench.png")
        saved = "bench.json and bench.png"
    except ModuleNotFoundError:
        out.print("No plot: matplotlib is not installed (pip install matplotlib)", style="yellow")
    out.print(f"Wrote {saved} into {folder.resolve()}", highlight=False, soft_wrap=True)
