"""Refusals of gradients of Dask arrays, all of them while the graph is built."""

import backslice as bs
import dask
import dask.array as da
import ml_dtypes
import numpy as np
import pytest
from backslice.dask import multi_slice_grad, onnx_slice_grad, slice_grad, strided_slice_grad
from test_dask import INDEX


class Never:
    """Chunks that must not be computed."""

    shape, dtype, ndim = (4, 3), np.dtype(float), 2

    def __getitem__(self, index):
        raise AssertionError("a chunk was computed")


def lazy_dy():
    return da.from_array(Never(), chunks=2, meta=np.empty((0, 0)), asarray=False)


REFUSED = {
    "chunks that do not add up": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks=((3, 4), (6,))),
        bs.InvalidArgumentError, r"chunks is \(\(3, 4\), \(6,\)\), which does not fit the shape \(6, 6\)",
    ),
    "chunks of an unknown size": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks=((float("nan"),) * 2, (6,))),
        bs.InvalidArgumentError, "chunks",
    ),
    "chunks of too many axes": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks=(1, 2, 3)), bs.InvalidArgumentError, "chunks is",
    ),
    "chunks that are negative": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks=((7, -1), 6)), bs.InvalidArgumentError, "chunks",
    ),
    "chunks of no elements": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks=0),
        bs.InvalidArgumentError, r'chunks is 0, which does not fit the shape \(6, 6\); expected a size for all axes or',
    ),
    "chunks that are more than memory can list": (
        lambda: slice_grad(da.zeros(4), (2**62,), ":4", chunks=1),
        bs.InvalidArgumentError, r"chunks is 1, and an array of shape \(4611686018427387904,\) has too many of those",
    ),
    "chunks of parts of elements": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks=((2.5, 3.5), 6)), bs.InvalidArgumentError, "add up to 6",
    ),
    "chunks of an axis that is none": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks={2: 3}),
        bs.InvalidArgumentError, "chunks has the key 2, expected axes of an array of rank 2",
    ),
    "dy with chunks of an unknown size": (
        lambda: slice_grad(lazy_dy()[lazy_dy()[:, 0] > 0], (6, 6), INDEX),
        bs.InvalidArgumentError, r"dy has chunks of unknown size along axis 0; call dy.compute_chunk_sizes\(\)",
    ),
    "dy of another shape": (
        lambda: slice_grad(lazy_dy(), (6, 6), np.s_[1:4, ::2]),
        bs.InvalidArgumentError, r"dy has shape \(4, 3\), expected \(3, 3\), the shape of the slice",
    ),
    "dy of another shape, which strided_slice_grad does not broadcast": (
        lambda: strided_slice_grad([2, 4, 3], [0], [2], dy=lazy_dy()),
        bs.InvalidArgumentError, r"dy has shape \(4, 3\), expected \(2, 4, 3\)",
    ),
    "grad with another number of elements": (
        lambda: onnx_slice_grad(lazy_dy(), [6, 6], [0], [1]),
        bs.InvalidArgumentError, "grad has 12 elements, expected 6",
    ),
    "dy of objects": (
        lambda: slice_grad(da.from_array(np.array([{}, {}]), chunks=1), (4,), ":2"),
        bs.DTypeError, "dy has dtype object",
    ),
    "dy of dates": (
        lambda: slice_grad(da.from_array(np.zeros(2, "M8[s]")), (4,), ":2"), bs.DTypeError, "dy has dtype datetime64",
    ),
    "dy of structures": (
        lambda: slice_grad(da.from_array(np.zeros(2, [("a", "i4"), ("b", "f8")])), (4,), ":2"),
        bs.DTypeError, r"^dy has dtype \[\('a', '<i4'\), \('b', '<f8'\)\], which backslice does not move",
    ),
    "dy without a zero": (
        lambda: slice_grad(da.from_array(np.ones(2, ml_dtypes.float8_e8m0fnu)), (4,), ":2"),
        bs.DTypeError, "dy has dtype float8_e8m0fnu, which has no zero",
    ),
    "dy of the other byte order, to be added": (
        lambda: slice_grad(da.ones(2, dtype=">f4"), (4,), ":2", onto=da.ones(4, dtype=">f4")),
        bs.DTypeError, "dy has dtype >f4, whose elements cannot be added",
    ),
    "a dtype of objects": (
        lambda: multi_slice_grad((4,), [], dtype=object), bs.DTypeError, "dtype is object, whose zero",
    ),
    "another dtype than that of the dys": (
        lambda: multi_slice_grad((4,), [(":2", da.ones(2))], dtype="f4"),
        bs.DTypeError, r"dtype is float32, expected float64, that of slices\[0\].dy; leave it out",
    ),
    "slices that are none": (
        lambda: multi_slice_grad((4,), None), bs.DTypeError, r"slices has type NoneType, expected a list of pairs",
    ),
    "slices without pairs": (
        lambda: multi_slice_grad((4,), [da.ones(2)]), bs.DTypeError, r"slices\[0\] has type Array, expected a pair",
    ),
    "slices of three items": (
        lambda: multi_slice_grad((4,), [(":2", da.ones(2), 1)]),
        bs.InvalidArgumentError, r"slices\[0\] has 3 items, expected a pair",
    ),
    "dy of masked arrays": (
        lambda: slice_grad(da.ma.masked_array(da.ones(2), [0, 1]), (4,), ":2"),
        bs.UnimplementedError, r"dy has chunks of type MaskedArray.*convert them with dask.array.ma.filled\(dy, 0\)",
    ),
    "dys of two dtypes": (
        lambda: multi_slice_grad((4,), [(":2", da.ones(2)), ("2:", da.ones(2, dtype="f4"))]),
        bs.DTypeError, r"slices\[1\].dy has dtype float32, expected float64",
    ),
    "no dys and no dtype": (
        lambda: multi_slice_grad((4,), []), bs.InvalidArgumentError, "pass dtype= or onto=",
    ),
    "no dy": (lambda: strided_slice_grad([4], [0], [2]), bs.DTypeError, "dy is missing"),
    "onto of another dtype": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, onto=da.ones((6, 6), dtype="f4")),
        bs.DTypeError, "onto has dtype float32, expected float64, that of dy; convert it with astype",
    ),
    "onto of another shape": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, onto=da.ones((6, 5))),
        bs.InvalidArgumentError, r"onto has shape \(6, 5\), expected \(6, 6\)",
    ),
    "onto with other chunks": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks=2, onto=da.ones((6, 6), chunks=3)),
        bs.InvalidArgumentError, "leave it out, or rechunk onto",
    ),
    "chunks beside onto that is chunked otherwise, as an array": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks=np.array([2, 2]), onto=da.ones((6, 6), chunks=3)),
        bs.InvalidArgumentError, "leave it out, or rechunk onto",
    ),
    "chunks of no name": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks=""), bs.InvalidArgumentError, "chunks is '', which",
    ),
    "chunks of a truth value": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks=(True, 6)),
        bs.InvalidArgumentError, r"chunks is \(True, 6\)",
    ),
    "chunks of a truth value along an axis": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks={0: True}), bs.InvalidArgumentError, "chunks is {0: True}",
    ),
    "chunks of one axis twice": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, chunks={0: 2, -2: 3}),
        bs.InvalidArgumentError, r"chunks is {0: 2, -2: 3}, which names an axis twice",
    ),
    "dy that is no array yet": (
        lambda: slice_grad(dask.delayed(np.ones)((4, 3)), (6, 6), INDEX),
        bs.DTypeError, "dy is a Dask Delayed, expected a Dask array; dask.array.from_delayed makes one",
    ),
    "onto that is no array yet": (
        lambda: slice_grad(lazy_dy(), (6, 6), INDEX, onto=dask.delayed(np.ones)((6, 6))),
        bs.DTypeError, "onto is a Dask Delayed",
    ),
    "dy that is nothing": (lambda: slice_grad(None, (6, 6), INDEX), bs.DTypeError, "dy is None, expected a Dask array"),
    "dy that is a number": (
        lambda: slice_grad(1, (6, 6), INDEX), bs.DTypeError, "dy is 1, a Python number, which has no dtype",
    ),
    "another dtype than that of onto": (
        lambda: multi_slice_grad((4,), [], onto=da.ones(4), dtype="f4"),
        bs.DTypeError, "dtype is float32, expected float64, that of onto; leave it out",
    ),
    "truth values that overlap": (
        lambda: multi_slice_grad((4,), [("0:3:2", da.ones(2, dtype=bool)), ("2:4", da.ones(2, dtype=bool))]),
        bs.DTypeError, r"slices\[0\].dy has dtype bool, whose elements cannot be added",
    ),
    "strings onto strings": (
        lambda: slice_grad(da.from_array(np.array(["a"])), (2,), ":1", onto=da.from_array(np.array(["b", "c"]))),
        bs.DTypeError, "dy has dtype <U1",
    ),
    "an index that depends on data": (
        lambda: slice_grad(lazy_dy(), (6, 6), np.s_[lazy_dy().sum() :, 0]),
        bs.InvalidArgumentError, r"index depends on data: it has a Dask Array.*as its compute\(\) returns",
    ),
    "an index of slices that depends on data": (
        lambda: multi_slice_grad((6, 6), [((lazy_dy().sum(),), lazy_dy())]),
        bs.InvalidArgumentError, r"slices\[0\].index depends on data",
    ),
    "a begin that depends on data": (
        lambda: strided_slice_grad([6], lazy_dy()[0], [1], dy=lazy_dy()),
        bs.InvalidArgumentError, "begin depends on data",
    ),
    "a mask that depends on data": (
        lambda: strided_slice_grad([6], [0], [1], dy=lazy_dy(), end_mask=lazy_dy().sum()),
        bs.InvalidArgumentError, "end_mask depends on data",
    ),
    "a shape that depends on data": (
        lambda: slice_grad(lazy_dy(), (dask.delayed(6), 6), INDEX), bs.InvalidArgumentError, "shape depends on data",
    ),
    "a mask": (lambda: slice_grad(lazy_dy(), (6,), np.array([True] * 6)), bs.UnimplementedError, "advanced indexing"),
    "an index out of range": (lambda: slice_grad(lazy_dy(), (6,), 7), bs.OutOfRangeError, "7"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_while_the_graph_is_built(case):
    call, error, text = REFUSED[case]
    with pytest.raises(error, match=text):
        call()
