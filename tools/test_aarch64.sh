#!/usr/bin/env bash
# Runs the C++ tests of an aarch64 build under qemu, on processors that differ in SIMD targets and in the size of pages.
# Usage: tools/test_aarch64.sh BUILD_FOLDER
set -eu

tests=$1/tests

emulate() {  # emulate CPU PROGRAM ARGUMENT...
  qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu "$@"
}

run() {  # run TITLE CPU FILTER [PROGRAM]: runs the program's tests that match the filter
  echo "== $1"
  emulate "$2" "$tests/${4-backslice_tests}" --gtest_brief=1 --gtest_filter="$3"
}

neon=max,sve=off
run "NEON" $neon '*'
run "NEON, threads; not the tests that fork: qemu 7 aborts where a forked child of a process with threads starts one" \
  $neon '-*Fork*' backslice_thread_tests

echo "== NEON, examples"
for example in "$tests"/example_*; do
  emulate $neon "$example" > /dev/null || { echo "$(basename "$example") failed" >&2; exit 1; }
done

# The host system keeps its own pages, and cannot report which larger pages are resident.
QEMU_PAGESIZE=65536 run "NEON, pages of 64 KiB; not the test that asks which are resident" $neon '-BufferPool.ASmallPart*'

# The slice kernels run on every target; this runs them on targets that the runs above lack.
sve='-*_NEON_*:*_SCALAR_*:*_reference'
run "SVE2, vectors of 128 bits" max,sve-max-vq=1 "$sve"
run "SVE2, vectors of 256 bits" max,sve-max-vq=2 "$sve"
run "SVE2, vectors of 512 bits" max,sve-max-vq=4 "$sve"
run "SVE without SVE2, vectors of 512 bits" a64fx "$sve"
run "SVE2, vectors of 2048 bits: longer than a cache line, so left to NEON" \
  max,sve-max-vq=16,sve-default-vector-length=256 'Targets.*'
