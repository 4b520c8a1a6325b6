#!/usr/bin/env bash
# Runs the tests of the Python extension that a sanitized build made.
# Usage: tools/sanitize_python.sh BUILD_FOLDER PYTHON [ARGUMENT OF PYTEST...]
set -eu
cd "$(dirname "$0")/.."

build=$1 python=$(realpath -s "$2")
shift 2

# The package as it is in the source tree, with the extension of this build.
package=$build/package
rm -rf "$package"
mkdir -p "$package"
cp -r python/backslice python/backslice_command "$package"
cp "$build"/python/_core.*.so "$package/backslice/"

# Not here, because a sanitizer would show nothing new in them, or cannot run them at all:
left_out=(
  'test_cli*.py' test_picture.py                              # the command line and pictures: Python code alone
  test_linking.py                                             # the shared library, which this build does not have
  'test_onnx_*models.py'                                      # Python code alone
  test_keep_memory.py                                         # glibc's memory, where the sanitizer has its own
  test_dask_graph.py test_dask_meetings.py  # Python code alone, and limits of memory and time
  test_tensorflow_compiling.py                                # Python code alone, beside sources that an installation has
  test_ctrl_c.py test_exit.py test_runtime.py test_threads.py # child processes with limits of memory or time, or that fork
  test_forks.py                                               # nor are the sanitizer's own locks free in a child, now and then
)
ignored=()
for file in "${left_out[@]}"; do ignored+=("--ignore-glob=*/$file"); done

# Python is not sanitized itself, so the sanitizer's runtime must be there before it starts, and the C++ library with
# it, whose exceptions the runtime looks up at that moment.
libraries=$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libstdc++.so.6)

# Leaks: Python and NumPy keep what they allocate until the process ends; the C++ tests look for ours. Mismatches of
# new and free: the extension has its own operator new, to make it fail, but the C++ library's strings use another.
options=detect_leaks=0:alloc_dealloc_mismatch=0:allocator_may_return_null=1

# The C interface is tested as this build has it.
export BACKSLICE_C_LIBRARY=$PWD/$build/libbackslice.so

[ $# -gt 0 ] || set -- python/tests
# --capture=sys: what a sanitizer says before it ends the process is not to be kept back.
PYTHONPATH=$package LD_PRELOAD=$libraries ASAN_OPTIONS=$options UBSAN_OPTIONS=print_stacktrace=1 \
  PYTHONMALLOC=malloc "$python" -m pytest -p no:cacheprovider --capture=sys \
  --numprocesses auto --maxprocesses 4 --dist worksteal "${ignored[@]}" "$@"
