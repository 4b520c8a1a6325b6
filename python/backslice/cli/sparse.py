"""backslice sparse-grad."""

from typing import Any

import backslice as bs

from . import Failure
from .dtypes import named
from .inputs import read_arrays
from .outputs import Output, Stopwatch

BY_INDICES = ("backprop_val_grad", "input_indices", "input_start", "output_indices")
BY_SIZE = ("grad", "input_indices", "start", "size")


def sparse_grad(file: str, order: str, dtype: str | None, output: Output) -> dict[str, Any]:
    arrays = read_arrays(file)
    names = next((names for names in (BY_INDICES, BY_SIZE) if set(names) <= set(arrays)), None)
    if names is None:
        raise Failure(
            f"{file} must hold {', '.join(BY_INDICES)}; or {', '.join(BY_SIZE)}; "
            f"it holds {', '.join(sorted(arrays)) or 'nothing'}"
        )
    values = [named(arrays[name], dtype if i == 0 else None, f"{file}:{name}") for i, name in enumerate(names)]

    with Stopwatch() as watch:
        if names is BY_SIZE:
            gradient = bs.sparse_slice_grad_by_size(*values)
        else:
            gradient = bs.sparse_slice_grad(*values, order=order)  # type: ignore[arg-type]
        output.write_array(gradient)
    return output.report(gradient.shape, gradient.dtype, values[0].size, watch.seconds)
