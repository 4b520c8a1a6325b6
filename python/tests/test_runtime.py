"""Threads, the GIL, imports and memory."""

import subprocess
import sys
import threading
import time
import tracemalloc

import backslice as bs
import numpy as np
import pytest


def test_the_gil_is_released_while_computing():
    """A counter in Python keeps running while one call computes in C++."""
    dy = np.ones((1500, 1500))
    done = threading.Event()
    ticks = 0

    def compute():
        for _ in range(3):
            bs.slice_grad(dy.T, (3000, 3000), "::2, ::2")
        done.set()

    worker = threading.Thread(target=compute)
    worker.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    worker.join()
    assert ticks >= 5


def test_many_threads_at_once():
    dy = np.arange(12.0).reshape(3, 4)
    expected = bs.slice_grad(dy, (5, 8), "1:4, ::-2")
    agree = []

    def work():
        agree.extend(np.array_equal(bs.slice_grad(dy, (5, 8), "1:4, ::-2"), expected) for _ in range(200))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(agree) == 1600 and all(agree)


def test_import_brings_numpy_and_ml_dtypes_alone():
    program = """
import sys, numpy, ml_dtypes
before = set(sys.modules)
import backslice
print(*sorted(m.split('.')[0] for m in set(sys.modules) - before))
"""
    new = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert set(new.split()) - sys.stdlib_module_names == {"backslice"}


@pytest.mark.parametrize("refused", [False, True])
def test_calls_do_not_leak(refused):
    dy = np.ones(2000)
    names = np.array(["a", "b"], object)

    def call():
        bs.slice_grad(dy, (4000,), "1000:3000")
        bs.slice_grad(names, (4,), "1:3")
        if refused:
            for bad in ((dy, (4000,), "1"), (dy, (2000, -1), ":"), (dy, (2**45,), ":2000"), (names, (3,), ":")):
                with pytest.raises(bs.Error):
                    bs.slice_grad(*bad)

    resident = []
    for _ in range(4):
        for _ in range(2000):
            call()
        resident.append(resident_bytes())
    tracemalloc.start()
    for _ in range(50):
        call()
    python_growth, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert python_growth < 100_000
    assert resident[-1] - resident[0] < 8_000_000  # 6,000 calls of 32 kB results


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_uninitialised_memory_is_such_as_results_get():
    bs.pool.trim()
    made = bs._core._uninitialised((1 << 20,), np.empty(0, ">f4"))
    assert made.dtype == ">f4" and made.shape == (1 << 20,) and made.flags.c_contiguous and made.flags.writeable
    address, reused = made.ctypes.data, bs.pool.stats()["reused"]
    del made
    assert bs._core._uninitialised((1 << 20,), np.empty(0, "f4")).ctypes.data == address
    assert bs.pool.stats()["reused"] == reused + 1
    assert bs._core._uninitialised((), np.empty(0, "S3")).shape == ()


def test_uninitialised_memory_is_refused_for_objects_and_impossible_shapes():
    with pytest.raises(bs.DTypeError, match="like holds objects"):
        bs._core._uninitialised((2,), np.array(["a"], object))
    with pytest.raises(bs.InvalidArgumentError, match="shape"):
        bs._core._uninitialised((-1,), np.empty(0))
    with pytest.raises(bs.ResourceExhaustedError):
        bs._core._uninitialised((1 << 58,), np.empty(0))
