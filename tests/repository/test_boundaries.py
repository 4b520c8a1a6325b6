"""Nothing is thrown past the C interface: every exported function, with each of its allocations failing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "build" / "dev" / "libbackslice.so"
# Takes the place of operator new. The n-th request from strike_at(n) on fails.
FAILING = """
#include <cstdlib>
#include <new>
static thread_local long left = -1;
extern "C" void strike_at(long n) { left = n; }
extern "C" int disarm() { const bool struck = left == -2; left = -1; return struck; }
static void* take(std::size_t size) {
  if (left >= 0 && left-- == 0) { left = -2; return nullptr; }
  return std::malloc(size == 0 ? 1 : size);
}
static void* take_or_throw(std::size_t size) {
  if (void* data = take(size)) return data;
  throw std::bad_alloc();
}
void* operator new(std::size_t size) { return take_or_throw(size); }
void* operator new[](std::size_t size) { return take_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void operator delete(void* data) noexcept { std::free(data); }
void operator delete[](void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete[](void* data, std::size_t) noexcept { std::free(data); }
"""
# Zeros are NULL, an empty list or number 0, whichever a function takes; those past its parameters it does not see.
CALLS = """
import ctypes, sys
failing, library = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2])
for name in sys.argv[3:]:
    print(name, flush=True)
    for n in range(100):
        failing.strike_at(ctypes.c_long(n))
        library[name](*[ctypes.c_int64(0)] * 16)
        if not failing.disarm():
            break
"""


@pytest.mark.skipif(not LIBRARY.exists(), reason="build/dev has no shared library")
def test_no_exported_function_throws_where_memory_runs_out(tmp_path):
    compiler = shutil.which("g++") or shutil.which("clang++")
    source, failing = tmp_path / "failing.cc", tmp_path / "libfailing.so"
    source.write_text(FAILING)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", source, "-o", failing], check=True)
    listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    names = sorted({line.split()[-1].split("@")[0] for line in listed.splitlines() if " backslice_" in line})
    assert len(names) > 100
    # Each call is the first of its process to some: what is made once is made anew.
    for first in range(0, len(names), 8):
        command = [sys.executable, "-c", CALLS, failing, LIBRARY, *names[first:], *names[:first]]
        done = subprocess.run(command, env={"LD_PRELOAD": str(failing)}, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (done.stdout.split()[-1:], done.stderr)
