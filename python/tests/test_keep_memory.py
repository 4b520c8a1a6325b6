"""keep_memory: the process keeps the memory of large blocks. Each test has its own process."""

import subprocess
import sys

import pytest

FAULTS = """
import ctypes, resource
import backslice as bs

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.malloc.argtypes = [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]
SIZE = 64 << 20

def faults():
    "Page faults of the second of two blocks that are written and freed."
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        block = library.malloc(SIZE)
        for page in range(0, SIZE, 4096):
            ctypes.memset(block + page, 1, 1)
        library.free(block)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    return after - before
"""


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", FAULTS + program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_large_block_is_used_again() -> None:
    run("before = faults(); bs.keep_memory(); after = faults(); assert after < before / 10 + 5, (before, after)")


def test_it_can_be_undone() -> None:
    run("bs.keep_memory(); kept = faults(); bs.keep_memory(False); assert faults() > kept + 20")


def test_it_says_what_it_set() -> None:
    assert "{'M_MMAP_MAX': 0, 'M_TRIM_THRESHOLD': 2147483647}" in run("print(bs.keep_memory(True))")


def test_without_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    import backslice as bs
    from backslice import memory

    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())
    with pytest.raises(bs.UnimplementedError, match="needs glibc"):
        bs.keep_memory()
