"""Lists of tensors with gradients."""

from typing import Any, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .types import Array, Device, DType, Ints, Output, PartialShape

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
    device : str, torch.device or cupy.cuda.Device, optional
        The device of the elements: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``. By
        default the first element that is written decides, and with
        `contiguous` they are on the CPU. Results are arrays of PyTorch or
        CuPy where `device` or the first element is theirs.

    Raises
    ------
    InvalidArgumentError
        The size is negative, the shape is invalid, or `contiguous` lacks
        what it needs.
    DTypeError
        An argument has the wrong type, or the dtype is not one that
        backslice moves, or holds strings that are to be on a device.
    FailedPreconditionError, UnimplementedError
        There is no CUDA device, or backslice was built without CUDA.

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
        device: Device | None = None,
    ) -> None: ...
    def write(self, index: SupportsIndex, value: Array, copy: bool = True) -> None:
        """Write an element.

        A forward array is written once at each index; in a gradient array
        several writes to one index add up.

        Parameters
        ----------
        index : int
            The index to write, from 0.
        value : array_like
            The element. An array has the dtype of the TensorArray; lists and
            numbers are converted to it.
        copy : bool, default: True
            False holds the memory of `value` instead; it must not be changed
            then. On a device, only memory of PyTorch and CuPy is held.

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

    def gather(self, indices: Ints, element_shape: PartialShape = None, *, out: Output | None = None) -> NDArray[Any]:
        """Read several elements into one array.

        Parameters
        ----------
        indices : sequence of int
            Which ones, in the order of the result.
        element_shape : sequence of int or None, or tf.TensorShape, optional
            The known part of the elements' shape; it becomes the array's.
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
            The indices of the rows.
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
            The known part of the elements' shape after the first axis.
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
        TensorArray(closed, dtype float64, element shape <unknown>)
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
        """The known part of the elements' shape: None for an unknown extent, or for an unknown shape."""

    @property
    def device(self) -> str:
        """The device of the elements: ``"cpu"``, also before the first write, or ``"cuda:0"``."""

    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        """Refuse: `stack` and `concat` make one array of all elements.

        Raises
        ------
        DTypeError
            Always.
        """

    def __repr__(self) -> str: ...
    def _contents(self) -> tuple[Any, ...]: ...
    @staticmethod
    def _restore(contents: tuple[Any, ...]) -> TensorArray: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """For ``copy`` and ``pickle``: an array of its own, without gradients.

        It holds what was written, and knows what was read. A gradient is made
        again with the sums so far. A closed array is refused.
        """
