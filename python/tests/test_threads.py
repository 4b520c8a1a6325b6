"""Threads, forks, the memory pool and SIMD targets."""

import os
import subprocess
import sys

import backslice as bs
import numpy as np
import pytest

LARGE = (64, 128, 512)  # 16 MiB of float32: enough for several threads


def gradient():
    dy = np.arange(62 * 64 * 512, dtype=np.float32).reshape(62, 64, 512)
    return bs.slice_grad(dy, LARGE, "1:-1, ::2")


def run(program: str, **environment: str) -> str:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]  # about forks, from Python 3.12 on
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr  # the library and its dependencies never print
    return done.stdout.strip()


def test_results_do_not_depend_on_the_number_of_threads():
    before = bs.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 7):
            bs.set_num_threads(threads)
            assert bs.get_num_threads() == threads
            results.append(gradient().tobytes())
    finally:
        bs.set_num_threads(before)
    assert len(set(results)) == 1


@pytest.mark.parametrize(
    ("threads", "error"), [(0, ValueError), (-3, ValueError), (10**6, ValueError), ("2", TypeError)]
)
def test_bad_numbers_of_threads(threads, error):
    before = bs.get_num_threads()
    with pytest.raises(error, match="threads is"):
        bs.set_num_threads(threads)
    assert bs.get_num_threads() == before


def test_environment_sets_the_number_of_threads():
    program = "import backslice as bs; print(bs.get_num_threads())"
    assert run(program, BACKSLICE_NUM_THREADS="3") == "3"
    assert run(program, BACKSLICE_NUM_THREADS="nonsense") == str(os.cpu_count())


def test_more_threads_than_cores_are_used_without_a_word():
    program = """
import os, numpy as np, backslice as bs
dy, wanted = np.ones((2048, 2048), np.float32), bs.get_num_threads()
for threads in (wanted - 2, wanted + 5, 1, wanted):
    bs.set_num_threads(threads)
    bs.slice_grad(dy, (4096, 2048), "::2")
print(bs.get_num_threads(), len(os.listdir("/proc/self/task")))
"""
    wanted = 2 * os.cpu_count() + 3
    threads, running = map(int, run(program, BACKSLICE_NUM_THREADS=str(wanted), OPENBLAS_NUM_THREADS="1").split())
    assert threads == wanted and running > os.cpu_count()


FORK = """
import os, numpy as np, backslice as bs
bs.set_num_threads(4)
dy = np.ones((62, 64, 512), np.float32)
expected = bs.slice_grad(dy, (64, 128, 512), "1:-1, ::2").tobytes()  # the parent's pool is up
child = os.fork()
if child == 0:
    same = all(bs.slice_grad(dy, (64, 128, 512), "1:-1, ::2").tobytes() == expected for _ in range(5))
    threads = len(os.listdir("/proc/self/task"))
    os._exit(0 if same and threads > 1 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_child_starts_its_own_pool():
    assert run(FORK) == "0"


def test_multiprocessing_by_fork():
    program = """
import multiprocessing, numpy as np, backslice as bs
dy = np.ones((62, 64, 512), np.float32)
def work(_):
    return float(bs.slice_grad(dy, (64, 128, 512), "1:-1, ::2").sum())
expected = work(0)
with multiprocessing.get_context("fork").Pool(3) as pool:
    print(set(pool.map(work, range(9))) == {expected})
"""
    assert run(program) == "True"


def test_pool_reuses_memory_and_never_shows_stale_bytes():
    bs.pool.trim()
    first = gradient()
    expected = first.tobytes()
    reused = bs.pool.stats()["reused"]
    for _ in range(3):
        first[...] = np.nan  # poison
        del first
        assert bs.pool.stats()["bytes_kept"] >= 16 * 2**20
        first = gradient()
        assert first.tobytes() == expected
    assert bs.pool.stats()["reused"] > reused
    del first
    bs.pool.trim()
    assert bs.pool.stats()["bytes_kept"] == 0


def test_pool_limit():
    limit = bs.pool.stats()["limit"]
    try:
        bs.pool.set_limit(0)
        gradient()
        assert bs.pool.stats()["bytes_kept"] == 0
        with pytest.raises(bs.InvalidArgumentError, match="-1"):
            bs.pool.set_limit(-1)
    finally:
        bs.pool.set_limit(limit)


def test_peak_memory_is_the_output_and_nothing_else_that_grows():
    program = """
import resource, numpy as np, backslice as bs
dy = np.ones((4096, 4096), np.float32)
bs.slice_grad(dy[:2], (4, 4096), "1:3")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
dx = bs.slice_grad(dy, (8192, 4096), "::2")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 - dx.nbytes)
"""
    assert int(run(program)) < 8 * 2**20


def test_every_target_can_be_forced_and_agrees():
    assert bs.simd_target() == bs.simd_targets()[0] or "BACKSLICE_FORCE_TARGET" in os.environ
    program = """
import hashlib, numpy as np, backslice as bs
dy = np.arange(62 * 64 * 511, dtype=np.float32).reshape(62, 64, 511)
results = [bs.slice_grad(dy, (64, 128, 1022), "1:-1, ::2, ::-2"), bs.slice(dy, ":, ::3, ::2")]
print(bs.simd_target(), *(hashlib.sha256(r.tobytes()).hexdigest() for r in results))
"""
    outputs = [run(program, BACKSLICE_FORCE_TARGET=name).split() for name in bs.simd_targets()]
    assert [o[0] for o in outputs] == bs.simd_targets()
    assert len({tuple(o[1:]) for o in outputs}) == 1
