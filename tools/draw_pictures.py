"""Draws the pictures of the manual into docs/images, each from the code block beside it (see tools/manual_pages.py).

The tests compare the stored pictures with newly drawn ones.
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import backslice as bs
import manual_pages
import numpy as np
from backslice import dialects, picture
from backslice.dask.pieces import Chunks, Slice, grid
from backslice.picture import Cell, Kind, Panel, Picture
from backslice.picture.containers import of_array, of_entries, of_ragged
from manual_pages import Marker


def gradient(selection: bs.Selection, dy: Any, dx: Any, title: str = "") -> Picture:
    """Draw the selected elements, dy, and dx."""
    must_agree(dx, bs.slice_grad(dy.reshape(selection.result_shape), selection.shape, selection))
    (taken,) = picture.of(selection).panels
    panels = [Panel("x: what is taken", taken.rows), of_array(dy, "dy"), of_array(dx, "dx")]
    title = title or f"The gradient of {dialects.index_text(selection)}"
    return Picture(title, panels, ["dx is dy where x was taken from, zero elsewhere."])


def tf_gradient(dy: Any, dx: Any, **spec: Any) -> Picture:
    return gradient(bs.Selection.from_tf(dx.shape, **spec), dy, dx, f"StridedSliceGrad: {lists_of(spec)}")


def onnx_gradient(dy: Any, dx: Any, **spec: Any) -> Picture:
    return gradient(bs.Selection.from_onnx(dx.shape, **spec), dy, dx, f"SliceGrad: {lists_of(spec)}")


def lists_of(spec: dict[str, Any]) -> str:
    """begin [0, 2], end [0, 3]"""
    return ", ".join(f"{name} {value}" for name, value in spec.items() if isinstance(value, list))


def sparse_gradient(indices: Any, x: Any, dy: Any, dx: Any, shape: Any, start: Any, size: Any) -> Picture:
    must_agree(dx, bs.sparse_slice_grad_by_size(dy, indices, start, size))
    panels = [
        of_entries(indices, x, shape, "x: entries, the window's in colour", start, size),
        of_array(dy, "dy"),
        of_entries(indices, dx, shape, "dx: the same entries"),
    ]
    return Picture(f"SparseSliceGrad: start {start}, size {size}", panels, ["Entries outside the window get zero."])


def tensor_array_gradient(writes: Sequence[tuple[int, Sequence[float]]], dx: Any) -> Picture:
    must_agree(dx, [sum((np.array(v) for i, v in writes if i == row), np.zeros(dx.shape[1])) for row in range(len(dx))])
    panels = [
        of_array(np.array([value for _, value in writes]), "writes, in order", [f"to {index}" for index, _ in writes]),
        of_array(dx, "dx: the sum at each index", range(len(dx))),
    ]
    return Picture("TensorArrayGradWithShape", panels, ["What is never written reads as zeros of the element's shape."])


def ragged_gradient(rt: bs.RaggedTensor, pieces: bs.VariantArray, dx: Any) -> Picture:
    must_agree(dx, bs.ragged_tensor_to_variant_gradient(pieces, rt.nested_row_splits[0], dx.shape))
    shown = [[] if p is None else [Cell(Kind.TAKEN, f"{v:g}") for v in p] for p in pieces]
    labels = [str(i) if p is not None else f"{i} missing" for i, p in enumerate(pieces)]
    rows = of_ragged(rt).panels[0].rows
    panels = [Panel("x, row by row", rows, [str(i) for i in range(len(rows))]), Panel("pieces", shown, labels)]
    panels.append(of_array(dx, "dx, flat"))
    return Picture("RaggedTensorToVariantGradient", panels, ["The pieces one after the other; zeros for missing ones."])


def chunks_that_meet(selection: bs.Selection, dx_chunks: Chunks, dy_chunks: Chunks) -> Picture:
    """Draw the chunks of dy under letters, and the letters that each chunk of dx needs."""
    letters = {block: chr(ord("a") + n) for n, block in enumerate(np.ndindex(*map(len, dy_chunks)))}
    taken, (rows, columns) = Slice(selection, grid(dx_chunks), grid(dy_chunks)), map(len, dx_chunks)
    needed = [
        ["".join(letters[block] for block in taken.dy_blocks((i, j))) for j in range(columns)] for i in range(rows)
    ]
    cells = [[Cell(Kind.TAKEN if text else Kind.LEFT, text) for text in row] for row in needed]
    named = [[Cell(Kind.TAKEN, letters[i, j]) for j in range(len(dy_chunks[1]))] for i in range(len(dy_chunks[0]))]
    panels = [Panel("dy, chunk by chunk", named), Panel("dx: the chunks of dy that each chunk needs", cells)]
    title = f"The gradient of {dialects.index_text(selection)}"
    return Picture(title, panels, ["Chunks of dx without a letter are zeros."])


def explained(shape: str, index: str) -> Picture:
    """Draw what `backslice explain SHAPE INDEX` shows."""
    return picture.of(bs.Selection.from_index(dialects.integers(shape, "shape"), index))


def must_agree(shown: Any, computed: Any) -> None:
    if not np.array_equal(shown, computed):
        raise ValueError(f"the marker says something else than the code:\n{computed}\nis not\n{shown}")


DRAWINGS: list[Callable[..., Picture]] = [
    gradient, tf_gradient, onnx_gradient, sparse_gradient, tensor_array_gradient, ragged_gradient,
    chunks_that_meet, explained,
]  # fmt: skip


def drawn(marker: Marker) -> Picture:
    """Return the picture of a marker. Its page's Python runs first, unless the marker is beside a command."""
    session: dict[str, Any] = {"bs": bs, "np": np, "of": picture.of}
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            for block in marker.blocks if marker.blocks[-1].language == "python" else []:
                if block.language == "python":
                    exec(compile(block.code, str(marker.page), "exec"), session)
        finally:
            os.chdir(before)
    return eval(marker.expression, session | {function.__name__: function for function in DRAWINGS})


def pictures() -> dict[str, str]:
    """Return the SVG by file name. Two pages with one picture must agree."""
    found: dict[str, str] = {}
    for page in manual_pages.PAGES:
        for marker in manual_pages.markers(page):
            svg = picture.svg(drawn(marker))
            if found.setdefault(marker.file.name, svg) != svg:
                raise ValueError(f"{page.name} shows {marker.file.name} with another meaning: give it another name")
    return found


if __name__ == "__main__":
    folder = manual_pages.ROOT / "docs" / "images"
    folder.mkdir(exist_ok=True)
    for name, svg in pictures().items():
        (folder / name).write_text(svg)
        print(folder / name)
