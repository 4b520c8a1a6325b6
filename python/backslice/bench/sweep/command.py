"""backslice bench --sweep."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import backslice as bs

from ..._core import environment_problems
from ...cli import Failure, Usage
from ...cli.console import console
from ..command import prepare_folder
from ..places import machine
from . import report
from .cases import FORMS, Form, cases
from .peers import PEERS, Peers
from .timing import SLOW, Measured, measure, measure_again

FILES = ("sweep.json", "sweep.png")
WORST = 10


@dataclass(frozen=True)
class Sweep:
    """The options of the command line."""

    output: Path
    peers: list[str] = field(default_factory=list)  # beside NumPy
    only: str = ""  # forms whose name contains it
    seed: int = 0
    cases: int = 0  # 0: as many as the seconds allow
    seconds: float = 60
    threads: int = 0  # 0: the pool's own number
    force: bool = False


def run(sweep: Sweep) -> None:
    forms = check(sweep)
    if problems := environment_problems():
        raise Failure("; ".join(problems))
    prepare_folder(sweep.output, sweep.force, FILES)
    out = console()
    before = bs.get_num_threads()
    bs.set_num_threads(sweep.threads or before)
    try:
        report_on(measure_all(sweep, forms, out), sweep, out)
    finally:
        bs.set_num_threads(before)


def check(sweep: Sweep) -> tuple[Form, ...]:
    """The forms that are wanted."""
    for name in sweep.peers:
        if name not in ("numpy", *PEERS):
            raise Usage(f"--peer is {name!r}, expected {', '.join(PEERS)}: --sweep always compares with NumPy")
    for option, value in (("--cases", sweep.cases), ("--seconds", sweep.seconds), ("--threads", sweep.threads)):
        if value < 0:
            raise Usage(f"{option} is {value:g}, expected a positive number")
    forms = tuple(form for form in FORMS if sweep.only in form.name)
    if not forms:
        names = ", ".join(repr(form.name) for form in FORMS)
        raise Usage(f"--only is {sweep.only!r}, which no form's name contains; the forms are {names}")
    return forms


def measure_all(sweep: Sweep, forms: tuple[Form, ...], out: Console) -> list[Measured]:
    """Measures slow cases again at the end, when what disturbed them may be over."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    total, started, results = sweep.cases or sweep.seconds, time.monotonic(), list[Measured]()
    with (
        Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress,
        Peers(sweep.peers) as peers,
    ):
        task = progress.add_task("", total=total)
        for case in cases(sweep.seed, forms):
            results.append(measure(case))
            peers.measure(results[-1])
            done = len(results) if sweep.cases else time.monotonic() - started
            progress.update(task, completed=done, description=f"{len(results)} cases")
            if done >= total:
                break
        for r in progress.track([r for r in results if r.first < SLOW], description="slow cases again"):
            measure_again(r)
    return results


def report_on(results: list[Measured], sweep: Sweep, out: Console) -> None:
    wide = out if out.is_terminal else console(width=180)
    wide.print(report.table(results))
    report.print_worst(results, min(WORST, len(results)), out)
    settings = {"machine": machine(), "seed": sweep.seed, "threads": bs.get_num_threads()}
    report.save_json(results, sweep.output / "sweep.json", settings)
    saved = "sweep.json"
    try:
        report.save_heat_map(results, sweep.output / "sweep.png")
        saved = "sweep.json and sweep.png"
    except ModuleNotFoundError:
        out.print("No heat map: matplotlib is not installed (pip install matplotlib)", style="yellow")
    ran = f"{len(results)} cases, seed {sweep.seed}, {bs.get_num_threads()} threads; all results equal NumPy's"
    wrote = f"Wrote {saved} into {sweep.output.resolve()}"
    out.print(f"\n{ran}\n{wrote}", highlight=False, soft_wrap=True)
