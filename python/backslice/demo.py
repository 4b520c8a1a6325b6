"""backslice demo: gradients of slices in three dialects, each checked by brute force."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import backslice as bs


@dataclass
class Example:
    dialect: str
    index: str
    call: str
    shape: tuple[int, ...]
    forward: Callable[[NDArray[Any]], NDArray[Any]]
    gradient: Callable[[NDArray[Any]], NDArray[Any]]


def examples() -> Iterator[Example]:
    yield Example(
        "NumPy",
        "x[1:3, ::2]",
        'bs.slice_grad(dy, (4, 6), "1:3, ::2")',
        (4, 6),
        lambda x: x[1:3, ::2],
        lambda dy: bs.slice_grad(dy, (4, 6), "1:3, ::2"),
    )
    tf: Any = {"begin": [0, 2], "end": [0, 3], "strides": [-2, 1]}
    tf |= {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2}
    yield Example(
        "TensorFlow",
        "x[::-2, 2]",
        "bs.strided_slice_grad([4, 6], begin=[0, 2], end=[0, 3], strides=[-2, 1], dy=dy,\n"
        "                      begin_mask=1, end_mask=1, shrink_axis_mask=2)",
        (4, 6),
        lambda x: x[::-2, 2],
        lambda dy: bs.strided_slice_grad([4, 6], dy=dy, **tf),
    )
    onnx: Any = {"starts": [5, 1], "ends": [0, 4], "axes": [1, 0], "steps": [-3, 1]}
    yield Example(
        "ONNX",
        "x[1:4, 5:0:-3]",
        "bs.onnx_slice_grad(dy, [4, 6], starts=[5, 1], ends=[0, 4],\n                   axes=[1, 0], steps=[-3, 1])",
        (4, 6),
        lambda x: x[1:4, 5:0:-3],
        lambda dy: bs.onnx_slice_grad(dy, [4, 6], **onnx),
    )


def brute_force(example: Example, dy: NDArray[Any]) -> NDArray[Any]:
    """dx[i] is the sum over all j of dy[j] times how much y[j] moves when x[i] moves by one."""
    dx = np.zeros(example.shape, dy.dtype)
    for i in np.ndindex(example.shape):
        one = np.zeros(example.shape, dy.dtype)
        one[i] = 1
        dx[i] = np.sum(dy * example.forward(one))
    return dx


def grid(values: NDArray[Any]) -> Table:
    table = Table(show_header=False)
    for row in np.atleast_2d(values):
        table.add_row(*(f"[dim]{v:g}[/]" if v == 0 else f"[bold green]{v:g}[/]" for v in row))
    return table


def run(console: Console | None = None) -> bool:
    """Shows every example; returns whether all agree with brute force."""
    console = console or Console()
    console.print(
        f"backslice {bs.__version__}. The gradient of a slice of x is dy where x was taken, zero elsewhere.\n"
    )
    all_agree = True
    for number, example in enumerate(examples(), 1):
        y_shape = example.forward(np.zeros(example.shape)).shape
        dy = np.arange(1.0, 1.0 + np.prod(y_shape)).reshape(y_shape)
        dx = example.gradient(dy)
        agrees = np.array_equal(dx, brute_force(example, dy))
        all_agree &= agrees
        console.print(f"[bold]{number}. {example.dialect}[/]: the gradient of ", end="")
        console.print(example.index, style="bold", highlight=False, markup=False)
        console.print(example.call, style="cyan", highlight=False, markup=False)
        for name, values in (("dy", dy), ("dx", dx)):
            console.print(f"{name}, shape {values.shape}:", highlight=False)
            console.print(grid(values))
        verdict = "[green]equal[/]" if agrees else "[red]DIFFERENT[/]"
        console.print(f"checked against a sum over all {dx.size} x {dy.size} pairs of elements: {verdict}\n")
    console.print("All gradients agree with brute force." if all_agree else "[red]Some gradients are wrong.[/]")
    return all_agree
