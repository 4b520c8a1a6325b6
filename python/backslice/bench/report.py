"""The results of a run: a table, the geometric means, JSON and a plot."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.table import Table

from ..units import human_seconds
from .runner import Result
from .workloads import Workload


def peers_of(results: Iterable[Result]) -> list[str]:
    found = dict.fromkeys(p for r in results for p in (*r.seconds, *r.failures) if p != "backslice")
    return list(found)


def table(results: list[Result]) -> Table:
    peers = peers_of(results)
    view = Table(title="Time relative to backslice")
    view.add_column("gradient of")
    view.add_column("strategy")
    for column in ("pieces", "backslice", "GB/s", "of limit", *peers):
        view.add_column(column, justify="right")
    for r in results:
        own = r.seconds.get("backslice")
        rate = f"{r.workload.output_bytes / own / 1e9:.1f}" if own else ""
        share = f"{r.limit / own:.2f}" if own and r.limit else ""
        cells = [r.failures.get(p) or (f"{ratio:.3g}x" if (ratio := r.ratio(p)) else "-") for p in peers]
        how = (r.how.get("strategy", ""), str(r.how.get("pieces", "")))
        time = human_seconds(own) if own else r.failures.get("backslice", "")
        view.add_row(r.workload.name, *how, time, rate, share, *cells)
    return view


def compiling_table(results: list[Result]) -> Table | None:
    """Return a table of compile times, or None if no peer compiles."""
    peers = dict.fromkeys(peer for r in results for peer in r.compiling)
    if not peers:
        return None
    view = Table(title="Tracing and compiling, before the first call")
    view.add_column("gradient of")
    for peer in peers:
        view.add_column(peer, justify="right")
    for r in results:
        if r.compiling:
            cells = (human_seconds(r.compiling[peer]) if peer in r.compiling else "-" for peer in peers)
            view.add_row(r.workload.name, *cells)
    return view


def geometric_means(results: list[Result]) -> dict[str, float]:
    """Return the geometric mean of the ratios of the dense workloads."""
    means = {}
    for peer in peers_of(results):
        ratios = [ratio for r in results if r.workload.group == "dense" and (ratio := r.ratio(peer))]
        if ratios:
            means[peer] = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return means


def save_json(results: list[Result], path: Path, machine: dict[str, Any]) -> None:
    content = {
        "machine": machine,
        "geometric_means": geometric_means(results),
        "results": [r.to_dict() for r in results],
    }
    path.write_text(json.dumps(content, indent=1) + "\n")


def save_plot(results: list[Result], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = plot(results)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def plot(results: list[Result]) -> Any:
    """Times as bars, beside them speed over size. One legend for both, below them: it covers nothing."""
    from matplotlib import pyplot

    bars = [r for r in results if isinstance(r.workload, Workload) and r.workload.group not in ("curve", "many")]
    curve = [r for r in results if r.workload.group == "curve"]
    size = (16 if curve else 9, max(4.0, 0.3 * len(bars) + 1.5))
    figure, axes = pyplot.subplots(1, 2 if curve else 1, figsize=size, squeeze=False, layout="constrained")
    peers = ["backslice", *peers_of(results)]
    _draw_bars(axes[0][0], bars, peers)
    if curve:
        _draw_curve(axes[0][1], curve, peers)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def _draw_bars(axes: Any, bars: list[Result], peers: list[str]) -> None:
    height = 0.8 / len(peers)
    for i, peer in enumerate(peers):
        rows = [(y, r) for y, r in enumerate(bars) if peer in r.seconds]
        axes.barh([y + i * height for y, _ in rows], [r.seconds[peer] * 1e3 for _, r in rows], height, label=peer)
    middles = [y + 0.4 - height / 2 for y in range(len(bars))]
    limits = [r.limit * 1e3 if r.limit else float("nan") for r in bars]
    axes.plot(limits, middles, "k|", ms=14, label="memory limit")
    axes.set(xscale="log", xlabel="milliseconds (log)", yticks=middles, title="time per gradient")
    axes.set_yticklabels([r.workload.name for r in bars])
    axes.set_ylim(len(bars), -0.4)


def _draw_curve(axes: Any, curve: list[Result], peers: list[str]) -> None:
    for peer in peers:
        done = [r for r in curve if peer in r.seconds]
        sizes = [r.workload.output_bytes for r in done]
        axes.plot(sizes, [r.workload.output_bytes / r.seconds[peer] / 1e9 for r in done], "o-")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="bytes of the gradient",
        ylabel="GB/s",
        title="speed over size, half of the rows selected",
    )
