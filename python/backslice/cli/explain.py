"""backslice explain."""

from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

import backslice as bs

from .. import dialects
from ..picture.terminal import for_terminal, terminal
from ..units import human_bytes, human_seconds
from .memory import measure
from .peers import peers_on

LARGE = 1 << 20  # smaller arrays stay in the caches, so memory bandwidth does not limit them
WHY = {
    "nothing": "the gradient has no elements",
    "fresh zeros": "the slice takes little of a large tensor; fresh memory from the system is already zero, so only "
    "the pages that dy is written to are touched",
    "cached": "the gradient fits in the caches: one pass with ordinary stores",
    "streaming": "the gradient is larger than the caches: one pass with stores that bypass them",
    "one by one": "strings are assigned one at a time, not copied as memory",
    "gather": "each thread finds where its part of dx comes from, and writes it once",
}
H200 = 4.2e12  # bytes per second that a copy within its memory reads and writes


def facts(selection: bs.Selection, dtype: np.dtype[Any], cuda: float | None = None) -> dict[str, Any]:
    """Return the facts that explain shows, for programs. `cuda` is the bandwidth of a CUDA device; None means the
    CPU."""
    return {
        "shape": list(selection.shape),
        "result_shape": list(selection.result_shape),
        "axes": [dict(zip(("start", "step", "count"), axis, strict=True)) for axis in selection.axes],
        "result_axes": list(selection.result_axes),
        "index": dialects.index_text(selection),
        "tf": None if dialects.unsupported_reasons(selection, "tf") else selection.to_tf(),
        "onnx": selection.to_onnx(),
        "dtype": str(dtype),
        "device": "cpu" if cuda is None else "cuda",
        "cost": cost_of(selection, dtype, cuda),
        "peers": peers_on(selection, dtype),
    }


def cost_of(selection: bs.Selection, dtype: np.dtype[Any], cuda: float | None) -> dict[str, Any]:
    """Return the cost of the gradient, or the reason why there is none."""
    try:
        cost = selection.cost(dtype, device="cpu" if cuda is None else "cuda")
    except bs.Error as error:
        return {"error": str(error)}
    read, written = cost["bytes_read"], cost["bytes_written"]
    limit = None
    if written >= LARGE:
        limit = cpu_limit(read, written) if cuda is None else (read + written) / cuda
    where: dict[str, float] = {"threads": bs.get_num_threads()} if cuda is None else {"bytes_per_second": cuda}
    return {**cost, "why": WHY[cost["strategy"]], "memory_limit_seconds": limit, **where}


def cpu_limit(read: int, written: int) -> float:
    return measure(size=min(written, 128 << 20), rounds=3).seconds(read, written)


def show(selection: bs.Selection, info: dict[str, Any], console: Console, everything: bool) -> None:
    """Print one screen, or all facts."""
    around = 12 + len(selection.shape)  # lines besides the picture, including the command and the prompt
    drawing = for_terminal(selection, console.width, max(6, min(17, console.height - around)))
    console.print(drawing.title, style="bold", markup=False, highlight=False)
    console.print()
    console.print(terminal(drawing, console))
    console.print()
    show_code(selection, "python", console)
    console.print()
    console.print(Text(selection.explain().strip().replace("takes", "Takes", 1)))
    if everything:
        show_everything(selection, info, console)
        return
    console.print(Text(cost_in_short(info)))
    console.print(Text("--all adds TensorFlow and ONNX code, cost details and other libraries.", "dim"))


def show_everything(selection: bs.Selection, info: dict[str, Any], console: Console) -> None:
    heading(console, "The same slice in other dialects")
    for dialect in ("tf", "onnx"):
        console.print(Text(f"  # {dialects.NAMES[dialect]}", style="dim"))
        show_code(selection, dialect, console, "  ")
    heading(console, f"The gradient, {info['dtype']}")
    show_cost(info["cost"], console)
    heading(console, "What other libraries do")
    for peer, sentence in info["peers"].items():
        console.print(Padding(Text.assemble((f"{peer}: ", "bold"), sentence), (0, 0, 0, 2)))


def cost_in_short(info: dict[str, Any]) -> str:
    cost, name = info["cost"], f"Gradient ({info['dtype']}{', CUDA' if info['device'] == 'cuda' else ''})"
    if "error" in cost:
        return f"{name}: cannot be computed: {cost['error']}"
    moved = f"reads {human_bytes(cost['bytes_read'])}, writes {human_bytes(cost['bytes_written'])}"
    limit = cost["memory_limit_seconds"]
    return f"{name}: {moved}" + (f", {time_limit(cost)}" if limit else "")


def show_cost(cost: dict[str, Any], console: Console) -> None:
    if "error" in cost:
        console.print(Padding(Text(f"cannot be computed: {cost['error']}", style="yellow"), (0, 0, 0, 2)))
        return
    lines = [f"reads {human_bytes(cost['bytes_read'])}, writes {human_bytes(cost['bytes_written'])}"]
    if cost["bytes_written"] < cost["bytes_result"]:
        lines[0] += f" of {human_bytes(cost['bytes_result'])}"
    lines.append(f"{cost['strategy']}: {cost['why']}")
    lines += on_device(cost) if "bytes_per_second" in cost else on_threads(cost)
    if cost["memory_limit_seconds"] is None:
        lines.append("too small to be limited by memory bandwidth")
    else:
        lines.append(f"{time_limit(cost)}: {limiting_factor(cost)}")
    for line in lines:
        console.print(Padding(Text(line), (0, 0, 0, 2)))


def on_threads(cost: dict[str, Any]) -> list[str]:
    if cost["pieces"] > 1:
        return [f"split into {cost['pieces']} pieces for {cost['threads']} threads"]
    return ["on one thread"]


def on_device(cost: dict[str, Any]) -> list[str]:
    """List the kernels that run, each once even if launched often, without their loops."""
    return list(dict.fromkeys(line for line in cost["plan"].splitlines() if line.startswith("kernel ")))


def time_limit(cost: dict[str, Any]) -> str:
    """Return the time limit as text. On a device it is the time of a copy; writing only zeros is a tenth faster."""
    how = "in about" if "bytes_per_second" in cost else "at best in"
    return f"{how} {human_seconds(cost['memory_limit_seconds'])}"


def limiting_factor(cost: dict[str, Any]) -> str:
    if "bytes_per_second" in cost:
        return f"what is read and written, at a copy's {cost['bytes_per_second'] / 1e9:.4g} GB/s"
    return "the memory bandwidth of this machine, measured just now"


def show_code(selection: bs.Selection, dialect: str, console: Console, indent: str = "") -> None:
    """Print the slice and its gradient as unwrapped code, to paste."""
    for problem in dialects.unsupported_reasons(selection, dialect):
        console.print(Text(indent + problem, style="yellow"))
        if dialect == "tf":
            return
    forward, gradient = (dialects.code(selection, dialect, gradient).splitlines() for gradient in (False, True))
    imported = {line for line in forward if line.startswith("from ")}
    for line in [*forward, *(line for line in gradient if line not in imported)]:
        console.print(Text(indent + line, style="cyan"), soft_wrap=True)


def heading(console: Console, text: str) -> None:
    console.print()
    console.print(text, style="bold underline", markup=False, highlight=False)
