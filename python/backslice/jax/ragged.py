"""The gradient of the values of a ragged tensor that was taken apart row by row."""

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .slices import multi_slice_grad


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
    splits = [operator.index(split) for split in row_splits]
    shape = tuple(operator.index(extent) for extent in dense_values_shape)
    _check_splits(splits, len(pieces), shape)
    taken = []
    for row, ((begin, end), piece) in enumerate(zip(pairwise(splits), pieces, strict=True)):
        if piece is None:
            continue
        if piece.shape != (end - begin, *shape[1:]):
            raise ValueError(f"pieces[{row}] has shape {piece.shape}, expected {(end - begin, *shape[1:])}")
        taken.append((slice(begin, end), piece))
    if not taken:
        raise ValueError("every piece is None, expected at least one array: the dtype is taken from it")
    return multi_slice_grad(shape, taken)


def _check_splits(splits: list[int], rows: int, shape: tuple[int, ...]) -> None:
    if len(splits) != rows + 1:
        raise ValueError(f"row_splits has {len(splits)} numbers, expected one more than the {rows} pieces")
    if not shape:
        raise ValueError("dense_values_shape is (), expected at least one axis: that of the rows")
    if splits[0] != 0 or splits[-1] != shape[0] or splits != sorted(splits):
        raise ValueError(
            f"row_splits is {splits}, expected numbers that rise from 0 to {shape[0]}, the extent of values"
        )
