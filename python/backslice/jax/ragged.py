"""The gradient of the values of a ragged tensor that was split into rows."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .._core import Selection
from .arguments import array_argument, list_argument, shape_argument
from .slices import gradient_of


def ragged_gradient(pieces: Sequence[Any], row_splits: Sequence[int], dense_values_shape: Sequence[int]) -> Any:
    """Put the gradients of the rows of a ragged tensor together.

    Parameters
    ----------
    pieces : sequence of jax.Array or None
        The gradient of each row, an array ``[length of the row, ...]``; None where a row has none, for zeros.
    row_splits : sequence of int
        Where each row begins and the last one ends, known while JAX traces: one more than there are rows.
    dense_values_shape : sequence of int
        The shape of the values.

    Returns
    -------
    jax.Array
        An array of that shape: the pieces one after the other.

    Raises
    ------
    ValueError
        Every piece is None, a piece has another shape than its row, or the splits do not fit the pieces or the values.
    TypeError
        A split is a traced value, or the pieces have different dtypes.

    Examples
    --------
    >>> bsj.ragged_gradient([jnp.ones(2), None, jnp.ones(1)], [0, 2, 3, 4], (4,))
    Array([1., 1., 0., 1.], dtype=float32)
    """
    splits = shape_argument(row_splits, "row_splits")
    shape = shape_argument(dense_values_shape, "dense_values_shape")
    given = list_argument(pieces, "pieces", "an array or None per row")
    _check_splits(splits, len(given), shape)
    taken = {}
    for row, ((begin, end), piece) in enumerate(zip(pairwise(splits), given, strict=True)):
        if piece is None:
            continue
        array = array_argument(piece, f"pieces[{row}]")
        if array.shape != (end - begin, *shape[1:]):
            raise ValueError(f"pieces[{row}] has shape {array.shape}, expected {(end - begin, *shape[1:])}")
        taken[f"pieces[{row}]"] = (Selection.from_index(shape, slice(begin, end)), array)
    if not taken:
        raise ValueError("every piece is None, expected at least one array: the dtype is taken from it")
    return gradient_of([dy for _, dy in taken.values()], tuple(s for s, _ in taken.values()), list(taken))


def _check_splits(splits: tuple[int, ...], rows: int, shape: tuple[int, ...]) -> None:
    if len(splits) != rows + 1:
        raise ValueError(f"row_splits has {len(splits)} numbers, expected one more than the {rows} pieces")
    if not shape:
        raise ValueError("dense_values_shape is (), expected at least one axis: that of the rows")
    if splits[0] != 0 or splits[-1] != shape[0] or list(splits) != sorted(splits):
        raise ValueError(
            f"row_splits is {list(splits)!r:.200}, "
            f"expected numbers that rise from 0 to {shape[0]}, the extent of values"
        )
