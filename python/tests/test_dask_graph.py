"""The graphs of gradients of Dask arrays: exact, small, and valid for Dask."""

import os
import pickle
import subprocess
import sys
import threading
import time

import backslice as bs
import dask
import dask.array as da
import numpy as np
import pytest
from backslice.dask import multi_slice_grad, slice_grad
from dask.base import collections_to_expr
from dask.graph_manipulation import bind, clone
from dask.task_spec import Alias
from test_dask import DY, INDEX, numbers


def tasks_of(array):
    return dict(array.dask.layers[array.name])


def optimised(*arrays):
    return dict(collections_to_expr(arrays, optimize_graph=True).optimize().__dask_graph__())


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


def test_chunks_that_are_chunks_of_dy_are_not_copied():
    dy = da.from_array(numbers((40, 8)), chunks=(10, 8))
    aligned = tasks_of(slice_grad(dy, (60, 8), np.s_[20:], chunks=(10, 8)))
    assert [type(task) for task in aligned.values()].count(Alias) == 4


@pytest.mark.parametrize("step", [1, -1])
def test_chunks_that_are_most_of_one_of_dy_are_not_copied_and_others_keep_none_alive(step):
    dy = da.from_array(numbers((40, 8)), chunks=(10, 8))
    parts = slice_grad(dy, (40, 8), np.s_[::step, ::step], chunks=((6, 4) * 4, 8))
    source = numbers((10, 8))
    for block, shared in ((0, True), (1, False)):
        chunk = tasks_of(parts)[parts.name, block, 0]
        made = chunk({dependency: source for dependency in chunk.dependencies})
        assert np.shares_memory(made, source) == shared and made.shape == ((6, 4)[block], 8)
    assert np.array_equal(parts.compute(), numbers((40, 8))[::step, ::step])


def test_points_and_diagonals_of_a_gradient():
    """Dask uses NumPy integers to ask for these chunks."""
    dx = slice_grad(da.from_array(DY, chunks=2), (6, 6), INDEX, chunks=3)
    expected = bs.slice_grad(DY, (6, 6), INDEX)
    assert np.array_equal(dx.vindex[[1, 4, 0], [5, 2, 2]].compute(), expected[[1, 4, 0], [5, 2, 2]])
    assert np.array_equal(da.diagonal(dx).compute(), np.diagonal(expected))
    onto = slice_grad(da.from_array(DY, chunks=2), (6, 6), INDEX, onto=dx)
    assert np.array_equal(da.diagonal(onto).compute(), 2 * np.diagonal(expected))
    layer = dx.dask.layers[dx.name]
    assert (dx.name, np.int64(1), 0) in layer and (dx.name, 1, "0") not in layer and (dx.name, 1, 0.0) not in layer


def test_what_is_computed_is_the_callers_own():
    dy = da.from_array(numbers((4,)), chunks=4).persist()
    slice_grad(dy, (4,), ":").compute()[:] = 0
    slice_grad(dy, (4,), "::-1").compute()[:] = 0
    assert np.array_equal(dy.compute(), numbers((4,)))


def test_tasks_fuse_with_what_makes_dy():
    """One chunk of dy for one chunk of dx, and the next operation, become a single task."""
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


def test_calls_of_different_dtypes_have_different_names():
    """NumPy identifies the dtypes of ml_dtypes only by their widths."""
    dtypes = ["float8_e4m3fn", "float8_e4m3", "float8_e5m2", "int4", "uint4", "int2", "bfloat16", ">f4", "<f4"]
    lazy = [multi_slice_grad((2,), [], dtype=dtype) for dtype in dtypes]
    assert len({array.name for array in lazy}) == len(dtypes)
    assert [array.dtype for array in dask.compute(*lazy)] == [array.dtype for array in lazy]


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


# Measures the cost of a graph of 100,000 chunks, with all of its tasks, in a fresh process.
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
    """The cost is not proportional to slices times chunks, which is 10**9 here."""
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


# Interrupts a compute() in its 20th chunk and checks the remains.
INTERRUPTED = """
import itertools, os, signal, sys, time
import dask.array as da
import numpy as np
from backslice.dask import slice_grad

count = itertools.count()

def slow(block):
    if next(count) == 20:
        os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)
    return block

dy = da.zeros((400, 400), chunks=10).map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
try:
    slice_grad(dy, (410, 410), "5:-5, 5:-5", chunks=10).compute(scheduler=sys.argv[1])
except KeyboardInterrupt:
    print(slice_grad(da.ones(4, chunks=2), (8,), "::2", chunks=3).compute().sum(), next(count) < 100)
"""


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_ctrl_c_ends_a_computation(scheduler):
    run = subprocess.run([sys.executable, "-c", INTERRUPTED, scheduler], capture_output=True, text=True, timeout=60)
    assert run.stdout == "4.0 True\n", run.stderr


@pytest.mark.parametrize("setting", ["True", "False"])
def test_query_planning_is_refused_with_what_to_do(setting):
    code = """
import dask.array as da
from backslice import UnimplementedError
from backslice.dask import slice_grad
try:
    print(slice_grad(da.ones(2), (4,), ":2").compute().sum())
except UnimplementedError as error:
    print(error)
"""
    env = os.environ | {"DASK_ARRAY__QUERY_PLANNING": setting}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=env)
    assert ("set the configuration array.query-planning to False" if setting == "True" else "2.0\n") in run.stdout


def test_without_dask():
    code = "import sys; sys.modules['dask'] = None; import backslice; import backslice.dask"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "backslice.dask needs Dask 2026.8 or later" in run.stderr and "pip install" in run.stderr
