#!/bin/sh
# Runs what `make cuda-bundle` packed, on a machine with a CUDA device: the tests, or with an argument
#   run.sh tests [--gtest_filter=...]     the tests
#   run.sh sanitize                       a part of them under compute-sanitizer's memcheck, racecheck and initcheck
#   run.sh bench [workload ...]           the benchmark
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export BACKSLICE_CONFORMANCE_DIR="$here/conformance"
what=${1:-tests}
[ $# -eq 0 ] || shift
case $what in
tests) exec "$here/backslice_cuda_tests" "$@" ;;
bench) exec "$here/backslice_cuda_bench" "$@" ;;
sanitize)
  # One dtype per width, and everything else that is small: under these tools a launch takes milliseconds.
  filter=${SANITIZE_FILTER:-'*DenseOnCuda*/int8:*DenseOnCuda*/bfloat16:*DenseOnCuda*/float32:*DenseOnCuda*/float64:*DenseOnCuda*/complex128:DenseOnCuda.*:Cuda.Gradients*:Conformance.*'}
  for tool in memcheck racecheck initcheck; do
    compute-sanitizer --tool $tool --error-exitcode 9 --report-api-errors no --print-limit 5 "$here/backslice_cuda_tests" --gtest_brief=1 \
      --gtest_filter="$filter" "$@"
  done
  ;;
*)
  echo "run.sh: tests, sanitize or bench, not $what" >&2
  exit 2
  ;;
esac
