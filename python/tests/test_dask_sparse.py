"""Gradients of sparse slices, partition by partition."""

import pickle

import backslice as bs
import dask.array as da
import numpy as np
import pytest
from backslice.dask import sparse_slice_grad, sparse_slice_grad_by_size
from dask.graph_manipulation import clone

START, SIZE, SHAPE = [1, 2], [4, 3], [6, 8]
CUTS = ((5, 1, 0, 7, 27),)
MORE = ((6, 1, 0, 7, 31),)


def entries(values_shape=()):
    """Return the entries of a tensor, partitioned by rows, and of its slice, as slicing each partition gives them."""
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
    """Return the arrays of a lazy slice."""
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


def test_the_layer_tells_what_it_is():
    indices, taken, grad, rows = entries()
    dx = sparse_slice_grad(lazy(grad, rows), lazy(indices, CUTS), START, lazy(taken, rows))
    layer = dx.dask.layers[dx.name]
    assert repr(layer) == f"<SparseGradientLayer '{dx.name}': 5 row partitions with 40 entries>"
    assert "row partitions" in layer._repr_html_() and "entries" in layer._repr_html_()
    unknown = lazy(indices, CUTS)[da.from_array(np.ones(len(indices), bool), chunks=CUTS)]
    dx = sparse_slice_grad_by_size(lazy(grad, rows), unknown, START, SIZE)
    assert "5 row partitions with an unknown number of entries" in repr(dx.dask.layers[dx.name])


def test_the_layer_is_lazy_and_can_be_pickled_and_cloned():
    indices, taken, grad, rows = entries()
    dx = sparse_slice_grad_by_size(lazy(grad, rows) * 2, lazy(indices, CUTS), START, SIZE) + 1
    expected = bs.sparse_slice_grad(grad * 2, indices, START, taken) + 1
    assert not any(layer.is_materialized() for name, layer in dx.dask.layers.items() if "sparse" in name)
    for again in (dx, pickle.loads(pickle.dumps(dx)), clone(dx)):
        assert np.array_equal(again.compute(), expected)


def test_refused_while_the_graph_is_built():
    indices, taken, grad, rows = entries()
    more = np.zeros((45, 2), int)
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
        ({"output_indices": lazy(more, MORE), "backprop_val_grad": lazy(np.ones(45), MORE)},
         bs.InvalidArgumentError, "output_indices has 6 rows in partition 0, expected at most 5, the entries of"),
        ({"input_start": {0: 1, 1: 2}}, bs.DTypeError, "input_start is {0: 1, 1: 2}, expected a sequence of 2 int"),
        ({"input_start": {1, 2}}, bs.DTypeError, "input_start is {1, 2}, expected a sequence of 2 int"),
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
        (
            {"grad": lazy(np.ones(45), MORE)},
            bs.InvalidArgumentError,
            "grad has 6 rows in partition 0, expected at most 5",
        ),
        ({"size": [-1, 2]}, bs.InvalidArgumentError, "size"),
        ({"start": [2**70, 2]}, bs.Error, "start"),
        ({"start": 2}, bs.DTypeError, "start is 2, expected a sequence of 2 int"),
    ]:
        with pytest.raises(error, match=text):
            sparse_slice_grad_by_size(**(window | change))
