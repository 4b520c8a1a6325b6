"""Gradients of slices of Dask arrays: equal to those in memory, from graphs that are exact."""

import pickle
import subprocess
import sys
import threading
import time

import backslice as bs
import dask
import dask.array as da
import ml_dtypes
import numpy as np
import pytest
from backslice.dask import multi_slice_grad, onnx_slice_grad, slice_grad, strided_slice_grad
from dask.base import collections_to_expr
from dask.graph_manipulation import bind, clone
from dask.task_spec import Alias
from hypothesis import given, settings
from hypothesis import strategies as st
from test_dask_meetings import chunked_slices, chunkings

DY = np.arange(1.0, 13).reshape(4, 3)
INDEX = np.s_[1:5, ::-2]


def numbers(shape, dtype="float64"):
    return np.arange(1, 1 + int(np.prod(shape)), dtype=dtype).reshape(shape)


def tasks_of(array):
    return dict(array.dask.layers[array.name])


def optimised(*arrays):
    return dict(collections_to_expr(arrays, optimize_graph=True).optimize().__dask_graph__())


@settings(max_examples=100, deadline=None)
@given(chunked_slices())
def test_equal_to_the_gradient_in_memory(case):
    selection, dx_chunks, dy_chunks = case
    dy = numbers(selection.result_shape)
    lazy = slice_grad(da.from_array(dy, chunks=dy_chunks), selection.shape, selection, chunks=dx_chunks)
    assert lazy.chunks == dx_chunks and lazy.dtype == dy.dtype and type(lazy._meta) is np.ndarray
    computed = lazy.compute(scheduler="sync")
    assert np.array_equal(computed, bs.slice_grad(dy, selection.shape, selection))


@settings(max_examples=50, deadline=None)
@given(chunked_slices())
def test_accumulation_equals_that_in_memory(case):
    selection, dx_chunks, dy_chunks = case
    dy, onto = numbers(selection.result_shape), 1000 + numbers(selection.shape)
    onto = np.asarray(onto)
    lazy_onto = da.from_array(onto, chunks=dx_chunks)
    lazy = slice_grad(da.from_array(dy, chunks=dy_chunks), selection.shape, selection, onto=lazy_onto)
    expected = bs.slice_grad(dy, selection.shape, selection, out=onto.copy(), accumulate=True)
    assert lazy.chunks == dx_chunks
    assert np.array_equal(lazy.compute(scheduler="sync"), expected)
    assert np.array_equal(lazy_onto.compute(scheduler="sync"), 1000 + numbers(selection.shape))


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_many_slices_equal_those_in_memory(data):
    selection, dx_chunks, _ = data.draw(chunked_slices(max_rank=2))
    shape = selection.shape
    taken = [(selection, numbers(selection.result_shape))]
    for _ in range(data.draw(st.integers(0, 3))):
        index = tuple(slice(*sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))) for n in shape)
        taken.append((index, numbers(bs.Selection.from_index(shape, index).result_shape)))
    lazy = [(index, da.from_array(dy, chunks=data.draw(chunkings(dy.shape)))) for index, dy in taken]
    computed = multi_slice_grad(shape, lazy, chunks=dx_chunks).compute(scheduler="sync")
    assert np.array_equal(computed, bs.multi_slice_grad(shape, taken))


def test_additions_keep_the_order_of_the_list():
    """In float16, 2048 + 1 is 2048: the order shows. The first contribution is a copy, which keeps minus zero."""
    values = [np.float16([x] * 6) for x in (2048, 1, 1, -2048)]
    lazy = [(slice(None), da.from_array(v, chunks=c)) for v, c in zip(values, (1, 2, 3, 4), strict=True)]
    expected = bs.multi_slice_grad((6,), [(slice(None), v) for v in values])
    assert np.array_equal(multi_slice_grad((6,), lazy, chunks=4).compute(), expected)
    zero = multi_slice_grad((2,), [("0:1", da.from_array(np.array([-0.0])))], chunks=1).compute()
    assert np.signbit(zero).tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "complex64", "S3", "U2", "bfloat16", "int4"])
def test_dtypes(dtype):
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    dy = np.array([1, 0, 1]).astype(dtype)
    lazy = slice_grad(da.from_array(dy, chunks=2), (9,), "::3", chunks=(4, 4, 1))
    assert lazy.dtype == dtype
    assert np.array_equal(lazy.compute(), bs.slice_grad(dy, (9,), "::3"))


def test_a_dtype_without_zero_is_computed_where_the_slice_takes_everything():
    dy = np.array([1, 2, 4, 8], ml_dtypes.float8_e8m0fnu)
    assert np.array_equal(slice_grad(da.from_array(dy, chunks=3), (4,), "::-1", chunks=3).compute(), dy[::-1])


def test_axes_of_chunks_are_counted_from_the_end_too():
    assert slice_grad(da.from_array(DY), (6, 6), INDEX, chunks={-1: 2}).chunks == ((6,), (2, 2, 2))


def test_dialects():
    dy = da.from_array(DY, chunks=2)
    expected = bs.slice_grad(DY, (6, 6), np.s_[1:5, :6:2])
    tf = strided_slice_grad([6, 6], [1, 0], [5, 0], [1, 2], dy=dy, end_mask=2, chunks=4)
    assert np.array_equal(tf.compute(), expected) and tf.chunks == ((4, 2), (4, 2))
    onnx = onnx_slice_grad(dy, [6, 6], starts=[1, 0], ends=[5, 6], steps=[1, 2], chunks=4)
    assert np.array_equal(onnx.compute(), expected)
    flat = onnx_slice_grad(da.from_array(DY.ravel(), chunks=5), [6, 6], starts=[1, 0], ends=[5, 6], steps=[1, 2])
    assert np.array_equal(flat.compute(), expected)


def test_dy_is_broadcast_and_converted():
    row = slice_grad(da.from_array(DY[0], chunks=2), (6, 3), "2:5", chunks=2)
    assert np.array_equal(row.compute(), bs.slice_grad(DY[0], (6, 3), "2:5"))
    plain = slice_grad(DY, (6, 6), INDEX, chunks=4)
    assert np.array_equal(plain.compute(), bs.slice_grad(DY, (6, 6), INDEX))


def test_no_slices():
    zeros = multi_slice_grad((4, 4), [], chunks=2, dtype="float32")
    assert zeros.dtype == "float32" and not zeros.compute().any()
    onto = da.ones((4, 4), chunks=2)
    assert multi_slice_grad((4, 4), [], onto=onto).compute().all()
    assert multi_slice_grad((4, 4), [], onto=np.ones((4, 4))).compute().all()
    assert multi_slice_grad((2,), [], dtype="bfloat16").compute().dtype == "bfloat16"


def test_a_gradient_in_one_chunk_is_writable():
    assert slice_grad(da.ones(0), (3,), "0:0").compute().flags.writeable


# The graph


def test_a_chunk_depends_on_the_chunks_that_meet_it_alone():
    dy = da.from_array(numbers((40, 40)), chunks=10)
    dx = slice_grad(dy, (100, 100), np.s_[30:70, 35:75], chunks=10)
    tasks = tasks_of(dx)
    assert len(tasks) == 100
    assert tasks[dx.name, 3, 3].dependencies == {(dy.name, 0, 0)}
    assert tasks[dx.name, 4, 4].dependencies == {(dy.name, 1, 0), (dy.name, 1, 1)}
    assert tasks[dx.name, 0, 0].dependencies == tasks[dx.name, 7, 5].dependencies == set()
    pairs = sum(len(task.dependencies) for task in tasks.values())
    assert pairs == 4 * 8 == dx.dask.layers[dx.name].meeting_pairs


def test_chunks_that_nothing_meets_take_no_memory():
    dx = slice_grad(da.ones(10), (10**9,), "0:10", chunks=10**6)
    block = dx.dask.layers[dx.name][dx.name, 500]()
    assert block.shape == (10**6,) and block.strides == (0,) and not block.any()


def test_slicing_the_result_computes_what_is_needed_alone():
    computed = []

    def noted(block, block_id):
        computed.append(block_id)
        return block

    dy = da.from_array(numbers((40,)), chunks=10).map_blocks(noted, dtype=float, meta=np.empty(0))
    dx = slice_grad(dy, (80,), np.s_[20:60], chunks=10)
    part = dx[30:45]
    assert np.array_equal(part.compute(), bs.slice_grad(numbers((40,)), (80,), np.s_[20:60])[30:45])
    assert sorted(computed) == [(1,), (2,)]
    assert len(optimised(part)) <= 8


def test_no_chunk_of_dy_is_computed_twice():
    computed, lock = [], threading.Lock()

    def noted(block, block_id):
        with lock:
            computed.append(block_id)
        return block

    dy = da.from_array(numbers((40, 40)), chunks=8).map_blocks(noted, dtype=float, meta=np.empty((0, 0)))
    dx = slice_grad(dy, (90, 45), np.s_[3:83:2, 2:42], chunks=(7, 13))
    assert np.array_equal(dx.compute(), bs.slice_grad(numbers((40, 40)), (90, 45), np.s_[3:83:2, 2:42]))
    assert sorted(computed) == sorted(np.ndindex(5, 5))


def test_chunks_that_are_chunks_of_dy_or_parts_of_one_are_not_copied():
    dy = da.from_array(numbers((40, 8)), chunks=(10, 8))
    aligned = tasks_of(slice_grad(dy, (60, 8), np.s_[20:], chunks=(10, 8)))
    assert [type(task) for task in aligned.values()].count(Alias) == 4
    for step in (1, -1):
        parts = slice_grad(dy, (40, 8), np.s_[::step, ::step], chunks=(5, 4))
        chunk = tasks_of(parts)[parts.name, 1, 0]
        source = numbers((10, 8))
        made = chunk({dependency: source for dependency in chunk.dependencies})
        assert np.shares_memory(made, source) and made.shape == (5, 4)
        assert np.array_equal(parts.compute(), numbers((40, 8))[::step, ::step])


def test_what_is_computed_is_the_callers_own():
    dy = da.from_array(numbers((4,)), chunks=4).persist()
    slice_grad(dy, (4,), ":").compute()[:] = 0
    slice_grad(dy, (4,), "::-1").compute()[:] = 0
    assert np.array_equal(dy.compute(), numbers((4,)))


def test_tasks_fuse_with_what_makes_dy():
    """One chunk of dy for one chunk of dx, and what follows it: a single task."""
    dy = da.ones((40,), chunks=10) * 3
    dx = slice_grad(dy, (40,), ":", chunks=10) + 1
    assert sum(not isinstance(node, Alias) for node in optimised(dx).values()) == 4


def test_equal_calls_share_their_names_and_work():
    dy = da.from_array(DY, chunks=2)
    dx = slice_grad(dy, (6, 6), INDEX, chunks=3)
    assert slice_grad(dy, (6, 6), bs.Selection.from_index((6, 6), INDEX), chunks=(3, 3)).name == dx.name
    others = [
        slice_grad(dy, (6, 6), np.s_[1:5, :6:2], chunks=3),
        slice_grad(dy, (6, 6), INDEX, chunks=2),
        slice_grad(dy + 1, (6, 6), INDEX, chunks=3),
        slice_grad(dy, (7, 6), INDEX, chunks=3),
        slice_grad(dy, (6, 6), INDEX, onto=da.ones((6, 6), chunks=3)),
    ]
    assert len({dx.name, *(other.name for other in others)}) == 6


def test_the_layer_tells_what_it_is():
    dx = slice_grad(da.from_array(DY, chunks=2), (60, 6), np.s_[2:6, ::-2], chunks=3)
    layer = dx.dask.layers[dx.name]
    assert repr(layer) == f"<GradientLayer '{dx.name}': 4 of 40 chunks meet 6 of dy>"
    assert "meeting pairs" in layer._repr_html_() and dx.name.startswith("slice_grad-")
    assert dx.name.split("-")[0] in repr(dx)


def test_a_graph_can_be_pickled_and_persisted():
    dx = slice_grad(da.from_array(DY, chunks=2), (6, 6), INDEX, chunks=3)
    repr(dx.dask.layers[dx.name])
    expected = bs.slice_grad(DY, (6, 6), INDEX)
    assert np.array_equal(pickle.loads(pickle.dumps(dx)).compute(), expected)
    assert np.array_equal(dx.persist().compute(), expected)
    assert np.array_equal(dask.compute(dx, dx + 1)[1], expected + 1)


def test_the_functions_of_graph_manipulation():
    dy, onto = da.from_array(DY, chunks=2), da.ones((6, 6), chunks=3)
    for dx in (slice_grad(dy, (6, 6), INDEX, chunks=3), slice_grad(dy, (6, 6), INDEX, onto=onto)):
        expected = dx.compute()
        for again in (clone(dx), clone(dx, omit=dy), bind(dx, da.ones(2) + 1), bind(dx, da.ones(2) + 1, omit=dy)):
            assert again.name != dx.name
            assert np.array_equal(again.compute(), expected)


def test_a_few_of_a_million_chunks_do_not_wait_for_the_others():
    dx = slice_grad(da.zeros((2000, 2000), chunks=2), (2001, 2001), "1:, 1:", chunks=2)
    layer, made = dx.dask.layers[dx.name], []
    task = layer._task
    layer._task = lambda key: made.append(key) or task(key)
    assert "of 1002001 chunks" in repr(layer)
    assert dx[:10, :10].compute().shape == (10, 10)
    assert len(made) == 25


@pytest.mark.parametrize("active", [True, False])
def test_optimisers_make_no_difference(active):
    dx = slice_grad(da.from_array(DY, chunks=2), (6, 6), INDEX, chunks=3)
    for options in ({"optimization.fuse.ave-width": 100}, {"optimization.fuse.subgraphs": True}):
        with dask.config.set({"optimization.fuse.active": active} | options):
            assert np.array_equal(dx.rechunk((2, 5)).compute(), bs.slice_grad(DY, (6, 6), INDEX))
    assert np.array_equal(dx.compute(optimize_graph=False), bs.slice_grad(DY, (6, 6), INDEX))


# What building a graph of 100,000 chunks and all of its tasks takes of a fresh process.
MANY_CHUNKS = """
import resource, time
import dask.array as da
from backslice.dask import slice_grad

def spent():
    return time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

slice_grad(da.ones(2), (4,), ":2").compute()
dy, before = da.zeros((316 * 64, 316 * 64), chunks=64), spent()
dx = slice_grad(dy, (317 * 64, 317 * 64), (slice(32, -32), slice(32, -32)), chunks=64)
built = spent()
assert len(dict(dx.dask.layers[dx.name])) == 317**2 > 100_000 and dx.dask.layers[dx.name].meeting_pairs == 632**2
print(built[0] - before[0], spent()[0] - before[0], spent()[1] - before[1])
"""


def test_the_graph_of_many_slices_grows_with_what_they_meet():
    """Not with the product of slices and chunks, which is 10**9 here."""
    dy = da.zeros(10, chunks=5)
    before = time.process_time()
    dx = multi_slice_grad((200_000,), [(slice(i, i + 10), dy) for i in range(10_000)], chunks=2)
    assert time.process_time() - before < 10
    assert dx.dask.layers[dx.name].meeting_pairs > 50_000


def test_100_000_chunks():
    run = subprocess.run([sys.executable, "-c", MANY_CHUNKS], capture_output=True, text=True, timeout=300)
    assert not run.stderr, run.stderr
    graph, tasks, memory = map(float, run.stdout.split())
    assert graph < 1 and tasks < 5 and memory < 500e6, run.stdout


# Errors: all of them while the graph is built


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
        bs.DTypeError, r"dtype is float32, expected float64, that of the dy of slices\[0\]; leave it out",
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
        bs.UnimplementedError, "dy has chunks of type MaskedArray, expected numpy.ndarray",
    ),
    "dys of two dtypes": (
        lambda: multi_slice_grad((4,), [(":2", da.ones(2)), ("2:", da.ones(2, dtype="f4"))]),
        bs.DTypeError, r"the dy of slices\[1\] has dtype float32, expected float64",
    ),
    "no dys and no dtype": (
        lambda: multi_slice_grad((4,), []), bs.InvalidArgumentError, "say which with dtype= or onto=",
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
        bs.InvalidArgumentError, r"the index of slices\[0\] depends on data",
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
