#!/usr/bin/env bash
# Installs a wheel into an empty environment and tries it there: import, the command line with its extra, and the
# package's tests. Files that no program can load hide the system's Highway and oneTBB.
# Usage: [BACKSLICE_WHEEL_HAS_CUDA=1] tools/test_wheel.sh PYTHON WHEEL [ARGUMENT OF PYTEST...]
set -eu
python=$1 wheel=$(realpath "$2")
shift 2
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/hidden"
for library in libhwy.so.1 libhwy_contrib.so.1 libtbb.so.12 libtbb.so.2 libtbbmalloc.so.2; do : > "$folder/hidden/$library"; done
export LD_LIBRARY_PATH=$folder/hidden

"$python" -m venv "$folder/venv"
installed=$folder/venv/bin/python
"$installed" -m pip install -q "$wheel"
(cd "$folder" && "$installed" -c 'import backslice; print("backslice", backslice.__version__, "in", backslice.get_library())')
"$installed" - <<'END'
import json
import os
from importlib.metadata import files

linked = {"highway", "libcxx", "libcxxabi", "libunwind", "nanobind", "robin_map", "xla"}
if os.environ.get("BACKSLICE_WHEEL_HAS_CUDA") == "1":
    linked |= {"cub", "cuda"}
missing = {f"LICENSE.{name}" for name in linked} - {file.name for file in files("backslice")}
assert not missing, f"the wheel lacks {sorted(missing)}"
(bill,) = (file for file in files("backslice") if file.match("*.dist-info/sboms/*.cdx.json"))
listed = {component["name"] for component in json.loads(bill.read_text())["components"]}
assert listed == linked, f"the bill of materials has {sorted(listed)}"
END
# If the wheel should contain the CUDA kernels, they must be there, with or without a device.
(cd "$folder" && "$installed" - <<'END'
import os

import backslice.cuda

reason, has_cuda = backslice.cuda.unavailable_reason(), os.environ.get("BACKSLICE_WHEEL_HAS_CUDA") == "1"
print("CUDA:", reason or "usable")
assert (reason is None or "built without CUDA" not in reason) == has_cuda, reason
assert not has_cuda or backslice.cuda.versions()["runtime"] >= (12, 0), backslice.cuda.versions()
END
)
# The handlers for JAX must be there and load, even without JAX.
(cd "$folder" && "$installed" - <<'END'
import ctypes
from pathlib import Path

import backslice

library = ctypes.CDLL(str(Path(backslice.__file__).parent / "jax" / "libbackslice_jax.so"))
print("handlers for XLA's interface {}.{}".format(*divmod(library.backslice_xla_interface(), 1000)))
END
)
if (cd "$folder" && venv/bin/backslice demo 2> message.txt); then echo "the command line needs no extra" >&2; exit 1; fi
grep -qF "pip install 'backslice[cli]'" "$folder/message.txt"
"$installed" -m pip install -q "$wheel[cli]"
(cd "$folder" && "$folder/venv/bin/backslice" demo > "$folder/demo.txt") || { cat "$folder/demo.txt"; exit 1; }
(cd "$folder" && "$folder/venv/bin/backslice" explore 4,6 "1:3, ::2" --file --no-browser)

# Excluded: tests of only Python code, and tests that need more than a wheel contains.
left_out=(
  # only Python code
  'test_cli*.py' test_picture.py
  # need peers
  'test_dask*.py' test_dlpack.py test_dlpack_output.py test_neighbours.py 'test_onnx_*models.py' test_wrong_keywords.py
)
ignored=()
for file in "${left_out[@]}"; do ignored+=("--ignore-glob=*/$file"); done
"$installed" -m pip install -q "pytest>=8" "pytest-xdist>=3.6" "hypothesis>=6.100" "matplotlib>=3.8" "scipy>=1.11"
BACKSLICE_C_LIBRARY=$("$installed" -c 'import backslice; print(backslice.get_library())')
export BACKSLICE_C_LIBRARY
[ $# -gt 0 ] || set -- python/tests
"$installed" -m pytest -p no:cacheprovider --numprocesses auto --maxprocesses 4 --dist worksteal "${ignored[@]}" "$@"
