"""Ragged tensors as arrays of variants, and the gradients of the conversions."""

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, SupportsIndex

from numpy.typing import DTypeLike, NDArray

from .ragged import RaggedTensor
from .types import Array, DType, Index, Ints, Output, Shape, Splits, SupportsRaggedParts

class VariantArray:
    """An array whose elements are ragged tensors, or None where one is missing.

    It stands for TensorFlow's tensors of variants.

    Parameters
    ----------
    elements : sequence of RaggedTensor, tf.RaggedTensor, array_like or None
        The elements in row-major order. An array is an element of ragged
        rank 0.
    shape : int, sequence of int or tf.TensorShape, optional
        The shape of the array. The default is one axis.

    Raises
    ------
    InvalidArgumentError
        The shape does not have as many elements.
    DTypeError
        An element is neither a RaggedTensor, an array nor None.

    Examples
    --------
    >>> array = bs.VariantArray([bs.RaggedTensor([1, 2], [0, 2]), None])
    >>> len(array), array[0].to_list(), array[1]
    (2, [[1, 2]], None)
    """

    def __init__(
        self, elements: Sequence[RaggedTensor | SupportsRaggedParts | Array | None], shape: Shape | None = None
    ) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""

    @property
    def device(self) -> str:
        """The device of the first existing element: ``"cpu"`` or ``"cuda:0"``."""

    def reshape(self, shape: Shape) -> VariantArray:
        """Return the same elements in another shape.

        Parameters
        ----------
        shape : int, sequence of int or tf.TensorShape
            A shape with as many elements.

        Returns
        -------
        VariantArray

        Raises
        ------
        InvalidArgumentError
            The shape has another number of elements.

        Examples
        --------
        >>> bs.VariantArray([None, None]).reshape((2, 1)).shape
        (2, 1)
        """

    def __len__(self) -> int: ...
    def __getitem__(self, index: Index) -> Any:
        """An element, or those that a partial index or slices take.

        Parameters
        ----------
        index : int, slice, Ellipsis, None, tuple of these, str or Selection
            An index of an array of this shape.

        Returns
        -------
        RaggedTensor, ndarray, None or VariantArray
            None for a missing element.
        """

    def __iter__(self) -> Iterator[Any]: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        """Refuse: each element is its own array.

        Raises
        ------
        DTypeError
            Always.
        """

    def __repr__(self) -> str: ...
    @property
    def _batch(self) -> RaggedTensor | None: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """For ``copy`` and ``pickle``."""

def ragged_tensor_to_variant(
    rt: RaggedTensor | SupportsRaggedParts | Array, batched_input: bool = True
) -> VariantArray:
    """Encode a ragged tensor as TensorFlow's RaggedTensorToVariant does. Nothing is copied.

    Parameters
    ----------
    rt : RaggedTensor, tf.RaggedTensor or array_like
        The ragged tensor to encode. An array has ragged rank 0.
    batched_input : bool, default: True
        One element per row. False makes a scalar that holds all of it.

    Returns
    -------
    VariantArray
        Elements of one ragged rank less, in an array of shape (rows,); or
        one element in an array of shape ().

    Raises
    ------
    InvalidArgumentError
        A scalar has no rows.
    DTypeError
        An argument has the wrong type, or the values have a dtype that
        backslice does not move.

    See Also
    --------
    ragged_tensor_from_variant : The way back.
    ragged_tensor_to_variant_gradient : Its gradient.

    Examples
    --------
    >>> rows = bs.ragged_tensor_to_variant(bs.RaggedTensor([1, 2, 3], [0, 2, 2, 3]))
    >>> [row.tolist() for row in rows]
    [[1, 2], [], [3]]
    """

def ragged_tensor_from_variant(
    encoded: VariantArray,
    input_ragged_rank: SupportsIndex,
    output_ragged_rank: SupportsIndex,
    Tvalues: DType | None = None,
    Tsplits: DType | None = None,
) -> RaggedTensor:
    """Decode what `ragged_tensor_to_variant` encoded, as TensorFlow's RaggedTensorFromVariant does.

    Parameters
    ----------
    encoded : VariantArray
        The elements become the rows of one ragged tensor.
    input_ragged_rank : int
        The ragged rank of each element; -1 for `output_ragged_rank` less
        the rank of `encoded`.
    output_ragged_rank : int
        The ragged rank of the result: the rank of `encoded` more than that
        of the elements. 0 stacks dense elements of one shape instead.
    Tvalues : dtype, tf.DType or torch.dtype, optional
        The dtype of the values. The default is that of the elements.
    Tsplits : dtype, tf.DType or torch.dtype, optional
        The dtype of the splits, int32 or int64. The default is that of the
        elements, or int64.

    Returns
    -------
    RaggedTensor

    Raises
    ------
    InvalidArgumentError
        An element is missing or of another ragged rank, or there is nothing
        to take `Tvalues` from.
    DTypeError
        `encoded` is not a VariantArray, or an element has another dtype
        than `Tvalues` or `Tsplits`.

    See Also
    --------
    ragged_tensor_from_variant_gradient : Its gradient.

    Examples
    --------
    >>> rows = bs.VariantArray([np.array([1, 2]), np.array([3])])
    >>> bs.ragged_tensor_from_variant(rows, 0, 1).to_list()
    [[1, 2], [3]]
    """

def ragged_tensor_to_variant_gradient(
    encoded_ragged_grad: VariantArray,
    row_splits: Splits | SupportsIndex,
    dense_values_shape: Ints,
    Tvalues: DType | None = None,
    *,
    out: Output | None = None,
    accumulate: bool = False,
) -> NDArray[Any]:
    """Compute TensorFlow's RaggedTensorToVariantGradient: the gradient of the values that were encoded.

    Parameters
    ----------
    encoded_ragged_grad : VariantArray
        The gradients of the elements, None for those that have none.
    row_splits : sequence of int, sequence of such sequences, or int
        The splits that were encoded: the outermost, or all of them, which
        missing elements of ragged rank 1 and more need. A scalar will do if
        no element is missing.
    dense_values_shape : sequence of int
        The shape of the values that were encoded.
    Tvalues : dtype, tf.DType or torch.dtype, optional
        The dtype of the values. The default is that of the elements.
    out : ndarray or other writable array with DLPack, optional
        Where to write the gradient: an array of that shape and dtype, which
        shares no memory with the elements.
    accumulate : bool, default: False
        Add the elements to `out`. Where Ctrl-C or an error ends the call, the
        exception's attribute `output_written` says whether some was added; if
        so, calling again would add that twice.

    Returns
    -------
    ndarray
        The values of the elements, one after the other, zeros for missing
        ones; or `out`.

    Raises
    ------
    InvalidArgumentError
        The elements do not fit the splits or the shape, there is nothing to
        take `Tvalues` from, `out` has another shape, arrays overlap, or
        `accumulate` is given without `out`.
    DTypeError
        `encoded_ragged_grad` is not a VariantArray, or dtypes differ.

    See Also
    --------
    ragged_tensor_to_variant : The forward operation.

    Examples
    --------
    >>> gradients = bs.VariantArray([np.array([1.0, 2.0]), None])
    >>> bs.ragged_tensor_to_variant_gradient(gradients, [0, 2, 3], [3])
    array([1., 2., 0.])
    """

def ragged_tensor_from_variant_gradient(
    decoded: RaggedTensor | SupportsRaggedParts | Array, encoded_shape: Shape
) -> VariantArray:
    """Compute the gradient of `ragged_tensor_from_variant`: encode the gradient as the input was.

    Parameters
    ----------
    decoded : RaggedTensor, tf.RaggedTensor or array_like
        What `ragged_tensor_from_variant` returned, with the gradient as its
        values.
    encoded_shape : int, sequence of int or tf.TensorShape
        The shape of the VariantArray that was decoded.

    Returns
    -------
    VariantArray
        An array of that shape with the gradients of the elements.

    Raises
    ------
    InvalidArgumentError
        The shape does not fit `decoded`.
    DTypeError
        An argument has the wrong type.

    Examples
    --------
    >>> gradient = bs.RaggedTensor([1.0, 2.0, 3.0], [0, 2, 3])
    >>> rows = bs.ragged_tensor_from_variant_gradient(gradient, (2,))
    >>> [row.tolist() for row in rows]
    [[1.0, 2.0], [3.0]]
    """
