"""backslice inside the real ONNX Runtime: runs the files of in_onnxruntime in the environments of two versions."""

import subprocess
from pathlib import Path

import beside
import pytest
from backslice.bench.venvs import ensure

FOLDER = Path(__file__).with_name("in_onnxruntime")


@pytest.mark.parametrize("venv", ["onnxruntime", "onnxruntime-oldest"])
def test_the_checks_pass_inside_onnx_runtime(venv: str) -> None:
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore", "-c", "pytest.ini"]
    done = subprocess.run(
        [str(ensure(venv)), "-m", "pytest", *quiet, "."],
        capture_output=True, text=True, timeout=300, env=beside.environment(), cwd=FOLDER,
    )  # fmt: skip
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "passed" in done.stdout and "skipped" not in done.stdout
