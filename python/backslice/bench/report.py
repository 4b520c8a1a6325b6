"""What a run found: a table, the geometric means, JSON and a plot."""

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
    view = Table(title="times as long as backslice")
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


def geometric_means(results: list[Result]) -> dict[str, float]:
    """Of the ratios on the dense workloads."""
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

    bars = [r for r in results if isinstance(r.workload, Workload) and r.workload.group not in ("curve", "many")]
    curve = [r for r in results if r.workload.group == "curve"]
    figure, axes = pyplot.subplots(1, 2 if curve else 1, figsize=(16 if curve else 9, 7), squeeze=False)
    peers = ["backslice", *peers_of(results)]
    left = axes[0][0]
    height = 0.8 / len(peers)
    for i, peer in enumerate(peers):
        rows = [(y, r) for y, r in enumerate(bars) if peer in r.seconds]
        left.barh([y + i * height for y, _ in rows], [r.seconds[peer] * 1e3 for _, r in rows], height, label=peer)
    left.plot(
        [r.limit * 1e3 if r.limit else float("nan") for r in bars], [y + 0.4 for y in range(len(bars))], "k|", ms=14,
        label="memory limit",
    )  # fmt: skip
    left.set(xscale="log", xlabel="milliseconds (log)", yticks=[y + 0.4 for y in range(len(bars))])
    left.set_yticklabels([r.workload.name for r in bars])
    left.invert_yaxis()
    left.legend()
    if curve:
        right = axes[0][1]
        for peer in peers:
            points = [
                (r.workload.output_bytes, r.workload.output_bytes / r.seconds[peer] / 1e9)
                for r in curve
                if peer in r.seconds
            ]
            right.plot(*zip(*points, strict=True), "o-", label=peer) if points else None
        right.set(xscale="log", yscale="log", xlabel="bytes of the gradient", ylabel="GB/s", title="half of the rows")
        right.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
