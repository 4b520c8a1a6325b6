"""Tensor arrays by name, and their gradients."""

from typing import Any, SupportsIndex

import numpy as np

from .tensor_array import TensorArray
from .types import Device, DType, Ints, PartialShape

class TensorArrayContainer:
    """Named tensor arrays, to look them up.

    Deprecated, and removed in 0.5: a dict does the same. Arrays need no container.
    It may be used by several threads.

    Examples
    --------
    >>> container = bs._core.TensorArrayContainer()
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
        device: Device | None = None,
    ) -> TensorArray:
        """Make a TensorArray, and keep it under its name followed by a number: ``"steps_0"``.

        Parameters
        ----------
        size, dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes, contiguous, device
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
        >>> bs._core.TensorArrayContainer().create(3, np.float32, name="steps").name
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
        >>> container = bs._core.TensorArrayContainer()
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
        >>> bs._core.TensorArrayContainer().remove("steps_0")
        False
        """

    def names(self) -> list[str]:
        """Return the names of the arrays, sorted; those of gradient arrays are not among them.

        Returns
        -------
        list of str

        Examples
        --------
        >>> bs._core.TensorArrayContainer().names()
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
