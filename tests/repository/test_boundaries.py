"""Nothing is thrown past the library: every exported function is called with each of its allocations failing.

Functions of C are called here, those of C++ in tests/faults.
"""

import re
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
    # Processes that begin with other functions: some objects are made in the first call of a process.
    for first in range(0, len(names), 8):
        command = [sys.executable, "-c", CALLS, failing, LIBRARY, *names[first:], *names[:first]]
        done = subprocess.run(command, env={"LD_PRELOAD": str(failing)}, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (done.stdout.split()[-1:], done.stderr)


# Exported for the Python bindings and for templates in headers; each is called by a function that tests/faults calls.
CALLED_BY_OTHERS = {
    "Dims::too_large", "Dims::too_long", "GradBuffer::check", "Selection::assemble", "Selection::of_axes",
    "Selection::set_result", "Tensor::copy_contiguous", "Tensor::make_of_shape", "VariantArray::check_index",
    "check_num_threads_variable", "check_output", "check_target_variable", "detail::check_elements",
    "detail::contiguous_layout_of", "detail::layout_of_elements", "detail::layout_of_memory",
    "detail::without_strides", "size_in_bytes"
}  # fmt: skip
RETURNS = r"^(?:Status|Result<.*>)\s+{}\("


def exported_functions() -> set[str]:
    """The names in C++ of exported functions, without namespace backslice."""
    listed = subprocess.run(["nm", "-DC", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r" [TW] backslice::((?:\w+::)*\w+)\(", listed.replace("[abi:cxx11]", "")))


def sources() -> str:
    files = [file for file in (ROOT / "src").rglob("*.cc") if not file.name.endswith("test.cc")]
    return "\n".join(file.read_text() for file in files)


@pytest.mark.skipif(not LIBRARY.exists(), reason="build/dev has no shared library")
def test_every_exported_function_that_can_fail_is_in_the_fault_tests():
    text = sources()
    failing = {name for name in exported_functions() if re.search(RETURNS.format(re.escape(name)), text, re.MULTILINE)}
    assert len(failing) > 90
    calls = "".join(file.read_text() for file in (ROOT / "tests" / "faults").glob("*_test.cc"))
    called = {name for name in failing if re.search(rf"\b{name.split('::')[-1]}\(", calls)}
    assert failing - called - CALLED_BY_OTHERS == set()


# A public function is a boundary, or passes on what others return: an operation in a boundary would be one in another.
BODY = r"^[^\s#/}].*?\b([\w:]+)\([^;{]*\)[^;{]*\{\n(.*?)^\}"
OPERATION = r"^BACKSLICE_EXPORT (?:Status|Result<.*>)\s+(\w+)\([^;]*const Context&[^;]*;"


def test_no_operation_is_called_in_a_boundary():
    headers = "".join(file.read_text() for file in (ROOT / "include" / "backslice").glob("*.h"))
    operations = set(re.findall(OPERATION, headers, re.MULTILINE))
    functions = re.findall(BODY, sources(), re.MULTILINE | re.DOTALL)
    boundaries = [(name, body) for name, body in functions if "without_throwing(" in body]
    assert len(operations) > 20 and len(boundaries) > 80
    nested = [name for name, body in boundaries if operations & set(re.findall(r"(?<!::)\b(\w+)\(", body))]
    assert nested == ["gradient_code", "parse_slice"]  # whose slice_grad() and onnx_slice() make text
