"""backslice ragged-grad."""

import re
from typing import Any

import backslice as bs

from . import Failure, quoted
from .dtypes import item_dtype, named
from .inputs import read_arrays
from .outputs import Output, Stopwatch


def ragged_grad(file: str, dtype: str | None, output: Output) -> dict[str, Any]:
    """Read a file with row_splits (or row_splits_0, row_splits_1, ...: outermost first), dense_values_shape, and
    piece_<i>, the gradient of row i, for each row that has one."""
    arrays = read_arrays(file)
    splits = _row_splits(arrays, file)
    if "dense_values_shape" not in arrays:
        raise Failure(f"{file} has no array dense_values_shape, the shape of the values")
    rows = len(splits[0]) - 1
    pieces: list[Any] = [None] * max(rows, 0)
    for name, array in arrays.items():
        if name.startswith("row_splits") or name == "dense_values_shape":
            continue
        row = _row(name)
        if row is None:
            raise Failure(f"{file} holds {quoted(name)}, expected row_splits, dense_values_shape or piece_<i>")
        if row >= rows:
            raise Failure(f"{file} holds {quoted(name)}, but row_splits has {rows} rows")
        pieces[row] = named(array, dtype, f"{file}:{name}")
    if dtype is None and all(piece is None for piece in pieces):
        raise Failure(f"{file} holds no pieces to take the dtype from: name one, such as --dtype float32")
    kind = item_dtype(dtype) if dtype else None
    with Stopwatch() as watch:
        nested = splits if len(splits) > 1 else splits[0]
        encoded = bs.VariantArray(pieces)
        gradient = bs.ragged_tensor_to_variant_gradient(encoded, nested, arrays["dense_values_shape"], kind)
        output.write_array(gradient)
    selected = sum(piece.size for piece in pieces if piece is not None)
    return output.report(gradient.shape, gradient.dtype, selected, watch.seconds)


def _row(name: str) -> int | None:
    """Return i of piece_<i>. Rows beyond those of any tensor share one number."""
    match = re.fullmatch(r"piece_(0|[1-9][0-9]*)", name)
    return int(match[1][:20]) if match else None


def _row_splits(arrays: dict[str, Any], file: str) -> list[Any]:
    """Return row_splits alone, or row_splits_0, row_splits_1, ... without gaps."""
    given = sorted(name for name in arrays if name.startswith("row_splits"))
    nested = [f"row_splits_{i}" for i in range(len(given))]
    if not given:
        raise Failure(f"{file} has no array row_splits (or row_splits_0, row_splits_1, ... for nested rows)")
    if given != ["row_splits"] and set(given) != set(nested):
        raise Failure(
            f"{file} holds {', '.join(given)}: expected row_splits, or row_splits_0, row_splits_1, ... in turn"
        )
    splits = [arrays[name] for name in (given if given == ["row_splits"] else nested)]
    if splits[0].ndim != 1 or len(splits[0]) == 0:
        raise Failure(f"{file}: row_splits has shape {list(splits[0].shape)}, expected one axis and at least one entry")
    return splits
