"""Gradients of slices of dense Dask arrays."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from .._core import Selection, _numpy_dtype
from ..errors import DTypeError, InvalidArgumentError
from ..suggestions import checked_keywords
from . import arguments
from .arguments import known, known_arguments
from .layer import GradientLayer
from .overlaps import overlap
from .pieces import Slice, grid

if TYPE_CHECKING:
    from .._core.types import Index, Ints, Shape


@checked_keywords
def slice_grad(dy: Any, shape: "Shape", index: "Index", chunks: Any = "auto", *, onto: Any = None) -> Any:
    """Compute the gradient of ``y = x[index]`` with respect to a Dask array `x`, lazily.

    A chunk of the result depends on the chunks of `dy` that meet it, and on
    nothing else.

    Parameters
    ----------
    dy : dask.array.Array or array_like
        The gradient with respect to `y`, whose shape is that of
        ``x[index]`` or broadcasts to it.
    shape : int or sequence of int
        The shape of `x`.
    index : int, slice, Ellipsis, None, tuple of these, str or Selection
        NumPy's basic indexing, its text such as ``"1:3, ::2"``, or a
        Selection.
    chunks : int, tuple, dict or str, default: "auto"
        The chunks of the result, in any of Dask's notations.
    onto : dask.array.Array, optional
        A gradient of that shape to add to: the result is `onto` with `dy` added at the selected elements, with the
        chunks of `onto`. `onto` itself does not change.

    Returns
    -------
    dask.array.Array

    Raises
    ------
    InvalidArgumentError
        `dy` or `onto` has another shape, the chunks do not add up to the
        shape, a chunk has an unknown size, or the shape or the index
        depends on data that is still to be computed.
    OutOfRangeError
        An integer index is out of bounds, or the index has too many items.
    DTypeError
        `dy` has a dtype that backslice does not move or cannot add, or
        `onto` another one.
    UnimplementedError
        The index asks for advanced indexing, or the chunks of `dy` are not
        NumPy's.

    Examples
    --------
    >>> import dask.array as da
    >>> from backslice.dask import slice_grad
    >>> dy = da.ones((4, 3), chunks=2)
    >>> dx = slice_grad(dy, (6, 6), np.s_[1:5, ::2], chunks=3)
    >>> dx.chunks
    ((3, 3), (3, 3))
    >>> dx[1].compute()
    array([1., 0., 1., 0., 1., 0.])
    """
    selection = Selection.from_index(*known_arguments(shape=shape, index=index))
    return _gradient("slice_grad", [("dy", selection, dy)], selection.shape, chunks, onto, arguments.broadcast)


@checked_keywords
def strided_slice_grad(
    shape: "Ints",
    begin: "Ints",
    end: "Ints",
    strides: "Ints | None" = None,
    dy: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    *,
    chunks: Any = "auto",
    onto: Any = None,
) -> Any:
    """Compute TensorFlow's StridedSliceGrad for Dask arrays, lazily.

    Parameters
    ----------
    shape : sequence of int
        The shape of the input that was sliced.
    begin, end : sequence of int
        One entry per item of the slice, all of the same length.
    strides : sequence of int, optional
        The same. The default is ones.
    dy : dask.array.Array or array_like
        The gradient of the slice's result, of exactly its shape. It must be
        given.
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask : int
        Bit i changes the meaning of item i, as in
        `backslice.strided_slice_grad`.
    chunks, onto : optional
        The same as in `slice_grad`.

    Returns
    -------
    dask.array.Array

    Raises
    ------
    InvalidArgumentError
        TensorFlow refuses the arguments too; or what `slice_grad` refuses.
    DTypeError
        A list is not of integers, or what `slice_grad` refuses.

    Examples
    --------
    >>> import dask.array as da
    >>> from backslice.dask import strided_slice_grad
    >>> strided_slice_grad([5], [0], [4], [2], dy=da.ones(2)).compute()
    array([1., 0., 1., 0., 0.])
    """
    if dy is None:
        raise DTypeError("dy is missing; expected a Dask array with the gradient of the slice")
    spec = known_arguments(
        shape=shape, begin=begin, end=end, strides=strides, begin_mask=begin_mask, end_mask=end_mask,
        ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask, shrink_axis_mask=shrink_axis_mask,
    )  # fmt: skip
    selection = Selection.from_tf(*spec)
    return _gradient("strided_slice_grad", [("dy", selection, dy)], selection.shape, chunks, onto, arguments.exact)


@checked_keywords
def onnx_slice_grad(
    grad: Any,
    shape: "Ints",
    starts: "Ints",
    ends: "Ints",
    axes: "Ints | None" = None,
    steps: "Ints | None" = None,
    *,
    chunks: Any = "auto",
    onto: Any = None,
) -> Any:
    """Compute ONNX Runtime's SliceGrad for Dask arrays, lazily.

    Parameters
    ----------
    grad : dask.array.Array or array_like
        The gradient of the slice's result, with as many elements as the
        slice. They are read in row-major order, whatever the shape of
        `grad`.
    shape : sequence of int
        The shape of the data that was sliced.
    starts, ends : sequence of int
        One entry per axis in `axes`.
    axes : sequence of int, optional
        The axes that are sliced. The default is the first ``len(starts)``.
    steps : sequence of int, optional
        The default is ones.
    chunks, onto : optional
        The same as in `slice_grad`.

    Returns
    -------
    dask.array.Array

    Raises
    ------
    InvalidArgumentError
        The lists do not fit each other or the shape, `grad` has another
        number of elements, or what `slice_grad` refuses.
    DTypeError
        A list is not of integers, or what `slice_grad` refuses.

    Examples
    --------
    >>> import dask.array as da
    >>> from backslice.dask import onnx_slice_grad
    >>> onnx_slice_grad(da.ones(2), [4], starts=[1], ends=[3]).compute()
    array([0., 1., 1., 0.])
    """
    lists = known_arguments(shape=shape, starts=starts, ends=ends, axes=axes, steps=steps)
    selection = Selection.from_onnx(*lists)
    return _gradient("onnx_slice_grad", [("grad", selection, grad)], selection.shape, chunks, onto, arguments.row_major)


@checked_keywords
def multi_slice_grad(
    shape: "Shape", slices: Iterable[tuple["Index", Any]], chunks: Any = "auto", *, onto: Any = None, dtype: Any = None
) -> Any:
    """Compute the sum of the gradients of many slices of one Dask array, lazily.

    Each chunk of the result is written once, however many slices meet it.
    Where slices overlap, contributions are added in the order of the list.

    Parameters
    ----------
    shape : int or sequence of int
        The shape of the array that was sliced.
    slices : iterable of (index, dy)
        Each index and each `dy` is what `slice_grad` takes. All have one
        dtype.
    chunks, onto : optional
        The same as in `slice_grad`.
    dtype : dtype, optional
        The dtype of the result. Needed if there are neither slices nor `onto`, whose dtype is the default.

    Returns
    -------
    dask.array.Array

    Raises
    ------
    InvalidArgumentError
        There are no slices and nothing determines the dtype, or what
        `slice_grad` refuses.
    DTypeError
        The dtypes differ, or what `slice_grad` refuses.

    Examples
    --------
    >>> import dask.array as da
    >>> from backslice.dask import multi_slice_grad
    >>> windows = [("0:3", da.ones(3)), ("2:4", da.full(2, 5.0))]
    >>> multi_slice_grad((5,), windows, chunks=2).compute()
    array([1., 1., 6., 5., 0.])
    """
    extents = Selection.from_index(known("shape", shape), ...).shape
    taken = []
    for i, (index, dy) in enumerate(arguments.pairs(slices)):
        selection = Selection.from_index(extents, known(f"slices[{i}].index", index))
        taken.append((f"slices[{i}].dy", selection, dy))
    return _gradient("multi_slice_grad", taken, extents, chunks, onto, arguments.broadcast, dtype)


def _gradient(
    operation: str,
    slices: Sequence[tuple[str, Selection, Any]],
    shape: tuple[int, ...],
    chunks: Any,
    onto: Any,
    fit: arguments.Fit,
    dtype: Any = None,
) -> Any:
    """Return the lazy sum of the slices' gradients. Each slice comes with the name of its argument."""
    selections = [selection for _, selection, _ in slices]
    dys = [fit(name, arguments.blocks_of(name, dy), selection.result_shape) for name, selection, dy in slices]
    chunked, onto = isinstance(onto, da.Array), None if onto is None else arguments.blocks_of("onto", onto)
    result_dtype = _common_dtype([name for name, _, _ in slices], dys, onto, dtype)
    arguments.check_dtype(
        slices[0][0] if slices else "dtype" if onto is None else "onto",
        result_dtype,
        zeros=lambda: onto is None and (sum(dy.size for dy in dys) != math.prod(shape) or overlap(selections)),
        added=lambda: bool(dys) and (onto is not None or overlap(selections)),
    )
    if onto is not None:
        onto = arguments.fitting_onto(onto, shape, result_dtype, chunks, chunked=chunked)
    all_chunks = arguments.result_chunks(chunks, shape, result_dtype) if onto is None else onto.chunks

    token = tokenize(
        [(dy.name, s.axes, s.result_axes) for s, dy in zip(selections, dys, strict=True)],
        all_chunks,
        (result_dtype.name, result_dtype.str),  # Dask's own token of a dtype is the same for all ml_dtypes of a width
        None if onto is None else onto.name,
    )
    name = f"{operation}-{token}"
    bounds = grid(all_chunks)
    taken = [(dy.name, Slice(s, bounds, grid(dy.chunks))) for s, dy in zip(selections, dys, strict=True)]
    layer = GradientLayer(name, taken, all_chunks, result_dtype, None if onto is None else onto.name)
    sources = [*dys] if onto is None else [onto, *dys]
    graph = HighLevelGraph.from_collections(name, layer, dependencies=sources)
    return da.Array(graph, name, all_chunks, meta=np.empty((0,) * len(shape), result_dtype))


def _common_dtype(names: Sequence[str], dys: Sequence[Any], onto: Any, dtype: Any) -> np.dtype[Any]:
    given = None if dtype is None else _numpy_dtype(dtype)
    if not dys:
        found: np.dtype[Any] | None = given if onto is None else onto.dtype
        if found is None:
            raise InvalidArgumentError("slices is empty, and nothing determines the dtype; pass dtype= or onto=")
        if given not in (None, found):
            raise DTypeError(f"dtype is {given}, expected {found}, that of onto; leave it out")
        return found
    expected: np.dtype[Any] = dys[0].dtype
    for name, dy in zip(names, dys, strict=True):
        arguments.same_dtype(name, dy.dtype, expected, names[0])
    if given not in (None, expected):
        raise DTypeError(f"dtype is {given}, expected {expected}, that of {names[0]}; leave it out")
    return expected
