#!/usr/bin/env bash
# Runs the tests of the Python extension from a sanitized build.
# Usage: tools/sanitize_python.sh BUILD_FOLDER PYTHON [ARGUMENT OF PYTEST...]
set -eu
cd "$(dirname "$0")/.."

build=$1 python=$(realpath -s "$2")
shift 2

# The package from the source tree, with the extension of this build.
package=$build/package
rm -rf "$package"
mkdir -p "$package"
cp -r python/backslice python/backslice_command "$package"
cp "$build"/python/_core.*.so "$package/backslice/"

# Excluded: tests that a sanitizer adds nothing to, or that cannot run under it.
left_out=(
  'test_cli*.py' test_picture.py                              # the command line and pictures: only Python code
  test_linking.py                                             # needs the shared library, which this build does not have
  'test_onnx_*models.py'                                      # only Python code
  test_keep_memory.py                                         # tests glibc's memory, which the sanitizer replaces
  test_dask_graph.py test_dask_meetings.py  # only Python code, with limits of memory and time
  test_tensorflow_compiling.py                                # only Python code, and sources of an installation
  # child processes that fork, or have limits of memory or time
  test_ctrl_c.py test_exit.py test_runtime.py test_threads.py
  # sometimes the sanitizer's own locks are held in the child
  test_forks.py
)
ignored=()
for file in "${left_out[@]}"; do ignored+=("--ignore-glob=*/$file"); done

# Python itself is not sanitized, so the sanitizer's runtime must be loaded before it. So must the C++ library, whose
# exceptions the runtime looks up at that moment.
libraries=$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libstdc++.so.6)

# Leaks are not checked: Python and NumPy keep memory until the process ends, and the C++ tests check our own.
# Mismatches of new and free are not checked either: the extension has its own operator new, to make it fail, but the
# C++ library's strings use another.
options=detect_leaks=0:alloc_dealloc_mismatch=0:allocator_may_return_null=1

# The C interface is tested from this build.
export BACKSLICE_C_LIBRARY=$PWD/$build/libbackslice.so

[ $# -gt 0 ] || set -- python/tests
# --capture=sys shows the sanitizer's last output before it ends the process.
PYTHONPATH=$package LD_PRELOAD=$libraries ASAN_OPTIONS=$options UBSAN_OPTIONS=print_stacktrace=1 \
  PYTHONMALLOC=malloc "$python" -m pytest -p no:cacheprovider --capture=sys \
  --numprocesses auto --maxprocesses 4 --dist worksteal "${ignored[@]}" "$@"
