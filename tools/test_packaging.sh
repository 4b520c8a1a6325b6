#!/usr/bin/env bash
# Tries the Conan recipe with Conan itself, for the static and the shared library, with Debian's Highway, and the Debian
# package with lintian. Usage: tools/test_packaging.sh PYTHON
set -eu
cd "$(dirname "$0")/.."
build=$PWD/build/packaging
export CONAN_HOME=$build/conan-home
mkdir -p "$build"

"$1" -m venv "$build/venv"
"$build/venv/bin/pip" install -q "conan>=2.15"
conan=$build/venv/bin/conan
"$conan" profile detect --force 2> /dev/null
printf 'include(default)\n[settings]\ncompiler.cppstd=20\n[platform_requires]\nhighway/%s\n' \
  "$(pkg-config --modversion libhwy)" > "$build/profile"
for shared in False True; do
  "$conan" create packaging/conan -pr "$build/profile" -o "backslice/*:shared=$shared" 2>&1 | tee "$build/conan-$shared.log" |
    grep -E "tests passed|ERROR|error:" || { cat "$build/conan-$shared.log"; exit 1; }
done

export DEBEMAIL=nobody@debian.org
cmake --preset release -B "$build/debian" -D BUILD_SHARED_LIBS=ON -D CMAKE_INSTALL_PREFIX=/usr --log-level=WARNING
cmake --build "$build/debian"
cpack --config "$build/debian/CPackConfig.cmake" -B "$build/debian-package" > /dev/null
lintian --fail-on error,warning "$build"/debian-package/*.deb
