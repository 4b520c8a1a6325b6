#!/usr/bin/env bash
# Puts the tests and fuzzers that need a CUDA device, the benchmarks and every library they use into one archive,
# build/cuda-bundle.tar.gz, for a machine with a device but without our tools. Run there:
#   tar xzf cuda-bundle.tar.gz && cuda-bundle/run.sh
# The tests of the Python package come with the wheels in dist/, which make wheel and make wheels build.
set -eu
build=${1:?the build folder}
bundle=$(mktemp -d)/cuda-bundle
mkdir -p "$bundle/lib" "$bundle/conformance"
for program in tests/backslice_cuda_tests tests/cuda_hard_failures tests/cuda_no_kernel bench/backslice_cuda_bench \
  bench/backslice_bench_cuda_containers fuzz/fuzz_{dense,grad_buffer,many_slices,ragged,ragged_index,sparse,tensor_array}_cuda; do
  install -s "$build/$program" "$bundle/"
  # The C library and the loader are the other machine's.
  ldd "$build/$program" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' |
    grep -Ev '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} "$bundle/lib/"
done
cp tests/conformance/*.json "$bundle/conformance/"
cp tools/cuda_run.sh "$bundle/run.sh"

# The tests in Python, with the modules that they import.
mkdir -p "$bundle/python/tests" "$bundle/python/oracle" "$bundle/wheels"
python3 - python/tests/{conftest,test_cuda_*}.py <<'END' | xargs -I{} cp {} "$bundle/python/tests/"
import ast, pathlib, sys
wanted = [pathlib.Path(file) for file in sys.argv[1:]]
for file in wanted:  # the list grows
    for node in ast.walk(ast.parse(file.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", None)]
        local = [file.with_name(f"{name}.py") for name in names]
        wanted += [other for other in local if other.exists() and other not in wanted]
print(*wanted, sep="\n")
END
cp -r tests/oracle/in_torch tests/oracle/in_torch_cuda tests/oracle/in_jax_cuda "$bundle/python/oracle/"
find "$bundle/python" -name __pycache__ -prune -exec rm -r {} +
for wheel in dist/backslice-*.whl; do
  [ -e "$wheel" ] || { echo "dist/ has no wheel, so that run.sh python needs backslice installed there: make wheel, or make wheels for every CPython that is found"; break; }
  cp "$wheel" "$bundle/wheels/"
  newer=$(find include src adapters python/backslice python/bindings -type f -newer "$wheel" -not -name '*.pyc' -print -quit)
  echo "with $wheel${newer:+, which is older than $newer}"
done
tar -C "$(dirname "$bundle")" -czf build/cuda-bundle.tar.gz cuda-bundle
ls -l build/cuda-bundle.tar.gz
