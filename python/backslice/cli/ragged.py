"""backslice ragged-grad."""

import re
from pathlib import Path
from typing import Any

import backslice as bs

from . import Failure
from .boxes import timed
from .dtypes import dtype_name, dtype_of_name, named
from .inputs import read_npz
from .outputs import Output


def ragged_grad(file: str, dtype: str | None, output: Output) -> dict[str, Any]:
    """The file holds row_splits (or row_splits_0, row_splits_1, ...: outermost first), dense_values_shape, and
    piece_<i>, the gradient of row i, for the rows that have one."""
    arrays = read_npz(Path(file))
    splits = _row_splits(arrays, file)
    if "dense_values_shape" not in arrays:
        raise Failure(f"{file} has no array dense_values_shape, the shape of the values")
    rows = len(splits[0]) - 1
    pieces: list[Any] = [None] * max(rows, 0)
    for name, array in arrays.items():
        match = re.fullmatch(r"piece_(\d+)", name)
        if not match and not name.startswith("row_splits") and name != "dense_values_shape":
            raise Failure(
                f"{file} holds {name!r}, which means nothing here: row_splits, dense_values_shape or piece_<i>"
            )
        if match and int(match[1]) >= rows:
            raise Failure(f"{file} holds {name}, but row_splits has {rows} rows")
        if match:
            pieces[int(match[1])] = named(array, dtype, f"{file}:{name}")
    if dtype is None and all(piece is None for piece in pieces):
        raise Failure(f"{file} holds no pieces to take the dtype from: say it, such as --dtype float32")
    shape = arrays["dense_values_shape"]
    result = dtype_of_name(dtype) if dtype else None
    seconds = timed(
        lambda: output.write_array(
            bs.ragged_tensor_to_variant_gradient(
                bs.VariantArray(pieces), splits if len(splits) > 1 else splits[0], shape, result
            )
        )
    )
    found = result or next(piece.dtype for piece in pieces if piece is not None)
    size = int(shape.prod()) * found.itemsize
    return {
        "output": output.text,
        "shape": shape.tolist(),
        "dtype": dtype_name(found),
        "bytes": size,
        "selected": sum(piece.size for piece in pieces if piece is not None),
        "seconds": seconds,
    }


def _row_splits(arrays: dict[str, Any], file: str) -> list[Any]:
    if "row_splits" in arrays:
        splits = [arrays["row_splits"]]
    else:
        count = sum(name.startswith("row_splits_") for name in arrays)
        splits = [arrays[name] for i in range(count) if (name := f"row_splits_{i}") in arrays]
    if not splits:
        raise Failure(f"{file} has no array row_splits (or row_splits_0, row_splits_1, ... for nested rows)")
    if splits[0].ndim != 1 or len(splits[0]) == 0:
        raise Failure(f"{file}: row_splits has shape {list(splits[0].shape)}, expected one axis and at least one entry")
    return splits
