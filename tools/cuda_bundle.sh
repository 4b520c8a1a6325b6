#!/usr/bin/env bash
# Puts the tests and fuzzers that need a CUDA device, the benchmarks and every library they use into one archive, build/cuda-bundle.tar.gz, for a
# machine that has a device but not our tools. There: tar xzf cuda-bundle.tar.gz && cuda-bundle/run.sh
set -eu
build=${1:?the build folder}
bundle=$(mktemp -d)/cuda-bundle
mkdir -p "$bundle/lib" "$bundle/conformance"
for program in tests/backslice_cuda_tests tests/cuda_hard_failures tests/cuda_no_kernel bench/backslice_cuda_bench \
  bench/backslice_bench_cuda_containers fuzz/fuzz_{dense,grad_buffer,many_slices,ragged,ragged_index,sparse,tensor_array}_cuda; do
  install -s "$build/$program" "$bundle/"
  # The C library and the loader are that machine's own.
  ldd "$build/$program" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' |
    grep -Ev '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} "$bundle/lib/"
done
cp tests/conformance/*.json "$bundle/conformance/"
cp tools/cuda_run.sh "$bundle/run.sh"
tar -C "$(dirname "$bundle")" -czf build/cuda-bundle.tar.gz cuda-bundle
ls -l build/cuda-bundle.tar.gz
