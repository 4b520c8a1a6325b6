"""Gradients of sparse slices, partition by partition."""

import backslice as bs
import dask.array as da
import numpy as np
import pytest
from backslice.dask import sparse_slice_grad, sparse_slice_grad_by_size

START, SIZE, SHAPE = [1, 2], [4, 3], [6, 8]
CUTS = ((5, 1, 0, 7, 27),)


def entries(values_shape=()):
    """The entries of a tensor, partitioned by rows, and of its slice, as slicing each partition leaves them."""
    rng = np.random.default_rng(0)
    indices = np.column_stack([rng.integers(0, n, sum(CUTS[0])) for n in SHAPE])
    parts = np.split(indices, np.cumsum(CUTS[0])[:-1])
    taken = [bs.sparse_slice(p, np.zeros(len(p)), SHAPE, START, SIZE)[0] for p in parts]
    rows = (tuple(map(len, taken)),)
    grad = rng.random((sum(rows[0]), *values_shape))
    return indices, np.concatenate(taken), grad, rows


def lazy(array, rows):
    return da.from_array(array, chunks=(*rows, *((n,) for n in array.shape[1:])))


@pytest.mark.parametrize("values_shape", [(), (3,)])
def test_equal_to_the_gradient_in_memory(values_shape):
    indices, taken, grad, rows = entries(values_shape)
    expected = bs.sparse_slice_grad(grad, indices, START, taken)
    dx = sparse_slice_grad(lazy(grad, rows), lazy(indices, CUTS), START, lazy(taken, rows))
    assert dx.chunks[0] == CUTS[0] and dx.dtype == grad.dtype
    assert np.array_equal(dx.compute(), expected)
    by_size = sparse_slice_grad_by_size(lazy(grad, rows), lazy(indices, CUTS), START, SIZE)
    assert np.array_equal(by_size.compute(), expected)


def test_row_counts_may_be_unknown():
    """As they are where a slice was taken lazily."""
    indices, taken, grad, rows = entries()
    unknown = lazy(taken, rows)
    unknown = unknown[da.from_array(np.ones(len(taken), bool), chunks=rows)]
    dx = sparse_slice_grad(lazy(grad, rows), lazy(indices, CUTS), START, unknown)
    assert np.array_equal(dx.compute(), bs.sparse_slice_grad(grad, indices, START, taken))


def test_a_partition_depends_on_itself_alone():
    indices, taken, grad, rows = entries()
    dx = sparse_slice_grad(lazy(grad, rows), lazy(indices, CUTS), START, lazy(taken, rows))
    again = sparse_slice_grad(lazy(grad, rows), lazy(indices, CUTS), START, lazy(taken, rows))
    assert again.name == dx.name and dx.name.startswith("sparse_slice_grad-")
    needed = {key for key in dict(dx.blocks[3].__dask_graph__().cull({dx.blocks[3].__dask_keys__()[0]}))}
    assert {key[1] for key in needed if key[0] == dx.name} == {3}


def test_refused_while_the_graph_is_built():
    indices, taken, grad, rows = entries()
    good = dict(
        backprop_val_grad=lazy(grad, rows),
        input_indices=lazy(indices, CUTS),
        input_start=START,
        output_indices=lazy(taken, rows),
    )
    for change, error, text in [
        ({"output_indices": da.from_array(taken)},
         bs.InvalidArgumentError, "output_indices has 1 row partitions, expected 5 as in input_indices"),
        ({"backprop_val_grad": da.ones(3)},
         bs.InvalidArgumentError, "backprop_val_grad has 1 row partitions, expected 5 as in input_indices"),
        ({"backprop_val_grad": da.ones(5, chunks=1)},
         bs.InvalidArgumentError, f"backprop_val_grad has 1 rows in partition 0, expected {rows[0][0]}, as"),
        ({"input_start": [1]}, bs.InvalidArgumentError, "input_start has 1 entries, expected 2"),
        ({"input_start": [da.ones(1).sum(), 1]}, bs.InvalidArgumentError, "input_start depends on data"),
        ({"input_start": [1.5, 1]}, bs.DTypeError, "input_start is"),
        ({"input_indices": lazy(indices, CUTS).astype("f4")}, bs.DTypeError, "input_indices has dtype float32"),
        ({"output_indices": lazy(taken, rows).astype("i4")}, bs.DTypeError, "output_indices has dtype int32"),
        ({"input_indices": da.ones(5, dtype="i8")}, bs.InvalidArgumentError, r"input_indices has shape \(5,\)"),
        ({"backprop_val_grad": lazy(grad, rows).astype("S3")}, bs.DTypeError, "backprop_val_grad has dtype"),
    ]:  # fmt: skip
        with pytest.raises(error, match=text):
            sparse_slice_grad(**(good | change))
    window = {"grad": lazy(grad, rows), "input_indices": lazy(indices, CUTS), "start": START, "size": SIZE}
    for change, error, text in [
        ({"size": [-1, 2]}, bs.InvalidArgumentError, "size"),
        ({"start": [2**70, 2]}, bs.Error, "start"),
        ({"start": 2}, bs.DTypeError, "start is 2, expected a sequence of 2 int"),
    ]:
        with pytest.raises(error, match=text):
            sparse_slice_grad_by_size(**(window | change))
