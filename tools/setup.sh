#!/usr/bin/env bash
# Installs missing packages that the build needs: by apt if run as root, otherwise it prints the apt line.
# Usage: tools/setup.sh PYTHON [aarch64|fuzz|docs|docs-test|explorer|packaging|repository]; a second word adds the packages for
# the tests for 64-bit ARM, the fuzzers, the manual, the manual's tests, the slice explorer, the recipes in
# packaging/, or the tests of the repository.
set -eu

python=$1
packages=()

need() {  # need PACKAGE TEST...: requests the package unless the test passes
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || packages+=("$package")
}

# Returns whether clang++ links libFuzzer with the sanitizers, whose libraries are in a separate package.
has_fuzzer() {
  echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o /dev/null
}

has_header() { [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ]; }

need g++ command -v g++
need cmake command -v cmake
need ninja-build command -v ninja
need libhwy-dev has_header hwy/highway.h
need libgtest-dev has_header gtest/gtest.h
need libgmock-dev has_header gmock/gmock.h
need nlohmann-json3-dev has_header nlohmann/json.hpp
need python3-venv "$python" -c 'import ensurepip, venv'
need python3-dev "$python" -c 'import os, sysconfig; os.stat(os.path.join(sysconfig.get_path("include"), "Python.h"))'
if [ "${2-}" = repository ]; then
  need libbenchmark-dev has_header benchmark/benchmark.h
  need abigail-tools command -v abidiff
  need pkg-config command -v pkg-config
  need dpkg-dev command -v dpkg-shlibdeps
  need libeigen3-dev has_header eigen3/Eigen/Core
  need libxtensor-dev has_header xtensor/xtensor.hpp
fi
if [ "${2-}" = packaging ]; then
  need dpkg-dev command -v dpkg-shlibdeps
  need lintian command -v lintian
  need pkg-config command -v pkg-config
fi
if [ "${2-}" = aarch64 ]; then
  need g++-aarch64-linux-gnu command -v aarch64-linux-gnu-g++
  need qemu-user command -v qemu-aarch64
fi
if [ "${2:-}" = fuzz ]; then
  need clang command -v clang++
  version=$(clang++ -dumpversion 2>/dev/null | cut -d. -f1)
  need "libclang-rt-${version:-14}-dev" has_fuzzer
fi
if [ "${2:-}" = docs ]; then
  need doxygen command -v doxygen
fi
if [ "${2:-}" = docs-test ]; then
  need chromium command -v chromium
  need fonts-dejavu-core [ -d /usr/share/fonts/truetype/dejavu ]
fi
if [ "${2:-}" = explorer ]; then
  need emscripten command -v em++
  need node-typescript command -v tsc
fi

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
  echo "backslice needs Python 3.10 or newer; $python is $("$python" -V 2>&1). Try: make PYTHON=python3.11 ..." >&2
  exit 1
fi

# ccache is optional: it makes compiling again faster.
can_install() { [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; }
if can_install; then need ccache command -v ccache; fi

cmake_version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
if [ -n "$cmake_version" ] && [ "$(printf '%s\n' 3.25 "$cmake_version" | sort -V | head -n 1)" != 3.25 ]; then
  echo "backslice needs CMake 3.25 or newer; $(command -v cmake) is $cmake_version. Try: $python -m pip install --user cmake" >&2
  exit 1
fi

free=$(df -Pk . | awk 'NR == 2 {print $4}')
if [ "$free" -lt 1000000 ]; then
  echo "backslice needs 1 GB of free disk space for its build; $PWD has $((free / 1000)) MB" >&2
  exit 1
fi

[ ${#packages[@]} -eq 0 ] && exit 0

if ! can_install; then
  echo "backslice needs packages that are not installed. Run this, then try again:" >&2
  echo "  sudo apt-get install ${packages[*]}" >&2
  exit 1
fi

echo "Installing ${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
