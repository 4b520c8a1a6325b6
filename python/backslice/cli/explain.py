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

LARGE = 1 << 20  # what is smaller stays in the caches, and memory is not its limit
WHY = {
    "nothing": "the gradient has no elements",
    "fresh zeros": "the slice takes little of a large tensor; fresh memory from the system is already zero, so only "
    "the pages that dy is written to are touched",
    "cached": "the gradient fits in the caches: one pass with ordinary stores",
    "streaming": "the gradient is larger than the caches: one pass with stores that bypass them",
    "one by one": "strings are assigned one at a time, not copied as memory",
}


def facts(selection: bs.Selection, dtype: np.dtype[Any]) -> dict[str, Any]:
    """Everything that explain tells, for programs."""
    return {
        "shape": list(selection.shape),
        "result_shape": list(selection.result_shape),
        "axes": [dict(zip(("start", "step", "count"), axis, strict=True)) for axis in selection.axes],
        "result_axes": list(selection.result_axes),
        "index": dialects.index_text(selection),
        "tf": None if dialects.cannot_be_said(selection, "tf") else selection.to_tf(),
        "onnx": selection.to_onnx(),
        "dtype": str(dtype),
        "cost": cost_of(selection, dtype),
        "peers": peers_on(selection, dtype),
    }


def cost_of(selection: bs.Selection, dtype: np.dtype[Any]) -> dict[str, Any]:
    """What the gradient costs, or why there is none."""
    try:
        cost = selection.cost(dtype)
    except bs.Error as error:
        return {"error": str(error)}
    limit = None
    if cost["bytes_written"] >= LARGE:
        speed = measure(size=min(cost["bytes_written"], 128 << 20), rounds=3)
        limit = speed.seconds(cost["bytes_read"], cost["bytes_written"])
    return {
        **cost,
        "why": WHY[cost["strategy"]],
        "memory_limit_seconds": limit,
        "threads": bs.get_num_threads(),
    }


def show(selection: bs.Selection, told: dict[str, Any], console: Console, everything: bool) -> None:
    """One screen, or everything."""
    around = 12 + len(selection.shape)  # lines besides the picture's, with those for the command and the prompt
    drawing = for_terminal(selection, console.width, max(6, min(17, console.height - around)))
    console.print(drawing.title, style="bold", markup=False, highlight=False)
    console.print()
    console.print(terminal(drawing, console))
    console.print()
    show_code(selection, "python", console)
    console.print()
    console.print(Text(selection.explain().strip().replace("takes", "Takes", 1)))
    if everything:
        show_everything(selection, told, console)
        return
    console.print(Text(cost_in_short(told)))
    console.print(Text("--all adds TensorFlow and ONNX code, cost details and other libraries.", "dim"))


def show_everything(selection: bs.Selection, told: dict[str, Any], console: Console) -> None:
    heading(console, "The same slice in other dialects")
    for dialect in ("tf", "onnx"):
        console.print(Text(f"  # {dialects.NAMES[dialect]}", style="dim"))
        show_code(selection, dialect, console, "  ")
    heading(console, f"The gradient, {told['dtype']}")
    show_cost(told["cost"], console)
    heading(console, "What other libraries do")
    for peer, said in told["peers"].items():
        console.print(Padding(Text.assemble((f"{peer}: ", "bold"), said), (0, 0, 0, 2)))


def cost_in_short(told: dict[str, Any]) -> str:
    cost, name = told["cost"], f"Gradient ({told['dtype']})"
    if "error" in cost:
        return f"{name}: cannot be computed: {cost['error']}"
    moved = f"reads {human_bytes(cost['bytes_read'])}, writes {human_bytes(cost['bytes_written'])}"
    limit = cost["memory_limit_seconds"]
    return f"{name}: {moved}" + (f", at best in {human_seconds(limit)}" if limit else "")


def show_cost(cost: dict[str, Any], console: Console) -> None:
    if "error" in cost:
        console.print(Padding(Text(f"cannot be computed: {cost['error']}", style="yellow"), (0, 0, 0, 2)))
        return
    lines = [f"reads {human_bytes(cost['bytes_read'])}, writes {human_bytes(cost['bytes_written'])}"]
    if cost["bytes_written"] < cost["bytes_result"]:
        lines[0] += f" of {human_bytes(cost['bytes_result'])}"
    lines.append(f"{cost['strategy']}: {cost['why']}")
    threads = (
        f"split into {cost['pieces']} pieces for {cost['threads']} threads" if cost["pieces"] > 1 else "on one thread"
    )
    lines.append(threads)
    if cost["memory_limit_seconds"] is None:
        lines.append("too small to be limited by memory bandwidth")
    else:
        limit = human_seconds(cost["memory_limit_seconds"])
        lines.append(f"at best in {limit}: the memory bandwidth of this machine, measured just now")
    for line in lines:
        console.print(Padding(Text(line), (0, 0, 0, 2)))


def show_code(selection: bs.Selection, dialect: str, console: Console, indent: str = "") -> None:
    """The slice and its gradient, unwrapped, so that they can be pasted."""
    for problem in dialects.cannot_be_said(selection, dialect):
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
