"""The command line's own dependencies are an extra: if one is missing, the error says how to install it."""

import subprocess
import sys

import pytest

HIDE = """
import sys
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name.split(".")[0] == {module!r} else find(name, *rest)
"""


def run_without(module: str, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HIDE.format(module=module) + program, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def run_command_without(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_without(module, "import backslice_command; backslice_command.main()", *arguments)


def message(module: str) -> str:
    return f"backslice: error: the command line needs {module}. Install it with: pip install 'backslice[cli]'\n"


@pytest.mark.parametrize(
    ("module", "arguments"),
    [("typer", []), ("typer", ["explain", "4,6", "1:3"]), ("rich", ["explain", "4,6", "1:3"])],
)
def test_the_command_line_says_which_package_is_missing(module, arguments):
    ran = run_command_without(module, *arguments)
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", message(module))


def test_only_safetensors_files_need_safetensors(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(b"")
    ran = run_command_without("safetensors", "slice", str(path), "--index", "1:3", "-o", str(tmp_path / "y.npy"))
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", message("safetensors"))
    assert run_command_without("safetensors", "explain", "4,6", "1:3").returncode == 0


@pytest.mark.parametrize("module", ["typer", "rich", "safetensors"])
def test_the_package_needs_none_of_them(module):
    ran = run_without(module, "import backslice as bs; bs.Selection.from_index((4,), '1:3')")
    assert ran.returncode == 0, ran.stderr
