"""Ragged tensors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .types import Array, DType, Index, Output, Splits, SupportsRaggedParts

class RaggedTensor:
    """Rows of different lengths, to any depth: values, and the splits between rows.

    Row i of the outermost list is ``values[splits[i]:splits[i + 1]]``.
    Values are held by reference and must not be changed; splits are checked
    and copied.

    Parameters
    ----------
    values : array_like
        The values of all rows, one after the other: an array of shape
        (values, ...) and any dtype, also one on a CUDA device.
    nested_row_splits : sequence of int, or sequence of such sequences
        The splits, from the outermost list to the innermost, int32 or
        int64. Each begins with 0, never decreases, and ends with the number
        of rows of the next. Those on a device are copied to the CPU.

    Raises
    ------
    InvalidArgumentError
        The splits are not valid, or do not fit the values.
    DTypeError
        The splits are not int32 or int64, or the values have a dtype that
        backslice does not move.

    See Also
    --------
    RaggedTensor.from_list, RaggedTensor.from_row_lengths

    Examples
    --------
    >>> bs.RaggedTensor([1, 2, 3], [0, 2, 2, 3])
    RaggedTensor([[1, 2], [], [3]], shape (3, None), dtype int64)
    """

    def __init__(self, values: Array, nested_row_splits: Splits) -> None: ...
    @staticmethod
    def from_row_lengths(values: Array, *nested_row_lengths: Any) -> RaggedTensor:
        """Make a RaggedTensor from the lengths of its rows.

        Parameters
        ----------
        values : array_like
            The values of all rows, one after the other.
        *nested_row_lengths : sequence of int
            The lengths of the rows, from the outermost list to the innermost.
            The splits are int32 where the lengths are, else int64.

        Returns
        -------
        RaggedTensor

        Raises
        ------
        InvalidArgumentError
            The lengths are not non-negative integers, or do not fit the values.
        DTypeError
            The values have a dtype that backslice does not move.

        Examples
        --------
        >>> bs.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1]).to_list()
        [[1, 2], [], [3]]
        """

    @staticmethod
    def from_list(rows: Sequence[Any], dtype: DType | None = None, ragged_rank: int | None = None) -> RaggedTensor:
        """Make a RaggedTensor from nested lists.

        Parameters
        ----------
        rows : sequence
            Lists of lists, to any depth, of numbers or strings.
        dtype : dtype, tf.DType or torch.dtype, optional
            The dtype of the values; numbers are converted to it if nothing is
            lost. The default is NumPy's choice.
        ragged_rank : int, optional
            How many levels of lists become splits; what lies below is regular.
            The default is all but one.

        Returns
        -------
        RaggedTensor

        Raises
        ------
        InvalidArgumentError
            The lists are not nested to one depth, or not regular below
            `ragged_rank`.
        DTypeError
            The values have no common dtype, or do not fit `dtype`.

        Examples
        --------
        >>> bs.RaggedTensor.from_list([[1, 2], [], [3]], dtype="float32").values
        array([1., 2., 3.], dtype=float32)
        """

    @property
    def values(self) -> NDArray[Any]:
        """The values of all rows, one after the other, as a read-only view; on a device, as an array of its library."""

    @property
    def nested_row_splits(self) -> tuple[NDArray[Any], ...]:
        """The splits, from the outermost list to the innermost, as read-only views."""

    @property
    def ragged_rank(self) -> int:
        """How many lists of splits there are."""

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape, None for axes whose extent differs from row to row."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the values."""

    @property
    def device(self) -> str:
        """The device of the values: ``"cpu"`` or ``"cuda:0"``. Splits are on the CPU."""

    def cpu(self) -> RaggedTensor:
        """Copy the values to the CPU.

        Returns
        -------
        RaggedTensor
            One with values of NumPy's, or the same values where they are on the
            CPU already.

        Examples
        --------
        >>> bs.RaggedTensor([1, 2, 3], [0, 2, 3]).cpu().device
        'cpu'
        """

    def to_list(self) -> list[Any]:
        """Convert to nested lists.

        Returns
        -------
        list

        Examples
        --------
        >>> bs.RaggedTensor([1, 2, 3], [0, 2, 2, 3]).to_list()
        [[1, 2], [], [3]]
        """

    def slice_grad(
        self,
        index: Index,
        grad: RaggedTensor | SupportsRaggedParts | Array,
        *,
        out: Output | None = None,
        accumulate: bool = False,
    ) -> NDArray[Any]:
        """Compute the gradient of ``self[index]`` with respect to `values`.

        Parameters
        ----------
        index : int, slice, Ellipsis, None, tuple of these, str or Selection
            The index of the slice: any index that ``self[index]`` accepts.
        grad : RaggedTensor, tf.RaggedTensor or array_like
            The gradient of ``self[index]``, or of its values.
        out : ndarray or other writable array with DLPack, optional
            Where to write the gradient: an array of the shape and dtype of
            `values`, which shares no memory with `grad`.
        accumulate : bool, default: False
            Add `grad` to `out` where the values were taken from, and leave the
            rest of `out` as it is. Where Ctrl-C or an error ends the call, the
            exception's attribute `output_written` says whether some was added;
            if so, calling again would add that twice.

        Returns
        -------
        ndarray
            A new array of the shape of `values`, or `out`; zero for values that
            were not taken.

        Raises
        ------
        OutOfRangeError
            An integer index is out of bounds.
        InvalidArgumentError
            The index is not one of this tensor, `grad` or `out` has another
            shape, arrays overlap, or `accumulate` is given without `out`.
        DTypeError
            `grad` has another dtype than the values, or the values are strings.

        Examples
        --------
        >>> rows = bs.RaggedTensor([1.0, 2.0, 3.0], [0, 2, 2, 3])
        >>> rows.slice_grad(0, [5.0, 6.0])
        array([5., 6., 0.])
        """

    def _repr_svg_(self) -> str: ...
    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: Index) -> Any:
        """Return the elements that an index selects, by TensorFlow's rules.

        Parameters
        ----------
        index : int, slice, Ellipsis, None, tuple of these, str or Selection
            Rows by an integer or a slice, ragged axes by slices of any step,
            uniform inner axes by either. An integer takes one row, and what
            follows it indexes that row. A Selection is one of the rows.

        Returns
        -------
        RaggedTensor or ndarray
            An array if integers took one row of every ragged axis. Values are
            shared if they lie together.

        Raises
        ------
        InvalidArgumentError
            An integer is given for a ragged axis after a slice, or a new axis
            before integers that leave nothing ragged.
        OutOfRangeError
            An integer is out of bounds.

        Examples
        --------
        >>> rt = bs.RaggedTensor.from_list([[1, 2], [], [3, 4, 5]])
        >>> rt[:, 1:].to_list()
        [[2], [], [4, 5]]
        >>> rt[2, ::-1]
        array([5, 4, 3])
        """

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The values of a tensor of ragged rank 0, which is an array.

        Raises
        ------
        DTypeError
            The ragged rank is not 0.
        """

    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """For ``copy`` and ``pickle``."""

    def __eq__(self, other: object) -> bool:
        """Compare with another RaggedTensor: the same dtype, rows and values, bit for bit.

        NaN equals the same NaN, and 0.0 differs from -0.0. Splits may be int32
        in one and int64 in the other.
        """

    def __repr__(self) -> str: ...
    __hash__: None  # type: ignore[assignment]
