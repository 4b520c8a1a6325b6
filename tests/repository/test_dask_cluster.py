"""The schedulers: threads, processes and a cluster whose workers die."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import backslice as bs
import dask
import dask.array as da
import numpy as np
import pytest
from backslice.dask import multi_slice_grad, slice_grad, sparse_slice_grad_by_size
from dask.distributed import Client, Event, LocalCluster, Variable, get_worker, wait
from dask.system import CPU_COUNT

pytestmark = pytest.mark.filterwarnings("default")  # warnings of other packages

SHAPE, INDEX = (61, 47), np.s_[3:51:2, 40::-3]
DY = np.random.default_rng(0).random(bs.Selection.from_index(SHAPE, INDEX).result_shape)
MB = 10**6


@contextmanager
def cluster(**options):
    slow = {"distributed.comm.timeouts.connect": "120s", "distributed.worker.daemon": False}
    with (
        dask.config.set(slow),
        LocalCluster(dashboard_address=":0", **options) as local,
        Client(local, timeout="120s") as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with cluster(n_workers=2, threads_per_worker=1, memory_limit="2GB") as found:
        yield found


def gradients():
    """Return several chunkings: regular, irregular, single elements."""
    for dy_chunks, dx_chunks in [((5, 4), (20, 9)), ((1, 14), ((1, 59, 1), 47)), (((20, 4), 3), (61, 1))]:
        yield slice_grad(da.from_array(DY, chunks=dy_chunks), SHAPE, INDEX, chunks=dx_chunks)


def many():
    """Overlapping windows, whose sum is rounded."""
    parts = [(np.s_[i : i + 24, i : i + 14], DY * (i + 0.1)) for i in range(0, 33, 3)]
    lazy = [(index, da.from_array(dy, chunks=7)) for index, dy in parts]
    return multi_slice_grad(SHAPE, lazy, chunks=(17, 10)), bs.multi_slice_grad(SHAPE, parts)


def check(**scheduler):
    expected = bs.slice_grad(DY, SHAPE, INDEX)
    for computed in dask.compute(*gradients(), **scheduler):
        assert np.array_equal(computed, expected)
    lazy, expected = many()
    assert np.array_equal(lazy.compute(**scheduler), expected)


@pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])
def test_schedulers_of_one_machine(scheduler):
    check(scheduler=scheduler)


def test_a_cluster(client):
    check()
    entries = np.array([[0], [2], [3], [5], [9], [2]])
    grad = sparse_slice_grad_by_size(da.ones(3, chunks=((1, 2),)), da.from_array(entries, chunks=(3, 1)), [2], [2])
    with pytest.raises(bs.InvalidArgumentError, match="rows"):  # the first partition has two entries in the window
        grad.compute()


def noted(block, folder, block_id=None):
    """Return a chunk of dy that writes a file whenever it is computed."""
    (Path(folder) / f"{block_id}-{time.monotonic_ns()}").touch()
    return block


def test_no_chunk_of_dy_is_computed_twice(client, tmp_path):
    dy = da.from_array(DY, chunks=4).map_blocks(noted, folder=str(tmp_path), dtype=float, meta=np.empty((0, 0)))
    dx = slice_grad(dy, SHAPE, INDEX, chunks=(7, 5))
    assert np.array_equal(dx.compute(), bs.slice_grad(DY, SHAPE, INDEX))
    assert len(list(tmp_path.iterdir())) == dy.npartitions


def threads_of_a_large_call(_):
    """Return how many threads a large gradient leaves behind in a worker."""
    before = len(os.listdir("/proc/self/task"))
    dy = da.ones(2**23, chunks=2**23)
    slice_grad(dy, (2**24,), "1::2", chunks=2**24).compute(scheduler="sync")
    return len(os.listdir("/proc/self/task")) - before


def test_a_task_runs_on_the_thread_that_dask_gave_it(client):
    assert client.gather(client.map(threads_of_a_large_call, range(2), pure=False)) == [0, 0]
    in_this_process = slice_grad(da.ones(2**21), (2**22,), "1::2").compute(scheduler="threads")
    assert in_this_process.sum() == 2**21 and bs._core._set_serial(False) is False


def pool_limit(_):
    bs.slice_grad(np.ones(2), (4,), ":2")
    slice_grad(da.ones(2), (4,), ":2").compute(scheduler="sync")
    return bs.pool.stats()["limit"]


def test_a_worker_keeps_little_of_its_memory_for_the_next_chunks(client):
    before = bs.pool.stats()["limit"]
    assert max(client.gather(client.map(pool_limit, range(2), pure=False))) <= 2 * 10**9 / 16
    assert bs.pool.stats()["limit"] == before


def limit_in_a_process(block):
    slice_grad(da.ones(2), (4,), ":2").compute(scheduler="sync")
    return np.full(1, bs.pool.stats()["limit"])


def test_the_processes_of_a_pool_share_what_one_would_keep():
    blocks = da.zeros(2, chunks=1, dtype=int).map_blocks(limit_in_a_process, dtype=int, meta=np.empty(0, int))
    limits = blocks.compute(scheduler="processes")
    one = "import backslice as bs; print(bs.pool.stats()['limit'])"
    limit = int(subprocess.run([sys.executable, "-c", one], capture_output=True, check=True).stdout)
    assert max(limits) <= limit // CPU_COUNT, limits


def held(block):
    """Return a chunk of dy. Each worker makes five, signals that it is half done, and continues after one worker was
    killed."""
    worker = get_worker()
    worker.made = getattr(worker, "made", 0) + 1
    if worker.made > 5:
        Variable("in the middle").set(os.getpid())
        assert Event("killed").wait(timeout=300)
    return block


def test_a_worker_that_is_killed_in_the_middle(client):
    dy = da.from_array(DY, chunks=2).map_blocks(held, dtype=float, meta=np.empty((0, 0)))
    workers = client.run(os.getpid)
    future = client.compute(slice_grad(dy, SHAPE, INDEX, chunks=(7, 5)))
    os.kill(Variable("in the middle").get(timeout=300), signal.SIGKILL)
    assert not future.done()
    Event("killed").set()
    assert np.array_equal(future.result(timeout=300), bs.slice_grad(DY, SHAPE, INDEX))
    client.wait_for_workers(2, timeout=300)
    assert client.run(os.getpid) != workers  # its nanny started another one


# Gradients larger than the memory of the workers.


def resident():
    """Return the memory of an idle worker that has imported its packages, in bytes."""
    import zarr  # noqa: F401

    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def bytes_spilled(dask_worker):
    return dask_worker.data.cumulative_metrics["disk-write", "bytes"]


def filled(block_info=None):
    place = block_info[None]
    return np.full(place["chunk-shape"], 1.0 + place["chunk-location"][0])


def limits(idle, memory):
    """Set Dask's own fractions of a worker's memory, relative to the memory beyond an idle worker's."""
    shares = {"spill": 0.7, "pause": 0.8, "terminate": 0.95}
    found = {name: (idle + share * memory) / (idle + memory) for name, share in shares.items()}
    found["target"] = 0.6 * memory / (idle + memory)  # only of chunks
    return {f"distributed.worker.memory.{name}": share for name, share in found.items()}


@contextmanager
def workers_of(memory):
    """Start two workers with that memory beyond an idle worker's."""
    with cluster(n_workers=1, threads_per_worker=1, memory_limit=None) as client:
        (idle,) = client.run(resident).values()
    with (
        dask.config.set(limits(idle, memory)),
        cluster(n_workers=2, threads_per_worker=1, memory_limit=idle + memory) as client,
    ):
        yield client


def test_what_workers_spill_is_counted():
    with workers_of(100 * MB) as client:
        assert sum(client.run(bytes_spilled).values()) == 0
        kept = client.persist(da.map_blocks(filled, chunks=((10**6 // 4,) * 100,), dtype=float, meta=np.empty(0)))
        wait(kept, timeout=300)
        assert sum(client.run(bytes_spilled).values()) > 50 * MB


def run_in_little_memory(total, memory, folder):
    """Store a gradient and a plain copy of that size with such workers. Return how much each spills."""
    import zarr

    rows, columns, step = total // 8 // 1000, 1000, max(1, memory // 40 // 8000)
    shape, index = (rows, columns), np.s_[step // 2 : rows - step // 2 - 1]
    dy = da.map_blocks(filled, chunks=da.core.normalize_chunks((step, columns), (rows - step // 2 * 2 - 1, columns)),
                       dtype=float, meta=np.empty((0, 0)))  # fmt: skip
    spilled = {}
    for name, lazy in {
        "copy": da.map_blocks(np.copy, dy, dtype=float, meta=np.empty((0, 0))),
        "gradient": slice_grad(dy, shape, index, chunks=(step, columns)),
    }.items():
        with workers_of(memory) as client:
            target = zarr.open_array(str(folder / name), mode="w", shape=lazy.shape, chunks=lazy.chunksize, dtype="f8",
                                     fill_value=-1.0)  # fmt: skip
            stored = client.compute(lazy.store(target, compute=False, lock=False))
            wait(stored, timeout=560)
            assert stored.status == "finished", stored.exception()
            spilled[name] = sum(client.run(bytes_spilled).values())
    check_stored(zarr.open_array(str(folder / "gradient"), mode="r"), shape, index, step)
    return spilled


def check_stored(stored, shape, index, step):
    for lo in range(0, shape[0], step):
        hi = min(lo + step, shape[0])
        positions = np.arange(lo, hi) - index.start
        expected = np.where((positions >= 0) & (positions < index.stop - index.start), 1.0 + positions // step, 0)
        assert np.array_equal(stored[lo:hi], np.broadcast_to(expected[:, None], (hi - lo, shape[1])))


def test_a_gradient_larger_than_the_memory_of_its_workers(tmp_path):
    spilled = run_in_little_memory(400 * MB, 100 * MB, tmp_path)
    assert spilled["gradient"] <= spilled["copy"], spilled


@pytest.mark.skipif(not os.environ.get("BACKSLICE_LARGE_TESTS"), reason="make test-large runs it")
def test_a_gradient_of_8_gb_with_workers_of_1_gb(tmp_path):
    spilled = run_in_little_memory(8000 * MB, 1000 * MB, tmp_path)
    assert spilled["gradient"] <= spilled["copy"], spilled
