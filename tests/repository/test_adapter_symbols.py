"""Adapters and frameworks may have different C++ runtimes: only functions of C may pass between them."""

import re
import shutil
import subprocess
from pathlib import Path

import backslice as bs
import pytest

PACKAGE = Path(bs.__file__).parent
ADAPTERS = sorted(path for path in PACKAGE.glob("*/libbackslice_*.so"))
RUNTIMES = re.compile(r"@(GLIBC|GLIBCXX|CXXABI|GCC)_")
FRAMEWORKS = (b"_ZN10tensorflow", b"_ZNK10tensorflow", b"_ZN3tsl", b"_ZN4absl", b"_ZN6google8protobuf")

pytestmark = pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not installed")


def symbols(library: Path, *options: str) -> list[tuple[str, str]]:
    """Return the kind and the name of each dynamic symbol."""
    lines = subprocess.run(["nm", "-D", *options, library], capture_output=True, text=True, check=True).stdout
    return [(kind, name) for *_, kind, name in (line.split() for line in lines.splitlines())]


def plain(name: str) -> str:
    """Return a name without its version."""
    return name.partition("@")[0]


def imported(adapter: Path) -> set[str]:
    """Return what an adapter needs from libraries that are neither ours nor part of the C or C++ runtime."""
    needed = {plain(name) for kind, name in symbols(adapter, "-u") if kind == "U" and not RUNTIMES.search(name)}
    libraries = [path for path in PACKAGE.rglob("*.so*") if path != adapter]
    return needed - {plain(name) for path in libraries for _, name in symbols(path, "--defined-only")}


def test_there_are_adapters() -> None:
    assert "libbackslice_tensorflow.so" in {path.name for path in ADAPTERS}


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda path: path.stem)
def test_no_function_of_cpp_is_imported_from_a_framework(adapter: Path) -> None:
    assert [name for name in imported(adapter) if name.startswith("_Z")] == []


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda path: path.stem)
def test_no_function_of_cpp_is_exported_to_a_framework(adapter: Path) -> None:
    """Templates of the C++ library are weak symbols, and not counted as ours."""
    exported = {name for kind, name in symbols(adapter, "--defined-only") if kind == "T"}
    assert exported and [name for name in exported if name.startswith("_Z")] == []


def test_the_adapter_for_tensorflow_imports_its_c_interface_alone() -> None:
    adapter = PACKAGE / "tensorflow" / "libbackslice_tensorflow.so"
    names = imported(adapter)
    assert names and [name for name in names if not name.startswith("TF_")] == []
    content = adapter.read_bytes()  # includes names that dlsym would look up
    assert [name for name in FRAMEWORKS if name in content] == []
