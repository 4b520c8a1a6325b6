"""backslice.torch inside the newest and the oldest PyTorch that it takes: runs the files of in_torch there."""

import subprocess
from pathlib import Path

import pytest
import torch_packages
from backslice.bench.venvs import ensure

FOLDER = Path(__file__).with_name("in_torch")


@pytest.mark.parametrize("venv", ["torch", "torch-oldest"])
def test_the_checks_pass_inside_pytorch(venv: str) -> None:
    python = ensure(venv)
    if python is None:
        pytest.skip(f"*** {venv} IS NOT INSTALLED: NOT ENOUGH DISK ***")
    quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:logging", "-W", "ignore", "-c", "pytest.ini", "--tb=short"]
    done = subprocess.run(
        [python, "-m", "pytest", *quiet, "."],
        capture_output=True, text=True, timeout=600, env=torch_packages.environment(), cwd=FOLDER,
    )  # fmt: skip
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "passed" in done.stdout and "skipped" not in done.stdout
