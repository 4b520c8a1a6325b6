"""backslice.torch inside the newest and the oldest supported PyTorch: runs the files of in_torch there."""

import json
import os
import subprocess
from pathlib import Path

import beside
import pytest
from backslice.bench.venvs import ensure
from test_verify import check as check_by_verify

FOLDER = Path(__file__).with_name("in_torch")
ENVIRONMENT = beside.environment("ml_dtypes", OMP_NUM_THREADS="2")


@pytest.mark.parametrize("venv", ["torch", "torch-oldest"])
def test_the_checks_pass_inside_pytorch(venv: str) -> None:
    python = ensure(venv)
    if python is None:
        pytest.skip(f"*** {venv} IS NOT INSTALLED: NOT ENOUGH DISK ***")
    quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:logging", "-W", "ignore", "-c", "pytest.ini", "--tb=short"]
    done = subprocess.run(
        [python, "-m", "pytest", *quiet, "."],
        capture_output=True, text=True, timeout=1800, env=ENVIRONMENT, cwd=FOLDER,
    )  # fmt: skip
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "passed" in done.stdout and "skipped" not in done.stdout


def test_verify_finds_no_deviation() -> None:
    if (python := ensure("torch")) is None:
        pytest.skip("*** torch IS NOT INSTALLED: NOT ENOUGH DISK ***")
    check_by_verify("torch", python)


AT_LEAST = {"32 slices": 5, "512 slices": 300, "single slices": 2.5}


@pytest.mark.skipif(not os.environ.get("BACKSLICE_SPEED_TESTS"), reason="make oracle-torch-speed, on a quiet machine")
def test_the_backward_pass_is_fast() -> None:
    python = ensure("torch")
    assert python is not None
    done = subprocess.run([python, "speed.py"], capture_output=True, text=True, env=ENVIRONMENT, cwd=FOLDER, check=True)
    print(done.stdout)
    found = json.loads(done.stdout.splitlines()[-1])
    assert {what: found[what] for what, least in AT_LEAST.items() if found[what] < least} == {}
    assert found["small slice, microseconds more"] <= 6
