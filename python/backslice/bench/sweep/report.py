"""The results of a sweep: the table, the worst cases, JSON, and a heat map of the ratio by size and form."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ...units import human_seconds
from .timing import Measured

KB, MB = 1024, 1024 * 1024
COLUMNS = {"< 4 KB": 4 * KB, "4 to 64 KB": 64 * KB, "64 KB to 1 MB": MB, "1 to 8 MB": 8 * MB, "> 8 MB": math.inf}
BELOW = 0.9  # slower than NumPy by more than noise
TITLE = "NumPy's time over backslice's"

Ratios = list[float]


def ratios(results: list[Measured]) -> Iterator[tuple[str, int, float]]:
    """Row, bytes moved and ratio. Peers other than NumPy have rows of their own, at the end."""
    yield from ((r.case.form, r.case.moved, r.ratio) for r in results)
    for peer in dict.fromkeys(p for r in results for p in r.peers):
        for r in results:
            if peer in r.peers:
                yield f"{r.case.form}: {peer}", r.case.moved, r.peers[peer] / r.seconds


def column_of(moved: int) -> str:
    return next(name for name, limit in COLUMNS.items() if moved < limit)


def cells(results: list[Measured]) -> dict[str, dict[str, Ratios]]:
    """Ratios by row and column."""
    found: dict[str, dict[str, Ratios]] = {}
    for row, moved, ratio in ratios(results):
        found.setdefault(row, {c: [] for c in COLUMNS})[column_of(moved)].append(ratio)
    return found


def mean(values: Ratios) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def share_below(values: Ratios) -> float:
    return sum(value < BELOW for value in values) / len(values)


def table(results: list[Measured]) -> Table:
    view = Table(title=f"{TITLE}: geometric mean, share of cases below {BELOW}, by bytes moved")
    view.add_column("form")
    for column in COLUMNS:
        view.add_column(column, justify="right")
    for row, columns in cells(results).items():
        view.add_row(row, *(f"{mean(c):.2f}, {share_below(c):.0%}" if c else "-" for c in columns.values()))
    return view


def print_worst(results: list[Measured], count: int, out: Console) -> None:
    out.print(f"\nThe {count} worst cases: {TITLE}, and code to run", soft_wrap=True)
    for r in sorted(results, key=lambda r: r.ratio)[:count]:
        again = f", again {', '.join(f'{ratio:.2f}' for ratio in r.again)}" if r.again else ""
        times = f"{human_seconds(r.seconds)}, NumPy {human_seconds(r.numpy_seconds)}"
        out.print(f"{r.first:.2f}{again} ({times}) {r.case.form}", highlight=False, soft_wrap=True)
        out.print(f"    {r.case.line}", highlight=False, markup=False, soft_wrap=True)


def save_json(results: list[Measured], path: Path, settings: dict[str, Any]) -> None:
    summary = {
        row: {c: {"cases": len(r), "mean": mean(r), "below": share_below(r)} for c, r in columns.items() if r}
        for row, columns in cells(results).items()
    }
    content = settings | {"table": summary, "cases": [r.to_dict() for r in results]}
    path.write_text(json.dumps(content, indent=1) + "\n")


def save_heat_map(results: list[Measured], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = heat_map(results)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def heat_map(results: list[Measured]) -> Any:
    """A column per factor of four in bytes moved. Blue is faster than the other, red slower."""
    from matplotlib import pyplot
    from matplotlib.colors import TwoSlopeNorm

    groups: dict[tuple[str, int], Ratios] = {}
    for row, moved, ratio in ratios(results):
        groups.setdefault((row, power_of_four(moved)), []).append(ratio)
    rows = list(dict.fromkeys(row for row, _ in groups))
    powers = range(min(power for _, power in groups), max(power for _, power in groups) + 1)
    means = {at: mean(values) for at, values in groups.items()}
    grid = [[math.log2(means.get((row, power), math.nan)) for power in powers] for row in rows]
    figure, axes = pyplot.subplots(figsize=(11, 0.42 * len(rows) + 1.6), layout="constrained")
    image = axes.imshow(grid, cmap="RdBu", norm=TwoSlopeNorm(0, -2, 2), aspect="auto")
    for (row, power), value in means.items():
        colour = "white" if abs(math.log2(value)) > 1.2 else "black"
        place = (power - powers[0], rows.index(row))
        axes.text(*place, f"{value:.2g}", ha="center", va="center", fontsize=8, color=colour)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks([x - 0.5 for x in range(len(powers))], [short_bytes(4**power) for power in powers])
    axes.set(xlabel="bytes moved", title=f"{TITLE}, geometric mean")
    bar = figure.colorbar(image, ticks=[-2, -1, 0, 1, 2])
    bar.set_ticklabels(["¼", "½", "1", "2", "4"])
    return figure


def power_of_four(moved: int) -> int:
    return int(math.log2(max(1, moved)) / 2)


def short_bytes(size: int) -> str:
    for unit, scale in (("MB", MB), ("KB", KB)):
        if size >= scale:
            return f"{size // scale} {unit}"
    return f"{size} B"
