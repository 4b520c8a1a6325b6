"""backslice explain."""

from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

import backslice as bs

from .. import dialects, picture
from ..picture.terminal import limits_for, terminal
from ..units import human_bytes, human_seconds
from .memory import measure
from .peers import peers_on

LARGE = 1 << 20  # what is smaller stays in the caches, and memory is not its limit
WHY = {
    "nothing": "the gradient has no elements",
    "fresh zeros": "little is selected of a large tensor: memory fresh from the system is zero already, so that only "
    "the pages that dy goes to are touched",
    "cached": "the gradient fits the caches: one pass of ordinary stores",
    "streaming": "the gradient is larger than the caches: one pass of stores that go past them",
    "one by one": "strings are assigned, not moved",
}


def facts(selection: bs.Selection, dtype: np.dtype[Any]) -> dict[str, Any]:
    """All that explain tells, for machines."""
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


def show(selection: bs.Selection, told: dict[str, Any], console: Console) -> None:
    drawing = picture.of(selection, limits_for(console.width))
    console.print(drawing.title, style="bold", markup=False, highlight=False)
    console.print()
    console.print(terminal(drawing, console))
    heading(console, "Normal form")
    console.print(Padding(Text(selection.explain().rstrip()), (0, 0, 0, 2)))
    heading(console, "The same slice in every dialect")
    for dialect in dialects.DIALECTS:
        show_code(selection, dialect, console)
    heading(console, f"The gradient, {told['dtype']}")
    show_cost(told["cost"], console)
    heading(console, "What others do")
    for peer, said in told["peers"].items():
        console.print(Padding(Text.assemble((f"{peer}: ", "bold"), said), (0, 0, 0, 2)))


def show_cost(cost: dict[str, Any], console: Console) -> None:
    if "error" in cost:
        console.print(Padding(Text(f"cannot be computed: {cost['error']}", style="yellow"), (0, 0, 0, 2)))
        return
    lines = [f"reads {human_bytes(cost['bytes_read'])}, writes {human_bytes(cost['bytes_written'])}"]
    if cost["bytes_written"] < cost["bytes_result"]:
        lines[0] += f" of {human_bytes(cost['bytes_result'])}"
    lines.append(f"{cost['strategy']}: {cost['why']}")
    threads = (
        f"cut into {cost['pieces']} pieces for {cost['threads']} threads" if cost["pieces"] > 1 else "on one thread"
    )
    lines.append(threads)
    if cost["memory_limit_seconds"] is None:
        lines.append("too small for the memory to be its limit")
    else:
        lines.append(f"this machine's memory allows it in {human_seconds(cost['memory_limit_seconds'])}, measured now")
    for line in lines:
        console.print(Padding(Text(line), (0, 0, 0, 2)))


def show_code(selection: bs.Selection, dialect: str, console: Console) -> None:
    """The slice and its gradient, unwrapped, so that they can be pasted."""
    for problem in dialects.cannot_be_said(selection, dialect):
        console.print(Text(f"  {problem}", style="yellow"))
        if dialect == "tf":
            return
    console.print(Text(f"  # {dialects.NAMES[dialect]}", style="dim"))
    for gradient in (False, True):
        for line in dialects.code(selection, dialect, gradient).splitlines():
            console.print(Text("  " + line, style="cyan"), soft_wrap=True)


def heading(console: Console, text: str) -> None:
    console.print()
    console.print(text, style="bold underline", markup=False, highlight=False)
