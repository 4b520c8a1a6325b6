#!/bin/sh
# Runs what `make cuda-bundle` packed, on a machine with a CUDA device: the tests, or with an argument
#   run.sh tests [--gtest_filter=...]     the tests, and without a filter what follows
#   run.sh failures                       errors that end a device's use, each in a process of its own
#   run.sh sanitize                       a part of them under compute-sanitizer's memcheck, racecheck and initcheck
#   run.sh fuzz [seconds] [seed]          every fuzzer for so many seconds (10)
#   run.sh python [argument of pytest]    the tests of the Python package, with the python3 there (PYTHON names another)
#   run.sh bench [workload ...]           the benchmark of dense gradients
#   run.sh bench-containers [millions]    that of sparse and ragged ones, with so many million entries (100)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export BACKSLICE_CONFORMANCE_DIR="$here/conformance"
what=${1:-tests}
[ $# -eq 0 ] || shift
# Each must end with an error message, not by a signal.
hard_failures() {
  wrong=0
  for run in "cuda_hard_failures sticky" "cuda_hard_failures dead_stream" "cuda_no_kernel no_kernel"; do
    status=0
    # shellcheck disable=SC2086  # a program and its argument
    "$here"/$run || status=$?
    case $status in
    0) ;;
    77) echo "SKIPPED: $run" ;;
    *) echo "FAILED: $run ended with status $status"; wrong=1 ;;
    esac
  done
  [ $wrong -eq 1 ] || echo "PASSED: errors that end a device's use"
  return $wrong
}

# Use the wheel here that fits that Python, else its installed package.
install_wheel() {
  "$python" -m pip install -q --no-deps --no-index --upgrade --find-links "$here/wheels" --target "$here/site" backslice || {
    echo "run.sh: no wheel in $here/wheels fits $("$python" -V). \"make wheels\" builds one for every CPython that it finds; or install backslice" >&2
    "$python" -c "import backslice"
  }
}

# Run all tests that can run: those inside PyTorch and JAX need these, with CUDA. Skipped tests say why.
python_tests() {
  python=${PYTHON:-python3}
  install_wheel
  export PYTHONPATH="$here/site${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
  unset LD_LIBRARY_PATH  # the wheel contains its libraries
  wrong=0
  (cd "$here/python/tests" && "$python" -m pytest -q -rs -p no:cacheprovider test_cuda_*.py "$@") || wrong=1
  for framework in torch jax; do
    if "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$framework') is None)"; then
      (cd "$here/python/oracle/in_${framework}_cuda" && "$python" -m pytest -q -rs -p no:cacheprovider -c pytest.ini . "$@") || wrong=1
    else
      echo "SKIPPED: the checks inside $framework, which $python does not have"
    fi
  done
  return $wrong
}

case $what in
tests)
  [ $# -eq 0 ] || exec "$here/backslice_cuda_tests" "$@"
  failed=0
  "$here/backslice_cuda_tests" || failed=1
  hard_failures || failed=1
  exit $failed
  ;;
failures) hard_failures ;;
python) python_tests "$@" ;;
fuzz)
  for program in "$here"/fuzz_*_cuda; do "$program" "${1:-10}" "${2:-1}"; done
  ;;
bench) exec "$here/backslice_cuda_bench" "$@" ;;
bench-containers) exec "$here/backslice_bench_cuda_containers" "$@" ;;
sanitize)
  # Run one dtype per width, and everything else that is small: under these tools a launch takes milliseconds. Tests of
  # hundreds of thousands of rows are excluded. So are tests that check whether a stream is still busy, since the tools
  # may wait for each launch. racecheck, which takes minutes, checks memory shared by threads; kernels of single slices
  # have none. Tests that take it longer than five minutes are excluded: thousands of sorts by 64 bits in CUB.
  dense='*DenseOnCuda*/int8:*DenseOnCuda*/bfloat16:*DenseOnCuda*/float32:*DenseOnCuda*/float64:*DenseOnCuda*/complex128:DenseOnCuda.*'
  containers='SparseCuda.*:RaggedCuda.*:TensorArrayCuda.*:GradBufferCuda.*:CDeviceStatus.*'
  left_out='SparseCuda.GradientsOfManyRows*:TensorArrayCuda.Elements*Stream*'
  for tool in memcheck initcheck racecheck; do
    case $tool in
    racecheck) filter="$containers:*DenseOnCuda*Many*/float32:Cuda.Gradients*-$left_out:SparseCuda.ExtremeIndices*" ;;
    *) filter="$dense:$containers:Cuda.Gradients*:Conformance.*-$left_out" ;;
    esac
    echo "$tool"
    compute-sanitizer --tool $tool --error-exitcode 9 --report-api-errors no --print-limit 5 "$here/backslice_cuda_tests" --gtest_brief=1 \
      --gtest_filter="${SANITIZE_FILTER:-$filter}" "$@"
  done
  ;;
*)
  echo "run.sh: tests, python, failures, sanitize, fuzz, bench or bench-containers, not $what" >&2
  exit 2
  ;;
esac
