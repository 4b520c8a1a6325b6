"""Draws the pictures of the manual into docs/images. The tests compare the stored ones with what is drawn now."""

from pathlib import Path

import backslice as bs
import numpy as np
from backslice import picture
from backslice.cli.tour import counting
from backslice.picture import Cell, Kind, Panel, Picture
from backslice.picture.containers import of_array, of_entries, of_ragged


def gradient(title: str, selection: bs.Selection) -> Picture:
    """What a slice takes, dy, and dx."""
    dy = counting(*selection.result_shape)
    dx = bs.slice_grad(dy, selection.shape, selection)
    (taken,) = picture.of(selection).panels
    panels = [Panel("x: what is taken", taken.rows), of_array(dy, "dy"), of_array(dx, "dx")]
    return Picture(title, panels, ["dx is dy where x was taken from, zero elsewhere."])


def sparse() -> Picture:
    indices, start, size = [[0, 1], [1, 0], [1, 2], [3, 1]], [1, 0], [2, 3]
    x, dy = counting(4), np.array([5.0, 7.0])
    dx = bs.sparse_slice_grad_by_size(dy, np.array(indices), start, size)
    panels = [
        of_entries(indices, x, (4, 3), "x: entries, the window's in colour", start, size),
        of_array(dy, "dy"),
        of_entries(indices, dx, (4, 3), "dx: the same entries"),
    ]
    return Picture("SparseSliceGrad: start [1, 0], size [2, 3]", panels, ["Entries outside the window get zero."])


def tensor_array() -> Picture:
    writes = [[1, [1.0, 1.0]], [2, [5.0, 6.0]], [1, [10.0, 10.0]]]
    states = bs.TensorArray(4, "float64", (2,))
    gradient = states.grad("loss")
    for index, value in writes:
        gradient.write(index, value)
    dx = gradient.stack()
    panels = [
        of_array([value for _, value in writes], "writes, in order", [f"to {index}" for index, _ in writes]),
        of_array(dx, "dx: the sum at each index", range(4)),
    ]
    return Picture("TensorArrayGradWithShape", panels, ["What is never written reads as zeros of the element's shape."])


def ragged() -> Picture:
    splits = [0, 2, 2, 5, 6]
    rt = bs.RaggedTensor(counting(6), splits)
    rows = bs.ragged_tensor_to_variant(rt)
    pieces = [2 * rows[0], None, 2 * rows[2], None]
    dx = bs.ragged_tensor_to_variant_gradient(bs.VariantArray(pieces), splits, [6])
    shown = [[] if p is None else [Cell(Kind.TAKEN, f"{v:g}") for v in p] for p in pieces]
    labels = [str(i) if p is not None else f"{i} missing" for i, p in enumerate(pieces)]
    panels = [Panel("x, row by row", of_ragged(rt).panels[0].rows, list("0123")), Panel("pieces", shown, labels)]
    panels.append(of_array(dx, "dx, flat"))
    return Picture("RaggedTensorToVariantGradient", panels, ["The pieces one after the other; zeros for missing ones."])


def pictures() -> dict[str, str]:
    """SVG by file name."""
    from_index, from_tf, from_onnx = bs.Selection.from_index, bs.Selection.from_tf, bs.Selection.from_onnx
    drawn = {
        "strided_slice_grad": gradient(
            "StridedSliceGrad: begin [0, 2], end [0, 3], strides [-2, 1], masks 1, 1, shrink 2",
            from_tf((4, 6), [0, 2], [0, 3], [-2, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2),
        ),
        "slice_grad": gradient("The gradient of x[1:3, ::2]", from_index((4, 6), "1:3, ::2")),
        "onnx_slice_grad": gradient(
            "SliceGrad: starts [5, 1], ends [0, 4], axes [1, 0], steps [-3, 1]",
            from_onnx((4, 6), [5, 1], [0, 4], [1, 0], [-3, 1]),
        ),
        "sparse_slice_grad": sparse(),
        "tensor_array_grad": tensor_array(),
        "ragged_gradient": ragged(),
        "selection": picture.of(from_index((4, 6), "1:3, ::-2")),
        "blocks": picture.of(from_index((4096, 4096), "1000:3072, 500::2")),
        "slabs": picture.of(from_index((3, 4, 5), "1:, ::2, ::-1")),
    }
    return {f"{name}.svg": picture.svg(drawing) for name, drawing in drawn.items()}


if __name__ == "__main__":
    folder = Path(__file__).parents[1] / "docs" / "images"
    folder.mkdir(exist_ok=True)
    for name, svg in pictures().items():
        (folder / name).write_text(svg)
        print(folder / name)
