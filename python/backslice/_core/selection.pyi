"""Which elements a slice takes."""

from builtins import slice as _slice
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Literal

from numpy.typing import NDArray

from .many_slices import PreparedSlice
from .types import Array, DType, GradientCost, Index, Ints, OnnxArguments, Output, Shape, TfArguments

class Selection:
    """Which elements of a tensor a slice takes, and in which order.

    A Selection is the normal form of a slice: NumPy's indices, TensorFlow's
    masks and ONNX's lists all become one, and it converts back to each of
    them. Two selections are equal if they take the same elements in the
    same order. Selections are immutable, hashable and can be pickled. They
    are accepted wherever a function takes an `index`.

    Use `Selection.from_index`, `Selection.from_tf`, `Selection.from_onnx`
    or `Selection.from_begin_size` to make one.

    Examples
    --------
    >>> selection = bs.Selection.from_index((4, 6), np.s_[1:3, ::-2])
    >>> selection.result_shape
    (2, 3)
    >>> selection.axes
    ((1, 1, 2), (5, -2, 3))
    >>> selection == bs.Selection.from_index((4, 6), "1:3, ::-2")
    True
    """

    @staticmethod
    def from_index(shape: Shape, index: Index) -> Selection:
        """Make a Selection from a NumPy index.

        Parameters
        ----------
        shape : int, sequence of int or tf.TensorShape
            The shape of the tensor that is sliced.
        index : int, slice, Ellipsis, None, tuple of these, str or Selection
            NumPy's basic indexing, or its text, such as ``"1:3, ::2, ..., None,
            -1"``.

        Returns
        -------
        Selection
            What ``x[index]`` takes from an `x` of that shape.

        Raises
        ------
        OutOfRangeError
            An integer index is out of bounds, or the index has too many items
            or two ellipses.
        InvalidArgumentError
            The shape is invalid, the text is not an index, or a step is zero.
        UnimplementedError
            The index asks for advanced indexing: it has a list, an array of
            integers or a mask.
        DTypeError
            The index has an item that no index has, such as a float.

        Examples
        --------
        >>> bs.Selection.from_index((4, 6), np.s_[1:3, ..., None])
        Selection.from_index((4, 6), "1:3, :, None")
        """

    @staticmethod
    def from_tf(
        shape: Shape,
        begin: Ints,
        end: Ints,
        strides: Ints | None = None,
        begin_mask: int = 0,
        end_mask: int = 0,
        ellipsis_mask: int = 0,
        new_axis_mask: int = 0,
        shrink_axis_mask: int = 0,
    ) -> Selection:
        """Make a Selection from the arguments of TensorFlow's StridedSlice.

        Parameters
        ----------
        shape : int, sequence of int or tf.TensorShape
            The shape of the tensor that is sliced.
        begin, end : sequence of int
            One entry per item of the slice, all of the same length.
        strides : sequence of int, optional
            The same. The default is ones.
        begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask : int
            Bit i changes the meaning of item i: ignore its begin, ignore its
            end, an ellipsis, a new axis, an integer index.

        Returns
        -------
        Selection

        Raises
        ------
        InvalidArgumentError
            TensorFlow refuses the arguments too: lists of different lengths, a
            stride of zero, an integer index out of bounds, two ellipses.
        DTypeError
            The lists are not integers, or are arrays of different dtypes.

        Examples
        --------
        >>> bs.Selection.from_tf((4, 6), [1, 0], [3, 0], [1, 2], end_mask=2)
        Selection.from_index((4, 6), "1:3, 0:5:2")
        """

    @staticmethod
    def from_onnx(
        shape: Shape, starts: Ints, ends: Ints, axes: Ints | None = None, steps: Ints | None = None
    ) -> Selection:
        """Make a Selection from the arguments of ONNX's Slice.

        Parameters
        ----------
        shape : int, sequence of int or tf.TensorShape
            The shape of the tensor that is sliced.
        starts, ends : sequence of int
            One entry per axis in `axes`. Both are clamped to the extent of the
            axis.
        axes : sequence of int, optional
            The axes that are sliced; negative ones count from the end. The
            default is the first ``len(starts)`` axes.
        steps : sequence of int, optional
            The default is ones.

        Returns
        -------
        Selection

        Raises
        ------
        InvalidArgumentError
            The lists have different lengths, an axis is repeated or out of
            range, or a step is zero.
        DTypeError
            The lists are not integers, or are arrays of different dtypes.

        Examples
        --------
        >>> bs.Selection.from_onnx((4, 6), [1], [100], axes=[-1], steps=[2])
        Selection.from_index((4, 6), ":, 1:6:2")
        """

    @staticmethod
    def from_begin_size(shape: Shape, begin: Ints, size: Ints) -> Selection:
        """Make a Selection from the arguments of TensorFlow's ``tf.slice``.

        Parameters
        ----------
        shape : int, sequence of int or tf.TensorShape
            The shape of the tensor that is sliced.
        begin : sequence of int
            The beginning of the slice, one entry per axis; nothing counts from the
            end.
        size : sequence of int
            How many elements it takes, one entry per axis; -1 is the rest of
            the axis.

        Returns
        -------
        Selection
            ``x[begin : begin + size]`` on every axis.

        Raises
        ------
        InvalidArgumentError
            An axis has no entry, or the slice does not lie inside the shape.
        DTypeError
            The lists are not integers, or are arrays of different dtypes.

        Examples
        --------
        >>> bs.Selection.from_begin_size((4, 6), begin=[1, 2], size=[2, -1])
        Selection.from_index((4, 6), "1:3, 2:6")
        """

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor that is sliced."""

    @property
    def result_shape(self) -> tuple[int, ...]:
        """The shape of the slice, and so of `dy`."""

    @property
    def axes(self) -> tuple[tuple[int, int, int], ...]:
        """``(start, step, count)`` for each axis of the input."""

    @property
    def result_axes(self) -> tuple[int, ...]:
        """For each axis of the result, the axis of the input that it comes from; -1 for a new axis."""

    def to_index(self) -> tuple[int | _slice | None, ...]:
        """Convert to a NumPy index.

        Returns
        -------
        tuple of int, slice and None
            An index that takes the same elements: ``x[selection.to_index()]``.

        Examples
        --------
        >>> bs.Selection.from_index((4, 6), "1:3, -1").to_index()
        (slice(1, 3, None), 5)
        """

    def to_tf(self) -> TfArguments:
        """Convert to the arguments of TensorFlow's StridedSlice.

        Returns
        -------
        dict
            The keyword arguments of `strided_slice`: begin, end, strides and
            the five masks.

        Raises
        ------
        InvalidArgumentError
            TensorFlow has no arguments for this slice: it takes fewer than 32
            items.

        Examples
        --------
        >>> selection = bs.Selection.from_index((3,), "1:")
        >>> bs.strided_slice([1.0, 2.0, 3.0], **selection.to_tf())
        array([2., 3.])
        """

    def to_onnx(self) -> OnnxArguments:
        """Convert to the arguments of ONNX's Slice, Squeeze and Unsqueeze.

        Returns
        -------
        dict
            starts, ends, axes and steps for Slice, then `squeeze`, the axes
            that integer indices drop, then `unsqueeze`, the new axes.

        Examples
        --------
        >>> arguments = bs.Selection.from_index((4, 6), "1:3, 0").to_onnx()
        >>> arguments["starts"], arguments["ends"], arguments["squeeze"]
        ([1, 0], [3, 1], [1])
        """

    def slice(self, x: Array, out: Output | None = None) -> NDArray[Any]:
        """Slice an array.

        Parameters
        ----------
        x : array_like
            An array of shape `shape` and any dtype.
        out : ndarray or other writable array with DLPack, optional
            Where to write the slice: an array of shape `result_shape` and the
            dtype of `x`, which shares no memory with `x`.

        Returns
        -------
        ndarray
            A new array, or `out`.

        Raises
        ------
        InvalidArgumentError
            `x` or `out` has another shape, or they overlap.
        DTypeError
            `x` has a dtype that backslice does not move, or `out` has another
            dtype than `x`.

        See Also
        --------
        slice : The same, with the index as an argument.

        Examples
        --------
        >>> bs.Selection.from_index((2, 3), ":, 1").slice([[1, 2, 3], [4, 5, 6]])
        array([2, 5])
        """

    def grad(
        self, dy: Array, out: Output | None = None, accumulate: bool = False, *, dtype: DType | None = None
    ) -> NDArray[Any]:
        """Compute the gradient of the slice.

        Parameters
        ----------
        dy : array_like
            The gradient of the slice's result: an array whose shape is
            `result_shape` or broadcasts to it, or a Python number.
        out : ndarray or other writable array with DLPack, optional
            Where to write the gradient: an array of shape `shape` and the dtype
            of `dy`, which shares no memory with `dy`.
        accumulate : bool, default: False
            Add `dy` to `out` where the slice takes its elements from, and
            leave the rest of `out` as it is. Where Ctrl-C or an error ends the
            call, the exception's attribute `output_written` says whether some
            was added; if so, calling again would add that twice.
        dtype : dtype, tf.DType or torch.dtype, optional
            The dtype of a Python number or a list. By default a number takes
            the dtype of `out`.

        Returns
        -------
        ndarray
            A new array, or `out`: `dy` where the slice takes its elements from,
            zero elsewhere.

        Raises
        ------
        InvalidArgumentError
            `dy` or `out` has another shape, they overlap, or `accumulate` is
            given without `out`.
        DTypeError
            `dy` has a dtype that backslice does not move or cannot add, or
            `out` or `dtype` is another; or `dy` is a Python number, and nothing
            says its dtype.

        See Also
        --------
        slice_grad : The same, with the shape and the index as arguments.

        Examples
        --------
        >>> column = bs.Selection.from_index((2, 3), ":, 1")
        >>> column.grad([5.0, 7.0])
        array([[0., 5., 0.],
               [0., 7., 0.]])
        >>> column.grad(1, dtype="float32")
        array([[0., 1., 0.],
               [0., 1., 0.]], dtype=float32)
        """

    def prepare(self, dtype: DType) -> PreparedSlice:
        """Check and plan the slice once, to run it often.

        Parameters
        ----------
        dtype : dtype, tf.DType or torch.dtype
            The dtype of the arrays.

        Returns
        -------
        PreparedSlice
            The slice and its gradient for C-contiguous arrays of that dtype.

        Raises
        ------
        DTypeError
            `dtype` is not a dtype, or not one that backslice moves.

        Examples
        --------
        >>> prepared = bs.Selection.from_index((4,), "1:3").prepare(np.float32)
        >>> prepared.gradient(np.ones(2, np.float32), out=np.empty(4, np.float32))
        array([0., 1., 1., 0.], dtype=float32)
        """

    def restrict(self, box: Sequence[tuple[int, int]]) -> tuple[Selection, tuple[_slice, ...]] | None:
        """Find the part of the slice that falls into a box of the input.

        This is how work on one tensor is divided among blocks, files or
        machines: each block of the gradient needs only the part of `dy` that
        falls into it.

        Parameters
        ----------
        box : sequence of (int, int)
            The box: ``(lo, hi)`` for each axis of the input, without `hi`.

        Returns
        -------
        tuple of Selection and tuple of slice, or None
            The slice in the coordinates of the box, and the index of its part
            of `dy`. None if the slice takes nothing from the box.

        Raises
        ------
        InvalidArgumentError
            The box lies outside the input, or has another number of axes.
        DTypeError
            The box is not a list of pairs of int.

        Examples
        --------
        >>> selection = bs.Selection.from_index((6,), "::2")
        >>> selection.restrict([(3, 6)])
        (Selection.from_index((3,), "1:2"), (slice(2, 3, None),))
        """

    def cost(self, dtype: DType, *, device: Literal["cpu", "cuda"] = "cpu") -> GradientCost:
        """Predict what the gradient of the slice costs, without computing it.

        Parameters
        ----------
        dtype : dtype, tf.DType or torch.dtype
            The dtype of `dy`.
        device : str
            "cpu", or "cuda" for the kernels that would run on a CUDA device.
            There need not be one.

        Returns
        -------
        dict
            bytes_read, bytes_written and bytes_result; the strategy; the pieces
            that it is cut into for threads, or the number of kernels; and the
            loops that run, as text, under plan.

        Raises
        ------
        DTypeError
            `dtype` is not a dtype, or not one that backslice moves.
        InvalidArgumentError
            `device` is neither.
        ResourceExhaustedError
            The gradient is larger than any CUDA device's memory.

        Examples
        --------
        >>> cost = bs.Selection.from_index((4,), "1:3").cost("float32")
        >>> cost["bytes_read"], cost["bytes_written"], cost["strategy"]
        (8, 16, 'cached')
        """

    def explain(self) -> str:
        """Describe the slice in words, one line per axis.

        Returns
        -------
        str

        Examples
        --------
        >>> print(bs.Selection.from_index((4, 6), "1:3, -1").explain(), end="")
        takes 2 of 24 elements: shape [4,6] -> [2]
          axis 0 of 4: start 1, step 1, count 2
          axis 1 of 6: start 5, step 1, count 1, dropped
        """

    def _repr_svg_(self) -> str: ...
    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """For ``copy`` and ``pickle``."""

    def __getstate__(self) -> tuple[tuple[int, ...], str]: ...
    def __setstate__(self, state: tuple[Shape, str]) -> None: ...

def parse_index(text: str) -> tuple[int | _slice | EllipsisType | None, ...]:
    """Read the text of an index.

    Parameters
    ----------
    text : str
        Such as ``"1:3, ::2, ..., None, -1"``.

    Returns
    -------
    tuple of int, slice, Ellipsis and None

    Raises
    ------
    InvalidArgumentError
        The text is not an index.
    DTypeError
        `text` is not a str.

    Examples
    --------
    >>> bs._core.parse_index("1:3, -1")
    (slice(1, 3, None), -1)
    """
