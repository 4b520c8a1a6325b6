"""A wheel for another platform or another Python: the import error is one sentence that says so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import backslice as bs
import pytest

PACKAGE = Path(bs.__file__).parent


def damage(extension: Path) -> None:
    extension.write_bytes(b"\x7fELF for another machine")


def rename(extension: Path) -> None:
    extension.rename(extension.with_name("_core.cpython-311-other-linux-gnu.so"))


@pytest.mark.parametrize("change", [damage, rename, Path.unlink])
def test_an_extension_module_that_does_not_fit(change, tmp_path: Path) -> None:
    copy = tmp_path / "backslice"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("include", "lib", "lib*.so*", "__pycache__"))
    (extension,) = copy.glob("_core*.so")
    change(extension)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    program = [sys.executable, "-c", "import backslice"]
    done = subprocess.run(program, capture_output=True, text=True, env=environment, cwd=tmp_path)
    text = "ImportError: backslice's extension module does not fit Python 3."
    last = done.stderr.splitlines()[-1]
    assert last.startswith(text) and "`pip install --force-reinstall backslice` installs one that fits (" in last, done
