"""backslice demo: a tour of the five operations, with pictures, each checked by brute force."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

import backslice as bs

from ..picture.containers import of_array, of_entries, of_ragged
from ..picture.model import Picture
from ..picture.selections import of_selection
from ..picture.terminal import terminal

Array = NDArray[Any]


@dataclass(frozen=True)
class Step:
    """One operation: its computation, its call, and the proof that it is right."""

    operation: str
    says: str
    code: str
    pictures: list[Picture]
    found: Array  # the gradient, as a vector
    forward: Callable[[Array], Array]  # the same as a function of the vector x
    dy: Array


def brute_force(step: Step) -> Array:
    """Compute dx[i] as the sum over all j of dy[j] times the change of y[j] when x[i] changes by one."""
    moves = np.eye(step.found.size)
    return np.array([np.sum(step.dy * step.forward(one)) for one in moves])


def counting(*shape: int) -> Array:
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)


def strided_slice() -> Step:
    spec: Any = {"begin": [0, 2], "end": [0, 3], "strides": [-2, 1]}
    spec |= {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2}
    selection = bs.Selection.from_tf((4, 6), **spec)
    dy = counting(2)
    dx = bs.strided_slice_grad([4, 6], dy=dy, **spec)
    return Step(
        "TensorFlow's StridedSliceGrad",
        "The gradient of a slice is dy where the slice takes from x, and zero elsewhere. Masks drop bounds and axes.",
        "dx = bs.strided_slice_grad([4, 6], [0, 2], [0, 3], [-2, 1], dy,\n"
        "                           begin_mask=1, end_mask=1, shrink_axis_mask=2)",
        [of_selection(selection), Picture("", [of_array(dy, "dy"), of_array(dx, "dx")])],
        dx.ravel(),
        lambda x: x.reshape(4, 6)[::-2, 2],
        dy,
    )


def onnx_slice() -> Step:
    spec: Any = {"starts": [5, 1], "ends": [0, 4], "axes": [1, 0], "steps": [-3, 1]}
    selection = bs.Selection.from_onnx((4, 6), **spec)
    dy = counting(3, 2)
    dx = bs.onnx_slice_grad(dy, [4, 6], **spec)
    return Step(
        "ONNX Runtime's SliceGrad",
        "ONNX lists axes in any order, and a negative step goes backwards.",
        "dx = bs.onnx_slice_grad(dy, [4, 6], starts=[5, 1], ends=[0, 4],\n"
        "                        axes=[1, 0], steps=[-3, 1])",
        [of_selection(selection), Picture("", [of_array(dy, "dy"), of_array(dx, "dx")])],
        dx.ravel(),
        lambda x: x.reshape(4, 6)[1:4, 5:0:-3],
        dy,
    )


def sparse_slice() -> Step:
    indices, start, size = [[0, 1], [1, 0], [1, 2], [3, 1]], [1, 0], [2, 3]
    x = counting(4)
    at, _, _ = bs.sparse_slice(np.array(indices), x, [4, 3], start, size)
    dy = np.array([5.0, 7.0])
    dx = bs.sparse_slice_grad(dy, np.array(indices), start, at)
    return Step(
        "TensorFlow's SparseSliceGrad",
        "A window slices a sparse matrix: rows 1 and 2, all columns. Each entry inside it receives its gradient.",
        "at, y, shape = bs.sparse_slice(indices, x, [4, 3], [1, 0], [2, 3])\n"
        "dx = bs.sparse_slice_grad(dy, indices, [1, 0], at)",
        [
            Picture("", [of_entries(indices, x, (4, 3), "x, the window in colour", start, size),
                         of_array(dy, "dy"), of_entries(indices, dx, (4, 3), "dx")]),
        ],
        dx,
        lambda v: bs.sparse_slice(np.array(indices), v, [4, 3], start, size)[1],
        dy,
    )  # fmt: skip


def tensor_array() -> Step:
    x = counting(3, 2)
    states = bs.TensorArray(3, "float64", (2,), clear_after_read=False, name="states")
    states.unstack(x)
    dy = np.array([[1.0, 1.0], [10.0, 10.0]])
    gradient = states.grad_with_shape("loss", [])
    gradient.write(1, dy[0])
    gradient.write(1, dy[1])
    dx = gradient.stack()
    return Step(
        "TensorFlow's TensorArrayGradWithShape",
        "A loop reads element 1 twice. The gradient array adds up what is written to an index; other indices are zero.",
        'gradient = states.grad_with_shape("loss", shape_to_prepend=[])\n'
        "gradient.write(1, [1, 1]); gradient.write(1, [10, 10])\n"
        "dx = gradient.stack()",
        [Picture("", [of_array(x, "states"), of_array(dx, "dx, by index", range(3))])],
        dx.ravel(),
        lambda v: np.stack([v.reshape(3, 2)[1]] * 2),
        dy,
    )


def ragged() -> Step:
    rt = bs.RaggedTensor(counting(6), [0, 2, 2, 5, 6])
    rows = bs.ragged_tensor_to_variant(rt)
    pieces = bs.VariantArray([2 * rows[0], None, 2 * rows[2], None])
    dx = bs.ragged_tensor_to_variant_gradient(pieces, [0, 2, 2, 5, 6], [6])
    taken = np.r_[0:2, 2:5]
    return Step(
        "TensorFlow's RaggedTensorToVariantGradient",
        "Rows of different lengths, each encoded alone. The loss squares rows 0 and 2; the others have no gradient.",
        "rows = bs.ragged_tensor_to_variant(rt)\n"
        "pieces = bs.VariantArray([2 * rows[0], None, 2 * rows[2], None])\n"
        "dx = bs.ragged_tensor_to_variant_gradient(pieces, [0, 2, 2, 5, 6], [6])",
        [of_ragged(rt), Picture("", [of_array(dx, "dx")])],
        dx,
        lambda v: v[taken],
        2 * rt.values[taken],
    )


def steps() -> Iterator[Step]:
    for make in (strided_slice, onnx_slice, sparse_slice, tensor_array, ragged):
        yield make()


def run(console: Console) -> bool:
    """Show every step and return whether all agree with brute force."""
    console.print(f"backslice {bs.__version__}: the backward pass of slicing, in five steps.", highlight=False)
    all_agree = True
    for number, step in enumerate(steps(), 1):
        agrees = np.array_equal(step.found, brute_force(step))
        all_agree &= agrees
        console.print()
        console.print(Text(f"{number}. {step.operation}", style="bold underline"))
        console.print(step.says, highlight=False)
        console.print(Padding(Text(step.code, style="cyan"), (1, 2)))
        for picture in step.pictures:
            if picture.title:
                console.print(Padding(Text(picture.title, style="bold"), (0, 2)))
            console.print(Padding(terminal(picture, console), (0, 2)))
        verdict = "[green]equal[/]" if agrees else "[red]DIFFERENT[/]"
        pairs = f"{step.found.size} x {step.dy.size}"
        console.print(f"  checked by brute force over all {pairs} pairs of elements: {verdict}", highlight=False)
    console.print()
    if not all_agree:
        console.print("[red]Some gradients are wrong.[/]")
        return False
    console.print("All gradients agree with brute force.")
    console.print('Next: backslice explain 4,6 "1:3, ::2"; backslice --help; the manual in docs/.', highlight=False)
    return True
