"""The command line's own dependencies are an extra: without one of them, it says how to install it."""

import subprocess
import sys

import pytest


def run_without(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = f"import sys; sys.modules[{module!r}] = None; import backslice_command; backslice_command.main()"
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("module", ["typer", "rich"])
@pytest.mark.parametrize("arguments", [[], ["--help"], ["explain", "4,6", "1:3"]])
def test_the_command_line_says_which_package_is_missing(module, arguments):
    ran = run_without(module, *arguments)
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert ran.stderr == f"error: the command line needs {module}. Install it with: pip install 'backslice[cli]'\n"


def test_only_safetensors_files_need_safetensors(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(b"")
    ran = run_without("safetensors", "slice", str(path), "1:3", "-o", str(tmp_path / "y.npy"))
    assert ran.returncode == 1
    assert ran.stderr == "error: the command line needs safetensors. Install it with: pip install 'backslice[cli]'\n"
    assert run_without("safetensors", "explain", "4,6", "1:3").returncode == 0


@pytest.mark.parametrize("module", ["typer", "rich", "safetensors"])
def test_the_package_needs_none_of_them(module):
    program = f"import sys; sys.modules[{module!r}] = None; import backslice as bs; print(bs.Selection.from_index((4,), '1:3'))"
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
