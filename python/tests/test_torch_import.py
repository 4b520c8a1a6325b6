"""The import error of backslice.torch without PyTorch."""

import subprocess
import sys


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_without_pytorch() -> None:
    text = run("""
import sys
sys.modules["torch"] = None
try:
    import backslice.torch
except ImportError as error:
    print(type(error).__name__, error)
""")
    assert text.startswith("ImportError backslice.torch needs PyTorch") and "pip install torch" in text


def test_with_an_installation_that_is_not_complete() -> None:
    text = run("""
import sys, types
sys.modules["torch"] = types.ModuleType("torch")
try:
    import backslice.torch
except ImportError as error:
    print(type(error).__name__, error)
""")
    assert (
        "needs PyTorch, but the module torch has no __version__: its installation is incomplete; `pip install" in text
    )


def test_importing_backslice_does_not_import_pytorch() -> None:
    assert run("import backslice, sys; print([name for name in sys.modules if 'torch' in name])") == "[]\n"
