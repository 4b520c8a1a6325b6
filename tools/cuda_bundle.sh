#!/bin/sh
# Puts the tests that need a CUDA device, the benchmark and every library they use into one archive, build/cuda-bundle.tar.gz, for a
# machine that has a device but not our tools. There: tar xzf cuda-bundle.tar.gz && cuda-bundle/run.sh
set -eu
build=${1:?the build folder}
bundle=$(mktemp -d)/cuda-bundle
mkdir -p "$bundle/lib" "$bundle/conformance"
for program in tests/backslice_cuda_tests bench/backslice_cuda_bench; do
  install -s "$build/$program" "$bundle/"
  # The C library and the loader are that machine's own.
  ldd "$build/$program" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' |
    grep -Ev '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} "$bundle/lib/"
done
cp tests/conformance/*.json "$bundle/conformance/"
cp tools/cuda_run.sh "$bundle/run.sh"
tar -C "$(dirname "$bundle")" -czf build/cuda-bundle.tar.gz cuda-bundle
ls -l build/cuda-bundle.tar.gz
