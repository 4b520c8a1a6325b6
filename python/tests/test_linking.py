"""The shared library of the package: its exports, its users, and how C programs link it."""

import ctypes
import re
import subprocess
import sys
from pathlib import Path

import backslice as bs
import numpy as np
import pytest
from backslice import linking

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "tests" / "c_abi" / "guide.c"


def run(*command: object) -> str:
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def exported() -> dict[str, str]:
    """Return version nodes by symbol."""
    lines = run("nm", "-D", "--defined-only", "--with-symbol-versions", bs.get_library()).splitlines()
    symbols = [line.split()[-1].split("@@") for line in lines]
    return {symbol[0]: symbol[1] for symbol in symbols if len(symbol) == 2}


def test_only_the_c_interface_and_the_cpp_api_are_exported() -> None:
    symbols = exported()
    in_c = {name for name, node in symbols.items() if node == "BACKSLICE_1"}
    in_cpp = {name for name, node in symbols.items() if node == f"BACKSLICE_CXX_{bs.__version__}"}
    assert symbols.keys() == in_c | in_cpp
    assert all(re.fullmatch(r"backslice_\w+", name) for name in in_c)
    assert all(re.match(r"_Z(NK?[RO]?|T[ISV]N)9backslice", name) for name in in_cpp)
    assert "backslice_slice_grad_into" in in_c
    assert any("slice_grad" in name for name in in_cpp)


def test_the_name_by_which_programs_load_it_is_the_version_of_the_c_interface() -> None:
    dynamic = run("readelf", "-d", bs.get_library())
    assert "soname: [libbackslice.so.1]" in dynamic
    assert Path(bs.get_library()).name == "libbackslice.so.1"


# One copy of the library, one pool: in a fresh process, without the imports of other tests.
SHARED = """
import ctypes
import backslice as bs
lib = ctypes.CDLL(bs.get_library())
bs.set_num_threads(3)
assert lib.backslice_num_threads() == 3, lib.backslice_num_threads()
lib.backslice_set_num_threads(2)
assert bs.get_num_threads() == 2, bs.get_num_threads()
maps = {line.split()[-1] for line in open("/proc/self/maps") if "libbackslice" in line}
assert maps == {bs.get_library()}, maps
"""


def test_who_loads_the_library_shares_its_threads_with_python() -> None:
    run(sys.executable, "-c", SHARED)


def test_errors_of_the_library_are_those_of_python() -> None:
    with pytest.raises(bs.InvalidArgumentError, match="strides"):
        bs.strided_slice_grad([4], [0], [2], [0], np.ones(2))
    bs.set_num_threads(bs.get_num_threads())
    with pytest.raises(bs.InvalidArgumentError):
        bs.set_num_threads(0)


def test_a_program_in_c_is_built_with_the_paths(tmp_path: Path) -> None:
    library = Path(bs.get_library())
    run(
        "gcc",
        "-std=c11",
        "-I",
        bs.get_include(),
        GUIDE,
        library,
        f"-Wl,-rpath,{library.parent}",
        "-o",
        tmp_path / "guide",
    )
    run(tmp_path / "guide")


def test_a_program_in_c_finds_the_package_with_cmake(tmp_path: Path) -> None:
    run("cmake", "-S", ROOT / "tests" / "c_consumer", "-B", tmp_path, f"-Dbackslice_ROOT={bs.get_cmake_dir()}")
    run("cmake", "--build", tmp_path)
    run(tmp_path / "guide")


def test_another_minor_version_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES C)\nfind_package(backslice 0.1 REQUIRED)\n"
    )
    assert "version: 0.2" in cmake_error_of(tmp_path)


def test_a_component_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Programs in C++ need a library that their own compiler has built."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES C)\n"
        "find_package(backslice 0.2 REQUIRED COMPONENTS C CXX)\n"
    )
    assert "It has no component CXX, only C" in cmake_error_of(tmp_path)


def cmake_error_of(project: Path) -> str:
    words = ["cmake", "-S", project, "-B", project / "b", f"-Dbackslice_ROOT={bs.get_cmake_dir()}"]
    refused = subprocess.run(words, capture_output=True, text=True)
    assert refused.returncode != 0
    return refused.stderr


def test_the_headers_are_those_of_the_library() -> None:
    header = (Path(bs.get_include()) / "backslice" / "c" / "base.h").read_text()
    version = int(re.search(r"define BACKSLICE_ABI_VERSION (\d+)", header)[1])
    assert ctypes.CDLL(bs.get_library()).backslice_abi_version() == version


def test_a_package_without_a_library_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(linking, "_PACKAGE", tmp_path)
    for function in (bs.get_include, bs.get_library, bs.get_cmake_dir):
        with pytest.raises(bs.FailedPreconditionError, match="Install the package with pip"):
            function()
