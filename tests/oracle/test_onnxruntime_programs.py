"""Programs that use backslice in ONNX Runtime's environments: the oldest and the newest that it runs in."""

import os
import subprocess
from pathlib import Path

import beside
import pytest
from backslice.bench.venvs import ensure

PROGRAMS = Path(__file__).with_name("onnxruntime_programs")


@pytest.mark.parametrize("venv", ["onnxruntime", "onnxruntime-oldest"])
@pytest.mark.parametrize("program", sorted(path.name for path in PROGRAMS.glob("check_*.py")))
def test_program(program: str, venv: str) -> None:
    command = [str(ensure(venv)), "-m", "pytest", "-q", "-p", "no:cacheprovider", str(PROGRAMS / program)]
    environment = os.environ | {"PYTHONPATH": beside.folder()}
    run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, cwd=PROGRAMS)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
