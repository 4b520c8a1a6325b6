"""The guide's program with std::mdspan, compiled by zig: its libc++ has it, and made the library of the wheel."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import backslice as bs

ROOT = Path(__file__).parents[2]


def zig() -> tuple[list[str], dict[str, str]]:
    """Return zig's C++ compiler, and the environment it needs: those of tools/build_wheel.py."""
    spec = importlib.util.spec_from_file_location("build_wheel", ROOT / "tools" / "build_wheel.py")
    build_wheel = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build_wheel)
    tools = build_wheel.environment("tools", Path(sys._base_executable), [ROOT / "tools" / "wheel_requirements.txt"])
    environment = build_wheel.zig_environment(tools)
    return [environment["BACKSLICE_ZIG"], "c++"], environment


def test_program_with_mdspan(tmp_path):
    compiler, environment = zig()
    program, library = tmp_path / "mdspan", Path(bs.get_library())
    subprocess.run(
        [*compiler, "-std=c++23", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", f"-I{ROOT / 'include'}",
         ROOT / "tests" / "consumer" / "mdspan.cc", library, f"-Wl,-rpath,{library.parent}", "-o", program],
        check=True, env=environment, timeout=600,
    )  # fmt: skip
    ran = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0 and not ran.stderr, ran.stderr
    assert "no std::mdspan" not in ran.stdout
