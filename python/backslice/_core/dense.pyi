"""Slices of dense arrays and their gradients."""

from typing import Any

from numpy.typing import NDArray

from .types import Array, DType, Index, Ints, Output, Shape, SupportsExtents

def slice(x: Array, index: Index, out: Output | None = None) -> NDArray[Any]:
    """Slice an array: ``x[index]``, as a new array.

    Parameters
    ----------
    x : array_like
        Any array on the CPU: NumPy's, one with DLPack, or what
        ``np.asarray`` accepts; any shape, strides and dtype.
    index : int, slice, Ellipsis, None, tuple of these, str or Selection
        NumPy's basic indexing, its text such as ``"1:3, ::2"``, or a
        Selection.
    out : ndarray or other writable array with DLPack, optional
        Where to write the slice: an array of the slice's shape and the
        dtype of `x`, which shares no memory with `x`.

    Returns
    -------
    ndarray
        A new array, or `out`; never a view of `x`.

    Raises
    ------
    OutOfRangeError
        An integer index is out of bounds, or the index has too many items.
    UnimplementedError
        The index asks for advanced indexing: it has a list, an array of
        integers or a mask.
    InvalidArgumentError
        A step is zero, or `out` has another shape or overlaps `x`.
    DTypeError
        `x` has a dtype that backslice does not move, or `out` has another
        dtype than `x`.

    See Also
    --------
    slice_grad : Its gradient.
    strided_slice, onnx_slice : The same with the arguments of TensorFlow and ONNX.

    Examples
    --------
    >>> bs.slice([[1, 2, 3], [4, 5, 6]], np.s_[:, ::2])
    array([[1, 3],
           [4, 6]])
    """

def slice_grad(
    dy: Array,
    shape: Shape,
    index: Index,
    out: Output | None = None,
    accumulate: bool = False,
    *,
    dtype: DType | None = None,
) -> NDArray[Any]:
    """Compute the gradient of ``y = x[index]`` with respect to `x`.

    The result has the shape of `x`: `dy` where the slice takes its elements
    from, zero elsewhere. Each byte is written once, instead of filling with
    zeros first and copying `dy` then.

    Parameters
    ----------
    dy : array_like
        The gradient with respect to `y`, whose shape is that of
        ``x[index]`` or broadcasts to it. Any array on the CPU: NumPy's, one
        with DLPack, or what ``np.asarray`` accepts; any strides and dtype.
        Or a Python number, whose dtype `dtype` or `out` says.
    shape : int, sequence of int or tf.TensorShape
        The shape of `x`.
    index : int, slice, Ellipsis, None, tuple of these, str or Selection
        NumPy's basic indexing, its text such as ``"1:3, ::2"``, or a
        Selection.
    out : ndarray or other writable array with DLPack, optional
        Where to write the gradient: an array of that shape and the dtype of
        `dy`, with any strides, which shares no memory with `dy`.
    accumulate : bool, default: False
        Add instead: ``out[index] += dy``. The rest of `out` stays as it is.
        Where Ctrl-C or an error ends the call, the exception's attribute
        `output_written` says whether some was added; if so, calling again
        would add that twice.
    dtype : dtype, tf.DType or torch.dtype, optional
        The dtype of a Python number or a list. By default a number takes
        the dtype of `out`.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Raises
    ------
    OutOfRangeError
        An integer index is out of bounds, or the index has too many items.
    UnimplementedError
        The index asks for advanced indexing: it has a list, an array of
        integers or a mask.
    InvalidArgumentError
        `dy` or `out` has another shape, they overlap, or `accumulate` is
        given without `out`.
    DTypeError
        `dy` has a dtype that backslice does not move or cannot add, or
        `out` or `dtype` is another; or `dy` is a Python number, and nothing
        says its dtype.

    See Also
    --------
    slice : The forward operation, and the gradient of this one with respect to `dy`.
    multi_slice_grad : The sum of the gradients of many slices of one tensor.
    strided_slice_grad, onnx_slice_grad : The same with the arguments of TensorFlow and ONNX.

    Examples
    --------
    >>> bs.slice_grad([1.0, 2.0], (4,), np.s_[1:3])
    array([0., 1., 2., 0.])

    Add the gradient of a second slice to the first:

    >>> dx = bs.slice_grad([1.0, 2.0], (4,), "1:3")
    >>> bs.slice_grad([5.0, 6.0], (4,), "::2", out=dx, accumulate=True)
    array([5., 1., 8., 0.])

    One value, or one row, stands for all:

    >>> bs.slice_grad(1, (4,), "1:3", dtype="float32")
    array([0., 1., 1., 0.], dtype=float32)
    >>> bs.slice_grad([1.0, 2.0, 3.0], (3, 3), "1:")
    array([[0., 0., 0.],
           [1., 2., 3.],
           [1., 2., 3.]])
    """

def strided_slice(
    input: Array,
    begin: Ints,
    end: Ints,
    strides: Ints | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    *,
    out: Output | None = None,
) -> NDArray[Any]:
    """Slice an array with the arguments of TensorFlow's StridedSlice.

    Parameters
    ----------
    input : array_like
        Any array on the CPU, of any shape, strides and dtype.
    begin, end : sequence of int
        One entry per item of the slice, all of the same length. Arrays are
        int16, int32 or int64, all of one dtype.
    strides : sequence of int, optional
        The same. The default is ones.
    begin_mask : int, default: 0
        Bit i: ignore ``begin[i]``, and start as early as possible.
    end_mask : int, default: 0
        Bit i: ignore ``end[i]``, and go as far as possible.
    ellipsis_mask : int, default: 0
        Bit i: item i is an ellipsis. At most one bit.
    new_axis_mask : int, default: 0
        Bit i: item i is a new axis of extent 1.
    shrink_axis_mask : int, default: 0
        Bit i: item i is the integer index ``begin[i]``, and its axis is
        dropped.
    out : ndarray or other writable array with DLPack, optional
        Where to write the slice: an array of its shape and the dtype of
        `input`, which shares no memory with `input`.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Raises
    ------
    InvalidArgumentError
        TensorFlow refuses the arguments too: lists of different lengths, a
        stride of zero, an integer index out of bounds, two ellipses. Or
        `out` has another shape or overlaps `input`.
    DTypeError
        A list is not of integers, or a dtype is not one that backslice
        moves.

    See Also
    --------
    strided_slice_grad : Its gradient.
    Selection.from_tf, Selection.to_tf : Conversion from and to these arguments.

    Examples
    --------
    ``x[1:, 2]``:

    >>> x = np.arange(6).reshape(2, 3)
    >>> bs.strided_slice(x, [1, 2], [0, 0], end_mask=0b01, shrink_axis_mask=0b10)
    array([5])
    """

def strided_slice_grad(
    shape: Ints | SupportsExtents,
    begin: Ints,
    end: Ints,
    strides: Ints | None = None,
    dy: Array = ...,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    *,
    out: Output | None = None,
    accumulate: bool = False,
) -> NDArray[Any]:
    """Compute TensorFlow's StridedSliceGrad: the gradient of `strided_slice` with respect to its input.

    Parameters
    ----------
    shape : sequence of int or tf.TensorShape
        The shape of the input that was sliced. Arrays are int32 or int64,
        of the same dtype as the other lists.
    begin, end : sequence of int
        One entry per item of the slice, all of the same length.
    strides : sequence of int, optional
        The same. The default is ones.
    dy : array_like
        The gradient of the slice's result, of exactly its shape; any
        strides and dtype. It must be given, by keyword where the strides
        are not.
    begin_mask : int, default: 0
        Bit i: ignore ``begin[i]``, and start as early as possible.
    end_mask : int, default: 0
        Bit i: ignore ``end[i]``, and go as far as possible.
    ellipsis_mask : int, default: 0
        Bit i: item i is an ellipsis. At most one bit.
    new_axis_mask : int, default: 0
        Bit i: item i is a new axis of extent 1.
    shrink_axis_mask : int, default: 0
        Bit i: item i is the integer index ``begin[i]``, and its axis is
        dropped.
    out : ndarray or other writable array with DLPack, optional
        Where to write the gradient: an array of shape `shape` and the dtype
        of `dy`, which shares no memory with `dy`.
    accumulate : bool, default: False
        Add `dy` to `out` where the slice takes its elements from, and leave
        the rest of `out` as it is. Where Ctrl-C or an error ends the call, the
        exception's attribute `output_written` says whether some was added; if
        so, calling again would add that twice.

    Returns
    -------
    ndarray
        A new array of shape `shape`, or `out`: `dy` where the slice takes
        its elements from, zero elsewhere.

    Raises
    ------
    InvalidArgumentError
        TensorFlow refuses the arguments too; or `dy` or `out` has another
        shape, they overlap, or `accumulate` is given without `out`.
    DTypeError
        A list is not of integers, or a dtype is not one that backslice
        moves or can add.

    See Also
    --------
    slice_grad : The same with NumPy's indices.
    strided_slice : The forward operation.

    Examples
    --------
    >>> bs.strided_slice_grad([5], [0], [4], [2], dy=[1.0, 2.0])
    array([1., 0., 2., 0., 0.])
    >>> bs.strided_slice_grad([5], [1], [3], dy=[1.0, 2.0])
    array([0., 1., 2., 0., 0.])
    """

def onnx_slice(
    data: Array,
    starts: Ints,
    ends: Ints,
    axes: Ints | None = None,
    steps: Ints | None = None,
    *,
    out: Output | None = None,
) -> NDArray[Any]:
    """Slice an array with the arguments of ONNX's Slice.

    Parameters
    ----------
    data : array_like
        Any array on the CPU of at least one axis, with any strides and
        dtype.
    starts, ends : sequence of int
        One entry per axis in `axes`. Both are clamped to the extent of the
        axis. Arrays are int32 or int64, all of one dtype.
    axes : sequence of int, optional
        The axes that are sliced; negative ones count from the end. The
        default is the first ``len(starts)`` axes.
    steps : sequence of int, optional
        The default is ones.
    out : ndarray or other writable array with DLPack, optional
        Where to write the slice: an array of its shape and the dtype of
        `data`, which shares no memory with `data`.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Raises
    ------
    InvalidArgumentError
        The lists have different lengths, an axis is repeated or out of
        range, a step is zero, or `out` has another shape or overlaps
        `data`.
    DTypeError
        A list is not of integers, or a dtype is not one that backslice
        moves.

    See Also
    --------
    onnx_slice_grad : Its gradient.
    Selection.from_onnx, Selection.to_onnx : Conversion from and to these arguments.

    Examples
    --------
    >>> x = [[1, 2, 3], [4, 5, 6]]
    >>> bs.onnx_slice(x, starts=[-1], ends=[-100], axes=[1], steps=[-2])
    array([[3, 1],
           [6, 4]])
    """

def onnx_slice_grad(
    grad: Array,
    shape: Ints | SupportsExtents,
    starts: Ints,
    ends: Ints,
    axes: Ints | None = None,
    steps: Ints | None = None,
    *,
    out: Output | None = None,
    accumulate: bool = False,
) -> NDArray[Any]:
    """Compute ONNX Runtime's SliceGrad: the gradient of `onnx_slice` with respect to its data.

    Parameters
    ----------
    grad : array_like
        The gradient of the slice's result, with as many elements as the
        slice. They are read in row-major order, whatever the shape of
        `grad`.
    shape : sequence of int or tf.TensorShape
        The shape of the data that was sliced.
    starts, ends : sequence of int
        One entry per axis in `axes`. Both are clamped to the extent of the
        axis.
    axes : sequence of int, optional
        The axes that are sliced; negative ones count from the end. The
        default is the first ``len(starts)`` axes.
    steps : sequence of int, optional
        The default is ones.
    out : ndarray or other writable array with DLPack, optional
        Where to write the gradient: an array of shape `shape` and the dtype
        of `grad`, which shares no memory with `grad`.
    accumulate : bool, default: False
        Add `grad` to `out` where the slice takes its elements from, and leave
        the rest of `out` as it is. Where Ctrl-C or an error ends the call, the
        exception's attribute `output_written` says whether some was added; if
        so, calling again would add that twice.

    Returns
    -------
    ndarray
        A new array of shape `shape`, or `out`: `grad` where the slice takes
        its elements from, zero elsewhere.

    Raises
    ------
    InvalidArgumentError
        The lists do not fit each other or the shape, `grad` has another
        number of elements, `out` has another shape, arrays overlap, or
        `accumulate` is given without `out`.
    DTypeError
        A list is not of integers, or a dtype is not one that backslice
        moves or can add.

    See Also
    --------
    slice_grad : The same with NumPy's indices.
    onnx_slice : The forward operation.

    Examples
    --------
    >>> bs.onnx_slice_grad([1.0, 2.0], [2, 3], starts=[1], ends=[2], axes=[1])
    array([[0., 1., 0.],
           [0., 2., 0.]])
    """
