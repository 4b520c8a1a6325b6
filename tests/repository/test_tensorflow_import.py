"""The import errors of backslice.tensorflow: TensorFlow is missing, too old or unlike known versions."""

import subprocess
import sys
from pathlib import Path

import pytest

FAKE = """
__version__ = "{version}"

class errors:
    class OpError(Exception):
        pass

def load_op_library(path):
    raise errors.OpError("undefined symbol: TF_NewKernelBuilder")
"""


def imported(folder: Path, before: str = "") -> str:
    """Return the error of the import, with `folder` first in the path."""
    program = f"""
import sys
sys.path.insert(0, {str(folder)!r})
{before}
try:
    import backslice.tensorflow
except ImportError as error:
    print(type(error).__name__, error)
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_without_tensorflow(tmp_path: Path) -> None:
    text = imported(tmp_path, "sys.modules['tensorflow'] = None")
    assert text.startswith("ImportError backslice.tensorflow needs TensorFlow") and "pip install tensorflow" in text


def test_with_a_folder_that_was_left_over(tmp_path: Path) -> None:
    (tmp_path / "tensorflow" / "python").mkdir(parents=True)
    text = imported(tmp_path, f"sys.path[:] = [{str(tmp_path)!r}] + [p for p in sys.path if 'tensorflow' not in p]")
    assert "needs TensorFlow, which is incomplete here" in text and "--force-reinstall tensorflow" in text


@pytest.mark.parametrize("name", ["__version__", "errors", "load_op_library"])
def test_with_an_installation_that_is_not_complete(tmp_path: Path, name: str) -> None:
    (tmp_path / "tensorflow.py").write_text(FAKE.format(version="2.21.0") + f"\ndel {name}\n")
    text = f"needs TensorFlow, but the module tensorflow has no {name}: its installation is incomplete; `pip install"
    assert text in imported(tmp_path)


@pytest.mark.parametrize("error", ["ImportError", "AttributeError", "OSError"])
def test_with_an_installation_that_cannot_be_imported(tmp_path: Path, error: str) -> None:
    (tmp_path / "tensorflow.py").write_text(f"raise {error}('Traceback:\\n  of several lines')")
    text = imported(tmp_path)
    assert text.endswith(f"which cannot be imported here; `pip install tensorflow` installs it ({error})\n"), text


def test_with_a_library_for_another_platform(tmp_path: Path) -> None:
    fake = FAKE.format(version="2.21.0").replace("undefined symbol: TF_NewKernelBuilder", "invalid ELF header")
    (tmp_path / "tensorflow.py").write_text(fake)
    assert "kernels cannot be loaded into TensorFlow 2.21.0: invalid ELF header" in imported(tmp_path)


@pytest.mark.parametrize("version", ["1.15.0", "2.15.1", "2.9.0"])
def test_with_a_version_that_is_too_old(tmp_path: Path, version: str) -> None:
    (tmp_path / "tensorflow.py").write_text(FAKE.format(version=version))
    assert f"needs TensorFlow 2.16 or later, but {version} is installed" in imported(tmp_path)


def test_with_a_version_that_the_kernels_cannot_be_loaded_into(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text(FAKE.format(version="9.0.0-rc1"))
    text = imported(tmp_path)
    assert "cannot be loaded into TensorFlow 9.0.0-rc1: undefined symbol" in text


def test_importing_backslice_does_not_import_tensorflow() -> None:
    program = "import backslice, sys; print([name for name in sys.modules if 'tensorflow' in name])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
