"""backslice grad and backslice slice."""

import math
from typing import Any

from .. import dialects
from . import Failure
from .arguments import read_selection
from .boxes import write_gradient, write_slice
from .inputs import read_array
from .outputs import Output, Stopwatch


def grad(
    dy_file: str, shape: tuple[int, ...], spec: dialects.Spec, dtype: str | None, output: Output
) -> dict[str, Any]:
    selection = read_selection(spec, shape)
    dy = read_array(dy_file, dtype)
    selection.cost(dy.dtype)  # refuses unsupported gradients before any work
    if spec.dialect == "onnx" and dy.shape != selection.result_shape and dy.size == math.prod(selection.result_shape):
        dy = dy.reshape(selection.result_shape)  # as ONNX Runtime reads it
    if dy.shape != selection.result_shape:
        raise Failure(
            f"{dy_file} has shape {list(dy.shape)}, but the slice of {list(shape)} has shape "
            f"{list(selection.result_shape)}: check --shape and the slice"
        )
    with Stopwatch() as watch:
        output.write(shape, dy.dtype, lambda out: write_gradient(selection, dy, out))
    return output.report(shape, dy.dtype, dy.size, watch.seconds)


def slice_(x_file: str, spec: dialects.Spec, dtype: str | None, output: Output) -> dict[str, Any]:
    x = read_array(x_file, dtype)
    selection = read_selection(spec, x.shape)
    shape = selection.result_shape
    with Stopwatch() as watch:
        output.write(shape, x.dtype, lambda out: write_slice(selection, x, out))
    return output.report(shape, x.dtype, math.prod(shape), watch.seconds)
