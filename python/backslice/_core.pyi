"""The extension module: its types, parameters, defaults and docstrings.

The build installs the signatures and docstrings below on the module's functions and classes (bindings/signatures.h), so
this is the one place where they are written. The examples are tests; they assume `import numpy as np` and
`import backslice as bs`.
"""

from builtins import slice as _slice
from collections.abc import Iterable, Iterator, Sequence
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

class SupportsDLPack(Protocol):
    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

Array: TypeAlias = ArrayLike | SupportsDLPack
Ints: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]

class SupportsExtents(Protocol):
    """TensorFlow's TensorShape, fully known."""

    @property
    def rank(self) -> Any: ...
    def as_list(self) -> Any: ...

class SupportsNumpyDType(Protocol):
    """TensorFlow's DType."""

    @property
    def as_numpy_dtype(self) -> Any: ...

Shape: TypeAlias = SupportsIndex | Ints | SupportsExtents
DType: TypeAlias = DTypeLike | SupportsNumpyDType
Output: TypeAlias = NDArray[Any] | SupportsDLPack
IndexItem: TypeAlias = SupportsIndex | _slice | EllipsisType | None
Index: TypeAlias = IndexItem | tuple[IndexItem, ...] | str | Selection

class TfArguments(TypedDict):
    begin: list[int]
    end: list[int]
    strides: list[int]
    begin_mask: int
    end_mask: int
    ellipsis_mask: int
    new_axis_mask: int
    shrink_axis_mask: int

class OnnxArguments(TypedDict):
    starts: list[int]
    ends: list[int]
    axes: list[int]
    steps: list[int]
    squeeze: list[int]
    unsqueeze: list[int]

class GradientCost(TypedDict):
    bytes_read: int
    bytes_written: int
    bytes_result: int
    strategy: Literal["nothing", "fresh zeros", "cached", "streaming", "one by one"]
    pieces: int
    plan: str

__version__: str

def _register(**objects: Any) -> None: ...
def _numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """Compute ``numpy.dtype(dtype)``, also of dtypes of TensorFlow and PyTorch."""

def _dlpack_capsule(array: NDArray[Any], versioned: bool, is_copy: bool) -> Any:
    """Export the memory of an array as a DLPack capsule."""

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
            Where the slice begins, one entry per axis; nothing counts from the
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
            Add `dy` to `out` where the slice takes its elements from, and leave
            the rest of `out` as it is.
        dtype : dtype, tf.DType or torch.dtype, optional
            What a Python number or a list becomes. By default a number takes
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

    def cost(self, dtype: DType) -> GradientCost:
        """Predict what the gradient of the slice costs, without computing it.

        Parameters
        ----------
        dtype : dtype, tf.DType or torch.dtype
            The dtype of `dy`.

        Returns
        -------
        dict
            bytes_read, bytes_written and bytes_result; the strategy; the pieces
            that it is cut into for threads; and the loops that run, as text,
            under plan.

        Raises
        ------
        DTypeError
            `dtype` is not a dtype, or not one that backslice moves.

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
        """

    def accumulate(self, dy: Array, out: Output) -> NDArray[Any]:
        """Add the gradient to `out`: ``out[selection] += dy``.

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
        """

    @property
    def selection(self) -> Selection:
        """What the slice takes."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype that the slice was prepared for."""

    def __reduce__(self) -> tuple[Any, ...]:
        """For ``copy`` and ``pickle``."""

    def __repr__(self) -> str: ...

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

    Raises
    ------
    InvalidArgumentError
        The shape is invalid.
    DTypeError
        The dtype is not one that backslice moves, holds objects, or has no
        zero.

    Examples
    --------
    >>> buffer = bs.GradBuffer((2, 4), np.float32)
    >>> buffer.write(np.s_[0, 1:3], np.ones(2, np.float32))
    >>> buffer.add(np.s_[0, 2:4], np.ones(2, np.float32))
    >>> buffer.array
    array([[0., 1., 2., 1.],
           [0., 0., 0., 0.]], dtype=float32)
    """

    def __init__(self, shape: Shape, dtype: DType) -> None: ...
    @property
    def array(self) -> NDArray[Any]:
        """The gradient, as a read-only view that shows later changes too."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the gradient."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the gradient."""

    def write(self, index: Index, dy: Array) -> None:
        """Replace the content by the gradient of a slice: `dy` at `index`, zero elsewhere.

        Parameters
        ----------
        index : int, slice, Ellipsis, None, tuple of these, str or Selection
            What the slice takes.
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

        Parameters
        ----------
        index : int, slice, Ellipsis, None, tuple of these, str or Selection
            What the slice takes.
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
    def _is_zero(self) -> bool: ...
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

class PoolStats(TypedDict):
    bytes_in_use: int
    bytes_kept: int
    limit: int
    mapped: int
    reused: int

def set_num_threads(threads: int) -> None:
    """Set how many threads large operations use.

    Parameters
    ----------
    threads : int
        From 1 to 4096. At most four threads per core run at once.

    Raises
    ------
    InvalidArgumentError
        `threads` is less than 1 or more than 4096.
    DTypeError
        `threads` is not an int.

    See Also
    --------
    get_num_threads

    Examples
    --------
    >>> before = bs.get_num_threads()
    >>> bs.set_num_threads(1)
    >>> bs.get_num_threads()
    1
    >>> bs.set_num_threads(before)
    """

def get_num_threads() -> int:
    """Return how many threads large operations use.

    Returns
    -------
    int
        What `set_num_threads` was given; else the environment variable
        BACKSLICE_NUM_THREADS; else the number of cores.

    Examples
    --------
    >>> bs.get_num_threads() >= 1
    True
    """

def pool_stats() -> PoolStats:
    """Return the counters of the memory pool.

    Returns
    -------
    dict
        bytes_in_use by live results; bytes_kept for later ones; limit, how
        many bytes may be kept; how many blocks were mapped from the system,
        and how many were reused.

    Examples
    --------
    >>> sorted(bs.pool.stats())
    ['bytes_in_use', 'bytes_kept', 'limit', 'mapped', 'reused']
    """

def set_pool_limit(bytes: int) -> None:
    """Set how many bytes of freed results the memory pool may keep.

    Parameters
    ----------
    bytes : int
        Zero turns the pool off.

    Raises
    ------
    InvalidArgumentError
        `bytes` is negative.
    DTypeError
        `bytes` is not an int.

    Examples
    --------
    >>> before = bs.pool.stats()["limit"]
    >>> bs.pool.set_limit(2**20)
    >>> bs.pool.stats()["limit"]
    1048576
    >>> bs.pool.set_limit(before)
    """

def trim_pool() -> None:
    """Return all memory that the pool keeps to the system.

    Examples
    --------
    >>> bs.pool.trim()
    >>> bs.pool.stats()["bytes_kept"]
    0
    """

def probe_memory(dst: NDArray[Any] | None, src: NDArray[Any] | None, streaming: bool) -> None:
    """Zero, copy or read memory as fast as the machine can: the yardstick of the benchmark.

    Parameters
    ----------
    dst : ndarray or None
        A C-contiguous array: where zeros or the bytes of `src` go. None
        only reads `src`.
    src : ndarray or None
        A C-contiguous array as large as `dst`. None writes zeros.
    streaming : bool
        Write past the caches.
    """

def exit_on_bus_error(message: bytes, unfinished: bytes) -> None:
    """End the process in good order when a mapped file becomes shorter.

    From now on, SIGBUS removes the unfinished file, writes the message to
    standard error and ends the process with exit code 1.

    Parameters
    ----------
    message : bytes
        At most 4096 bytes.
    unfinished : bytes
        The path of the file to remove; empty for none.
    """

def simd_targets() -> list[str]:
    """Return the SIMD targets that this machine can run, best first.

    Returns
    -------
    list of str

    Examples
    --------
    >>> bs.simd_target() in bs.simd_targets()
    True
    """

def simd_target() -> str:
    """Return the SIMD target in use.

    Returns
    -------
    str
        The best one of this machine, or the one that the environment
        variable BACKSLICE_FORCE_TARGET names.

    Examples
    --------
    >>> bs.simd_target() == bs.simd_targets()[0]
    True
    """

def environment_problems() -> list[str]:
    """Return what is wrong with BACKSLICE_NUM_THREADS and BACKSLICE_FORCE_TARGET.

    Returns
    -------
    list of str
        What the first operation would say; empty if nothing is wrong.
    """

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
        Add the sum to `out`, and leave the rest of `out` as it is.
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
        given without `out`, or there are no slices and nothing says the
        dtype.
    OutOfRangeError
        An integer index is out of bounds, or the index has too many items.
    UnimplementedError
        The index asks for advanced indexing: it has a list, an array of
        integers or a mask.
    DTypeError
        The dtypes differ, or are not ones that backslice moves or can add;
        or a `dy` is a Python number, and nothing says its dtype.

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
    dtype : dtype, tf.DType or torch.dtype, optional
        What a Python number or a list becomes. By default a number takes
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

def _slice_grad_into_zeros(dy: Array, shape: Shape, index: Index, out: Output) -> None:
    """Compute ``slice_grad(dy, shape, index, out=out)`` where `out` is all zero already."""

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
    >>> bs.strided_slice(x, [1, 2], [0, 0], [1, 1], end_mask=0b01, shrink_axis_mask=0b10)
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
        the rest of `out` as it is.

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
    >>> bs.onnx_slice([[1, 2, 3], [4, 5, 6]], starts=[-1], ends=[-100], axes=[1], steps=[-2])
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
        Add `grad` to `out` where the slice takes its elements from, and
        leave the rest of `out` as it is.

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

Indices: TypeAlias = Array | tuple[Array, ...]

def sparse_slice(
    indices: Indices, values: Array, shape: Ints | SupportsExtents, start: Ints, size: Ints
) -> tuple[Any, NDArray[Any], NDArray[np.int64]]:
    """Slice a sparse (COO) tensor, as TensorFlow's SparseSlice does.

    Parameters
    ----------
    indices : array_like or tuple of array_like
        The positions of the entries: a matrix of shape (entries, rank) of
        int32 or int64, or a tuple with one column per axis, as SciPy has
        them.
    values : array_like
        The entries: an array of shape (entries,) or (entries, ...), of any
        dtype.
    shape : sequence of int or tf.TensorShape
        The dense shape of the tensor.
    start : sequence of int
        Where the slice begins, one per axis.
    size : sequence of int
        The extent of the slice, one per axis. What lies beyond the tensor
        is left out.

    Returns
    -------
    indices : ndarray or tuple of ndarray
        The positions of the entries with ``start <= index < start + size``,
        less `start`, in the form of the input.
    values : ndarray
        Their values.
    shape : ndarray of int64
        The dense shape of the slice.

    Raises
    ------
    InvalidArgumentError
        The arguments have different numbers of entries or axes, or a size
        is negative.
    DTypeError
        The indices are not int32 or int64, or the values are of a dtype
        that backslice does not move.

    See Also
    --------
    sparse_slice_grad, sparse_slice_grad_by_size : The gradient with respect to the values.

    Examples
    --------
    >>> entries = np.array([[0, 1], [1, 0], [2, 2]])
    >>> indices, values, shape = bs.sparse_slice(
    ...     entries, [5.0, 6.0, 7.0], shape=[3, 3], start=[1, 0], size=[2, 3]
    ... )
    >>> indices.tolist(), values.tolist(), shape.tolist()
    ([[0, 0], [1, 2]], [6.0, 7.0], [2, 3])
    """

def sparse_slice_grad(
    backprop_val_grad: Array,
    input_indices: Indices,
    input_start: Ints,
    output_indices: Indices,
    *,
    order: Literal["in_order", "any"] = "in_order",
    out: Output | None = None,
    accumulate: bool = False,
) -> NDArray[Any]:
    """Compute TensorFlow's SparseSliceGrad: the gradient of `sparse_slice` with respect to the values.

    Parameters
    ----------
    backprop_val_grad : array_like
        The gradient of the slice's values: an array of numbers with one row
        per row of `output_indices`.
    input_indices : array_like or tuple of array_like
        The positions of the entries that were sliced: a matrix of shape
        (entries, rank), or a tuple with one column per axis.
    input_start : sequence of int
        Where the slice began, one per axis.
    output_indices : array_like or tuple of array_like
        The positions of the slice's entries, as `sparse_slice` returned
        them.
    order : {"in_order", "any"}, default: "in_order"
        How rows of the slice find the rows they came from. "in_order": each
        goes to the first matching input row after the one before it, as in
        TensorFlow. "any": the n-th row with an index goes to the n-th input
        row with that index, wherever they are.
    out : ndarray or other writable array with DLPack, optional
        Where to write the gradient: an array with one row per input entry
        and the dtype of `backprop_val_grad`, which shares no memory with
        the arguments.
    accumulate : bool, default: False
        Add the gradient to `out`.

    Returns
    -------
    ndarray
        A new array with one row per input entry, or `out`; zero for entries
        outside the slice.

    Raises
    ------
    InvalidArgumentError
        The arguments have different numbers of entries or axes, arrays
        overlap, or `accumulate` is given without `out`.
    InternalError
        A row of the gradient matches no input entry, as in TensorFlow.
    DTypeError
        The indices are not int32 or int64, or the gradient is not one of
        numbers.

    See Also
    --------
    sparse_slice_grad_by_size : The same from the size of the slice, without `output_indices`.

    Examples
    --------
    >>> entries = np.array([[0, 1], [1, 0], [2, 2]])
    >>> bs.sparse_slice_grad([1.0, 2.0], entries, [1, 0], [[0, 0], [1, 2]])
    array([0., 1., 2.])
    """

def sparse_slice_grad_by_size(
    grad: Array,
    input_indices: Indices,
    start: Ints,
    size: Ints,
    *,
    out: Output | None = None,
    accumulate: bool = False,
) -> NDArray[Any]:
    """Compute the gradient of `sparse_slice` with respect to the values, from its start and size.

    Parameters
    ----------
    grad : array_like
        The gradient of the slice's values: an array of numbers with one row
        per entry in the slice, in their order.
    input_indices : array_like or tuple of array_like
        The positions of the entries that were sliced: a matrix of shape
        (entries, rank), or a tuple with one column per axis.
    start, size : sequence of int
        What `sparse_slice` was given, one per axis.
    out : ndarray or other writable array with DLPack, optional
        Where to write the gradient: an array with one row per input entry
        and the dtype of `grad`, which shares no memory with the arguments.
    accumulate : bool, default: False
        Add the gradient to `out`.

    Returns
    -------
    ndarray
        A new array with one row per input entry, or `out`; zero for entries
        outside the slice.

    Raises
    ------
    InvalidArgumentError
        `grad` has another number of rows than the slice has entries, the
        arguments have different numbers of axes, arrays overlap, or
        `accumulate` is given without `out`.
    DTypeError
        The indices are not int32 or int64, or the gradient is not one of
        numbers.

    Examples
    --------
    >>> entries = np.array([[0, 1], [1, 0], [2, 2]])
    >>> bs.sparse_slice_grad_by_size([1.0, 2.0], entries, start=[1, 0], size=[2, 3])
    array([0., 1., 2.])
    """

PartialShape: TypeAlias = Sequence[int | None] | SupportsExtents | None

class TensorArray:
    """A list of tensors that is written and read by index, with gradients.

    It does what TensorFlow's TensorArray operations do. A forward array is
    written once at each index. `grad` makes its gradient: an array of the
    same size in which several writes to one index add up. It may be used by
    several threads; a call that fails changes nothing. Arrays that it
    returns are read-only: they may share memory with its elements.

    Parameters
    ----------
    size : int
        How many elements there are.
    dtype : dtype, tf.DType or torch.dtype
        The dtype of the elements. ``str`` and ``bytes`` stand for strings
        of any length.
    element_shape : sequence of int or None, or tf.TensorShape, optional
        The shape of every element, None or -1 where an extent is not known.
        The default leaves even the rank open.
    dynamic_size : bool, default: False
        Writing past the end makes the array longer.
    clear_after_read : bool, default: True
        An element is released when it is read, and cannot be read again.
    identical_element_shapes : bool, default: False
        The first element that is written fixes the shape of all.
    name : str, optional
        For messages and `TensorArrayContainer`.
    contiguous : bool, default: False
        Keep all elements in one block, into which writes copy; `stack` is
        free. It needs a fully known `element_shape` and a fixed size.

    Raises
    ------
    InvalidArgumentError
        The size is negative, the shape is invalid, or `contiguous` lacks
        what it needs.
    DTypeError
        An argument has the wrong type, or the dtype is not one that
        backslice moves.

    Examples
    --------
    >>> steps = bs.TensorArray(2, np.float64)
    >>> steps.write(0, [1.0, 2.0])
    >>> steps.write(1, [3.0, 4.0])
    >>> steps.stack()
    array([[1., 2.],
           [3., 4.]])
    """

    def __init__(
        self,
        size: SupportsIndex,
        dtype: DType,
        element_shape: PartialShape = None,
        dynamic_size: bool = False,
        clear_after_read: bool = True,
        identical_element_shapes: bool = False,
        name: str = "",
        *,
        contiguous: bool = False,
    ) -> None: ...
    def write(self, index: SupportsIndex, value: Array, copy: bool = True) -> None:
        """Write an element.

        A forward array is written once at each index; in a gradient array
        several writes to one index add up.

        Parameters
        ----------
        index : int
            Where to write, from 0.
        value : array_like
            The element. An array has the dtype of the TensorArray; lists and
            numbers are converted to it.
        copy : bool, default: True
            False holds the memory of `value` instead; it must not be changed
            then.

        Raises
        ------
        InvalidArgumentError
            The array is closed, the index is out of bounds, was written before,
            or the shape does not fit `element_shape`.
        DTypeError
            `value` has another dtype.

        Examples
        --------
        >>> array = bs.TensorArray(1, np.float64)
        >>> gradient = array.grad("loss")
        >>> gradient.write(0, 1.5)
        >>> gradient.write(0, 2.0)
        >>> gradient.read(0)
        array(3.5)
        """

    def read(self, index: SupportsIndex, *, out: Output | None = None) -> NDArray[Any]:
        """Read an element.

        Parameters
        ----------
        index : int
            Which one, from 0.
        out : ndarray or other writable array with DLPack, optional
            Where to write it: an array of its shape and dtype, which shares no
            memory with the elements.

        Returns
        -------
        ndarray
            A read-only array, or `out`. An element that was not written reads
            as zeros where its shape is known.

        Raises
        ------
        InvalidArgumentError
            The array is closed, the index is out of bounds, the element was
            read and cleared before or has no known shape, or `out` has another
            shape.
        DTypeError
            `out` has another dtype.

        Examples
        --------
        >>> array = bs.TensorArray(1, np.float64)
        >>> array.write(0, [1.0, 2.0])
        >>> array.read(0)
        array([1., 2.])
        """

    def gather(
        self, indices: Ints, element_shape: PartialShape = None, *, out: Output | None = None
    ) -> NDArray[Any]:
        """Read several elements into one array.

        Parameters
        ----------
        indices : sequence of int
            Which ones, in the order of the result.
        element_shape : sequence of int or None, or tf.TensorShape, optional
            What is known of the elements' shape; it becomes the array's.
        out : ndarray or other writable array with DLPack, optional
            Where to write them: an array of the result's shape and dtype, which
            shares no memory with the elements.

        Returns
        -------
        ndarray
            A read-only array of shape (len(indices), ...), or `out`.

        Raises
        ------
        InvalidArgumentError
            The array is closed, an index is out of bounds, an element cannot be
            read, the elements have different shapes, or `out` has another
            shape.
        DTypeError
            The indices are not integers, or `out` has another dtype.
        UnimplementedError
            There are no indices, and the shape of the elements is not known.

        Examples
        --------
        >>> array = bs.TensorArray(3, np.float64)
        >>> array.unstack([1.0, 2.0, 3.0])
        >>> array.gather([2, 0])
        array([3., 1.])
        """

    def scatter(self, indices: Ints, value: Array, copy: bool = True) -> None:
        """Write row i of an array to ``indices[i]``.

        Parameters
        ----------
        indices : sequence of int
            Where the rows go.
        value : array_like
            An array of shape (len(indices), ...) and the dtype of the
            TensorArray.
        copy : bool, default: True
            False holds the memory of `value` instead; it must not be changed
            then.

        Raises
        ------
        InvalidArgumentError
            The array is closed, `value` has another number of rows, or a row
            cannot be written.
        DTypeError
            The indices are not integers, or `value` has another dtype.

        Examples
        --------
        >>> array = bs.TensorArray(3, np.float64)
        >>> array.scatter([2, 0], [5.0, 6.0])
        >>> array.read(0)
        array(6.)
        """

    def stack(self, *, out: Output | None = None) -> NDArray[Any]:
        """Read all elements into one array.

        Parameters
        ----------
        out : ndarray or other writable array with DLPack, optional
            Where to write them: an array of the result's shape and dtype, which
            shares no memory with the elements.

        Returns
        -------
        ndarray
            A read-only array of shape (size, ...), or `out`.

        Raises
        ------
        InvalidArgumentError
            The array is closed, an element cannot be read, the elements have
            different shapes, or `out` has another shape.
        DTypeError
            `out` has another dtype.
        UnimplementedError
            There are no elements, and their shape is not known.

        Examples
        --------
        >>> array = bs.TensorArray(2, np.float64)
        >>> array.unstack([[1.0, 2.0], [3.0, 4.0]])
        >>> array.stack()
        array([[1., 2.],
               [3., 4.]])
        """

    def unstack(self, value: Array, copy: bool = True) -> None:
        """Write row i of an array to index i.

        Parameters
        ----------
        value : array_like
            An array of shape (size, ...) and the dtype of the TensorArray.
        copy : bool, default: True
            False holds the memory of `value` instead; it must not be changed
            then.

        Raises
        ------
        InvalidArgumentError
            The array is closed, `value` has another number of rows, or a row
            cannot be written.
        DTypeError
            `value` has another dtype.

        Examples
        --------
        >>> array = bs.TensorArray(2, np.float64)
        >>> array.unstack([1.0, 2.0])
        >>> array.read(1)
        array(2.)
        """

    def concat(
        self, element_shape_except0: PartialShape = None, *, out: Output | None = None
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Read all elements, joined along their first axis.

        Parameters
        ----------
        element_shape_except0 : sequence of int or None, or tf.TensorShape, optional
            What is known of the elements' shape after the first axis.
        out : ndarray or other writable array with DLPack, optional
            Where to write them: an array of the result's shape and dtype, which
            shares no memory with the elements.

        Returns
        -------
        value : ndarray
            A read-only array, or `out`.
        lengths : ndarray of int64
            How many rows each element has.

        Raises
        ------
        InvalidArgumentError
            The array is closed, an element cannot be read or is a scalar, the
            elements have different shapes after the first axis, or `out` has
            another shape.
        DTypeError
            `out` has another dtype.
        UnimplementedError
            There are no elements, and their shape is not known.

        Examples
        --------
        >>> array = bs.TensorArray(2, np.float64)
        >>> array.write(0, [1.0])
        >>> array.write(1, [2.0, 3.0])
        >>> array.concat()
        (array([1., 2., 3.]), array([1, 2]))
        """

    def split(self, value: Array, lengths: Ints, copy: bool = True) -> None:
        """Write consecutive rows of an array to consecutive indices.

        The first ``lengths[0]`` rows go to index 0, the next ``lengths[1]``
        to index 1, and so on.

        Parameters
        ----------
        value : array_like
            An array of ``sum(lengths)`` rows and the dtype of the TensorArray.
        lengths : sequence of int
            How many rows each element gets, one per element.
        copy : bool, default: True
            False holds the memory of `value` instead; it must not be changed
            then.

        Raises
        ------
        InvalidArgumentError
            The array is closed, the lengths do not add up to the rows of
            `value`, or an element cannot be written.
        DTypeError
            The lengths are not integers, or `value` has another dtype.

        Examples
        --------
        >>> array = bs.TensorArray(2, np.float64)
        >>> array.split([1.0, 2.0, 3.0], [1, 2])
        >>> array.read(1)
        array([2., 3.])
        """

    def size(self) -> int:
        """Return how many elements there are.

        Returns
        -------
        int

        Raises
        ------
        InvalidArgumentError
            The array is closed.

        Examples
        --------
        >>> bs.TensorArray(2, np.float64).size()
        2
        """

    def close(self) -> None:
        """Release all elements.

        All later operations fail; gradient arrays that were made before still
        work.

        Examples
        --------
        >>> array = bs.TensorArray(2, np.float64)
        >>> array.close()
        >>> array
        <TensorArray closed, dtype float64, element shape <unknown>>
        """

    def grad(self, source: str) -> TensorArray:
        """Return the gradient array of a source, which is made at the first call.

        Parameters
        ----------
        source : str
            Distinguishes the gradients of one array. The same source returns
            the same array.

        Returns
        -------
        TensorArray
            An array of the same size in which writes to one index add up.

        Raises
        ------
        InvalidArgumentError
            The array is closed, or a gradient array itself.
        DTypeError
            The source is not a str.

        Examples
        --------
        >>> array = bs.TensorArray(2, np.float64, element_shape=[3])
        >>> array.grad("loss") == array.grad("loss")
        True
        """

    def grad_with_shape(self, source: str, shape_to_prepend: Ints) -> TensorArray:
        """Return the gradient array of a source, whose elements have more axes in front.

        Parameters
        ----------
        source : str
            Distinguishes the gradients of one array. The same source returns
            the same array, whatever the shape.
        shape_to_prepend : sequence of int
            The extents in front of the shape of the elements.

        Returns
        -------
        TensorArray
            An array of the same size in which writes to one index add up.

        Raises
        ------
        InvalidArgumentError
            The array is closed or a gradient array itself, or the shape is
            invalid.
        DTypeError
            The source is not a str, or the shape is not of integers.

        See Also
        --------
        tensor_array_grad_with_shape : The same with the arguments of TensorFlow.

        Examples
        --------
        >>> array = bs.TensorArray(2, np.float64, element_shape=[3])
        >>> array.grad_with_shape("loss", [4]).element_shape
        (4, 3)
        """

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the elements."""

    @property
    def name(self) -> str:
        """The name; ``name@source`` for a gradient array."""

    @property
    def element_shape(self) -> tuple[int | None, ...] | None:
        """What is known of the elements' shape: None for an extent that is not known, or for all of it."""

    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    def _contents(self) -> tuple[Any, ...]: ...
    @staticmethod
    def _restore(contents: tuple[Any, ...]) -> TensorArray: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """For ``copy`` and ``pickle``: an array of its own, without gradients.

        It holds what was written, and knows what was read. A gradient is made
        again with the sums so far. A closed array is refused.
        """

class TensorArrayContainer:
    """Named tensor arrays, to look them up.

    Arrays need no container; this is for programs that pass names around.
    It may be used by several threads.

    Examples
    --------
    >>> container = bs.TensorArrayContainer()
    >>> array = container.create(3, np.float32, name="steps")
    >>> container.names()
    ['steps_0']
    >>> container.find("steps_0") == array
    True
    """

    def __init__(self) -> None: ...
    def create(
        self,
        size: SupportsIndex,
        dtype: DType,
        element_shape: PartialShape = None,
        dynamic_size: bool = False,
        clear_after_read: bool = True,
        identical_element_shapes: bool = False,
        name: str = "",
        *,
        contiguous: bool = False,
    ) -> TensorArray:
        """Make a TensorArray, and keep it under its name followed by a number: ``"steps_0"``.

        Parameters
        ----------
        size, dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes, contiguous
            As for `TensorArray`.
        name : str, optional
            The name without the number. It must not contain an ``@``.

        Returns
        -------
        TensorArray

        Raises
        ------
        InvalidArgumentError
            An argument is invalid, as for `TensorArray`, or the name contains
            an ``@``.
        DTypeError
            An argument has the wrong type, or the dtype is not one that
            backslice moves.

        Examples
        --------
        >>> bs.TensorArrayContainer().create(3, np.float32, name="steps").name
        'steps_0'
        """

    def find(self, name: str) -> TensorArray | None:
        """Look up an array.

        Parameters
        ----------
        name : str
            The name of an array, or ``name@source`` for a gradient array that
            was made of it.

        Returns
        -------
        TensorArray or None
            None if there is none of that name.

        Raises
        ------
        DTypeError
            The name is not a str.

        Examples
        --------
        >>> container = bs.TensorArrayContainer()
        >>> gradient = container.create(3, np.float32, name="steps").grad("loss")
        >>> container.find("steps_0@loss") == gradient
        True
        """

    def remove(self, name: str) -> bool:
        """Release an array; it lives on as long as others hold it.

        Parameters
        ----------
        name : str
            The name of the array.

        Returns
        -------
        bool
            False if there is none of that name.

        Raises
        ------
        DTypeError
            The name is not a str.

        Examples
        --------
        >>> bs.TensorArrayContainer().remove("steps_0")
        False
        """

    def names(self) -> list[str]:
        """Return the names of the arrays, sorted; those of gradient arrays are not among them.

        Returns
        -------
        list of str

        Examples
        --------
        >>> bs.TensorArrayContainer().names()
        []
        """

    def __reduce__(self) -> tuple[Any, ...]:
        """Refused, with a DTypeError: a copy would name other arrays."""

def tensor_array_grad_with_shape(
    handle: TensorArray, flow_in: float | np.floating[Any], shape_to_prepend: Ints, source: str
) -> tuple[TensorArray, np.float32]:
    """Compute TensorFlow's TensorArrayGradWithShape: a gradient array whose elements have more axes in front.

    Parameters
    ----------
    handle : TensorArray
        The forward array.
    flow_in : float
        Orders operations in a TensorFlow graph, and is ignored here.
    shape_to_prepend : sequence of int
        The extents in front of the shape of the elements.
    source : str
        Distinguishes the gradients of one array. The same source returns
        the same array.

    Returns
    -------
    grad_handle : TensorArray
        An array of the same size in which writes to one index add up.
    flow_out : numpy.float32
        Zero.

    Raises
    ------
    InvalidArgumentError
        The array is closed or a gradient array itself, the shape is
        invalid, or `flow_in` is not a scalar.
    DTypeError
        `handle` is not a TensorArray, or another argument has the wrong
        type.

    See Also
    --------
    TensorArray.grad, TensorArray.grad_with_shape

    Examples
    --------
    >>> array = bs.TensorArray(2, np.float64, element_shape=[3])
    >>> gradient, flow = bs.tensor_array_grad_with_shape(array, 0.0, [4], "loss")
    >>> gradient.element_shape
    (4, 3)
    """

Splits: TypeAlias = Ints | Sequence[Ints]

class SupportsRaggedParts(Protocol):
    """TensorFlow's RaggedTensor."""

    @property
    def flat_values(self) -> Any: ...
    @property
    def nested_row_splits(self) -> Any: ...

class RaggedTensor:
    """Rows of different lengths, to any depth: values, and the splits between rows.

    Row i of the outermost list is ``values[splits[i]:splits[i + 1]]``.
    Values are held by reference and must not be changed; splits are checked
    and copied.

    Parameters
    ----------
    values : array_like
        The values of all rows, one after the other: an array of shape
        (values, ...) and any dtype.
    nested_row_splits : sequence of int, or sequence of such sequences
        The splits, from the outermost list to the innermost, int32 or
        int64. Each begins with 0, never decreases, and ends with the number
        of rows of the next.

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
        """The values of all rows, one after the other, as a read-only view."""

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
            What was taken: any index that ``self[index]`` takes.
        grad : RaggedTensor, tf.RaggedTensor or array_like
            The gradient of ``self[index]``, or of its values.
        out : ndarray or other writable array with DLPack, optional
            Where to write the gradient: an array of the shape and dtype of
            `values`, which shares no memory with `grad`.
        accumulate : bool, default: False
            Add `grad` to `out` where the values were taken from, and leave the
            rest of `out` as it is.

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
        """What an index takes, as TensorFlow has it.

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
        What is encoded. An array has ragged rank 0.
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
        Add the elements to `out`.

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
    >>> [row.tolist() for row in bs.ragged_tensor_from_variant_gradient(gradient, (2,))]
    [[1.0, 2.0], [3.0]]
    """
