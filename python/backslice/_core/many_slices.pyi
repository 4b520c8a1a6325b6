"""Gradients of several slices of one array, and slices that run often."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .selection import Selection
from .types import Array, Device, DType, Index, Output, Shape

def multi_slice_grad(
    shape: Shape,
    slices: Iterable[tuple[Index, Array]],
    out: Output | None = None,
    accumulate: bool = False,
    *,
    dtype: DType | None = None,
) -> NDArray[Any]:
    """Compute the sum of the gradients of many slices of one tensor.

    It takes one pass over the result, however many slices there are. Where
    slices overlap, contributions are added in the order of the list, so the
    result does not depend on the number of threads.

    Parameters
    ----------
    shape : int, sequence of int or tf.TensorShape
        The shape of the tensor that was sliced.
    slices : iterable of (index, dy)
        Each index and each `dy` is what `slice_grad` takes: `dy` broadcasts
        to the shape of its slice, and may be a Python number. All have one
        dtype. With `dtype` or `out` there may be no slices: the sum is zero.
    out : ndarray or other writable array with DLPack, optional
        Where to write the sum: an array of that shape and the dtype of the
        slices, which shares no memory with them.
    accumulate : bool, default: False
        Add the sum to `out`, and leave the rest of `out` as it is. Where
        Ctrl-C or an error ends the call, the exception's attribute
        `output_written` says whether some was added; if so, calling again
        would add that twice.
    dtype : dtype, tf.DType or torch.dtype, optional
        What Python numbers and lists become, and the dtype of the zeros
        where there are no slices. By default numbers take that of `out`.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Raises
    ------
    InvalidArgumentError
        A `dy` or `out` has another shape, arrays overlap, `accumulate` is
        given without `out`, or there are no slices and nothing determines
        the dtype.
    OutOfRangeError
        An integer index is out of bounds, or the index has too many items.
    UnimplementedError
        The index asks for advanced indexing: it has a list, an array of
        integers or a mask.
    DTypeError
        The dtypes differ, or are not ones that backslice moves or can add;
        or a `dy` is a Python number, and nothing determines its dtype.

    See Also
    --------
    slice_grad, GradBuffer

    Examples
    --------
    >>> bs.multi_slice_grad((5,), [("0:3", [1.0, 1.0, 1.0]), ("2:4", [5.0, 5.0])])
    array([1., 1., 6., 5., 0.])
    >>> bs.multi_slice_grad((4,), ((i, 1) for i in (0, 2, 2)), dtype="float32")
    array([1., 0., 2., 0.], dtype=float32)
    """

def multi_slice_write(
    shape: Shape,
    slices: Iterable[tuple[Index, Array]],
    out: Output | None = None,
    *,
    dtype: DType | None = None,
) -> NDArray[Any]:
    """Write arrays into many slices of one tensor, one after the other.

    It takes one pass over the result, however many slices there are. Where
    slices overlap, the last one in the list wins. Where no slice is, the
    result is zero; to write over an array, let the list begin with
    ``(..., array)``.

    Parameters
    ----------
    shape : int, sequence of int or tf.TensorShape
        The shape of the tensor.
    slices : iterable of (index, dy)
        Each index and each `dy` is what `slice_grad` takes: `dy` broadcasts
        to the shape of its slice, and may be a Python number. All have one
        dtype. With `dtype` or `out` there may be no slices.
    out : ndarray or other writable array with DLPack, optional
        Where to write the result: an array of that shape and the dtype of the
        slices, which shares no memory with them.
    dtype : dtype, tf.DType or torch.dtype, optional
        What Python numbers and lists become, and the dtype of the zeros
        where there are no slices. By default numbers take that of `out`.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Raises
    ------
    InvalidArgumentError
        A `dy` or `out` has another shape, arrays overlap, or there are no
        slices and nothing determines the dtype.
    OutOfRangeError
        An integer index is out of bounds, or the index has too many items.
    UnimplementedError
        The index asks for advanced indexing: it has a list, an array of
        integers or a mask.
    DTypeError
        The dtypes differ, or are not ones that backslice moves; or a `dy` is
        a Python number, and nothing determines its dtype.

    See Also
    --------
    multi_slice_grad

    Examples
    --------
    >>> bs.multi_slice_write((5,), [("0:3", [1.0, 1.0, 1.0]), ("2:4", [5.0, 5.0])])
    array([1., 1., 5., 5., 0.])
    >>> bs.multi_slice_write((4,), [(..., np.arange(4.0)), ("1:3", [9.0, 8.0])])
    array([0., 9., 8., 3.])
    """

class GradBuffer:
    """A gradient that knows where it is not zero.

    A training step that slices a large tensor fills a small part of its
    gradient. A GradBuffer keeps its memory from step to step, remembers
    which parts were written, and clears only those. It may be used by
    several threads.

    Parameters
    ----------
    shape : int, sequence of int or tf.TensorShape
        The shape of the gradient.
    dtype : dtype, tf.DType or torch.dtype
        The dtype of the gradient. Its elements must have a zero and a fixed
        size.
    device : str, torch.device or cupy.cuda.Device, optional
        The device of the gradient: ``"cpu"``, the default, ``"cuda"`` or
        ``"cuda:1"``. There, gradients are written from arrays on that device,
        and `array` is a tensor of PyTorch or an array of CuPy where `device`
        or the first gradient is theirs.

    Raises
    ------
    InvalidArgumentError
        The shape is invalid, or there is no such device.
    DTypeError
        The dtype is not one that backslice moves, holds objects, or strings
        that are to be on a device, or has no zero.
    FailedPreconditionError, UnimplementedError
        There is no CUDA device, or backslice was built without CUDA.

    Examples
    --------
    >>> buffer = bs.GradBuffer((2, 4), np.float32)
    >>> buffer.write(np.s_[0, 1:3], np.ones(2, np.float32))
    >>> buffer.add(np.s_[0, 2:4], np.ones(2, np.float32))
    >>> buffer.array
    array([[0., 1., 2., 1.],
           [0., 0., 0., 0.]], dtype=float32)
    """

    def __init__(self, shape: Shape, dtype: DType, *, device: Device | None = None) -> None: ...
    @property
    def array(self) -> NDArray[Any]:
        """The gradient, as a read-only view that shows later changes too. On a device it is not read-only."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the gradient."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the gradient."""

    @property
    def device(self) -> str:
        """The device of the gradient: ``"cpu"`` or ``"cuda:0"``."""

    def write(self, index: Index, dy: Array) -> None:
        """Replace the content by the gradient of a slice: `dy` at `index`, zero elsewhere.

        Parameters
        ----------
        index : int, slice, Ellipsis, None, tuple of these, str or Selection
            The index of the slice.
        dy : array_like
            The gradient of the slice's result: an array of the buffer's dtype
            whose shape is the slice's or broadcasts to it, or a Python number.

        Raises
        ------
        InvalidArgumentError
            `dy` does not broadcast to the slice's shape, or shares memory with
            the buffer.
        OutOfRangeError
            An integer index is out of bounds, or the index has too many items.
        UnimplementedError
            The index asks for advanced indexing: it has a list, an array of
            integers or a mask.
        DTypeError
            `dy` has another dtype than the buffer, or is a number that it
            cannot hold.

        Examples
        --------
        >>> buffer = bs.GradBuffer((4,), np.float64)
        >>> buffer.write("0:2", [1.0, 2.0])
        >>> buffer.write("3", 5.0)
        >>> buffer.array
        array([0., 0., 0., 5.])
        """

    def add(self, index: Index, dy: Array) -> None:
        """Add the gradient of a slice.

        Ctrl-C ends the call before anything is added, or comes when all was.

        Parameters
        ----------
        index : int, slice, Ellipsis, None, tuple of these, str or Selection
            The index of the slice.
        dy : array_like
            The gradient of the slice's result: an array of the buffer's dtype
            whose shape is the slice's or broadcasts to it, or a Python number.

        Raises
        ------
        InvalidArgumentError
            `dy` does not broadcast to the slice's shape, or shares memory with
            the buffer.
        OutOfRangeError
            An integer index is out of bounds, or the index has too many items.
        UnimplementedError
            The index asks for advanced indexing: it has a list, an array of
            integers or a mask.
        DTypeError
            `dy` has another dtype than the buffer, is a number that it cannot
            hold, or its elements cannot be added.

        Examples
        --------
        >>> buffer = bs.GradBuffer((4,), np.float64)
        >>> buffer.add("0:2", [1.0, 2.0])
        >>> buffer.add("1:3", [1.0, 2.0])
        >>> buffer.array
        array([1., 3., 2., 0.])
        """

    def zero(self) -> None:
        """Set the gradient to zero, touching only what was written.

        Examples
        --------
        >>> buffer = bs.GradBuffer((2,), np.float64)
        >>> buffer.add("1", 3.0)
        >>> buffer.zero()
        >>> buffer.array
        array([0., 0.])
        """

    def writable(self) -> NDArray[Any]:
        """Return a writable view of the gradient.

        As long as the view, or a view of it, is alive, the buffer treats all of
        the gradient as written.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> buffer = bs.GradBuffer((3,), np.float64)
        >>> buffer.writable()[1] = 2.0
        >>> buffer.array
        array([0., 2., 0.])
        """

    @property
    def _regions(self) -> tuple[Selection, ...]: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The content as NumPy takes it: a read-only view, or a copy.

        Parameters
        ----------
        dtype : dtype, optional
            The dtype of the array. One that differs from the buffer's needs a copy.
        copy : bool, optional
            Whether to copy: always, never, or only if needed (None).

        Raises
        ------
        ValueError
            `copy` is False and the dtype differs.
        """

    def __dlpack__(self, **options: Any) -> Any:
        """The content for other libraries, read-only.

        The options are those of ``numpy.ndarray.__dlpack__``.
        """

    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """For ``copy`` and ``pickle``.

        Everything counts as written in what is made again, unless nothing was.
        """

    def __repr__(self) -> str: ...

class PreparedSlice:
    """A slice that is checked and planned once, to run often.

    `Selection.prepare` makes one. It works on C-contiguous arrays of one
    dtype, always writes into `out`, and may be used by several threads at
    once.

    Examples
    --------
    >>> crop = bs.Selection.from_index((4, 4), "1:3, 1:3").prepare("float64")
    >>> x, y, dx = np.arange(16.0).reshape(4, 4), np.empty((2, 2)), np.empty((4, 4))
    >>> crop.forward(x, out=y)
    array([[ 5.,  6.],
           [ 9., 10.]])
    >>> crop.gradient(np.ones((2, 2)), out=dx)
    array([[0., 0., 0., 0.],
           [0., 1., 1., 0.],
           [0., 1., 1., 0.],
           [0., 0., 0., 0.]])
    """

    def forward(self, x: Array, out: Output) -> NDArray[Any]:
        """Slice `x` into `out`.

        Parameters
        ----------
        x : array_like
            A C-contiguous array of shape ``selection.shape`` and dtype `dtype`.
        out : ndarray or other writable array with DLPack
            A C-contiguous array of shape ``selection.result_shape`` and dtype
            `dtype`, which shares no memory with `x`.

        Returns
        -------
        ndarray
            `out`.

        Raises
        ------
        InvalidArgumentError
            An array has another shape or layout, or they overlap.
        DTypeError
            An array has another dtype.

        Examples
        --------
        >>> middle = bs.Selection.from_index((4,), "1:3").prepare("float64")
        >>> middle.forward(np.arange(4.0), np.empty(2))
        array([1., 2.])
        """

    def gradient(self, dy: Array, out: Output) -> NDArray[Any]:
        """Write the gradient into `out`: `dy` where the slice takes its elements from, zero elsewhere.

        Parameters
        ----------
        dy : array_like
            A C-contiguous array of shape ``selection.result_shape`` and dtype
            `dtype`.
        out : ndarray or other writable array with DLPack
            A C-contiguous array of shape ``selection.shape`` and dtype `dtype`,
            which shares no memory with `dy`.

        Returns
        -------
        ndarray
            `out`.

        Raises
        ------
        InvalidArgumentError
            An array has another shape or layout, or they overlap.
        DTypeError
            An array has another dtype.

        Examples
        --------
        >>> middle = bs.Selection.from_index((4,), "1:3").prepare("float64")
        >>> middle.gradient(np.ones(2), np.empty(4))
        array([0., 1., 1., 0.])
        """

    def accumulate(self, dy: Array, out: Output) -> NDArray[Any]:
        """Add the gradient to `out`: ``out[selection] += dy``.

        Where Ctrl-C or an error ends the call, the exception's attribute
        `output_written` says whether some was added; if so, calling again
        would add that twice.

        Parameters
        ----------
        dy : array_like
            A C-contiguous array of shape ``selection.result_shape`` and dtype
            `dtype`.
        out : ndarray or other writable array with DLPack
            A C-contiguous array of shape ``selection.shape`` and dtype `dtype`,
            which shares no memory with `dy`.

        Returns
        -------
        ndarray
            `out`.

        Raises
        ------
        InvalidArgumentError
            An array has another shape or layout, or they overlap.
        DTypeError
            An array has another dtype, or its elements cannot be added.

        Examples
        --------
        >>> middle = bs.Selection.from_index((4,), "1:3").prepare("float64")
        >>> middle.accumulate(np.ones(2), np.arange(4.0))
        array([0., 2., 3., 3.])
        """

    @property
    def selection(self) -> Selection:
        """The Selection of the slice."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype that the slice was prepared for."""

    def __reduce__(self) -> tuple[Any, ...]:
        """For ``copy`` and ``pickle``."""

    def __repr__(self) -> str: ...
