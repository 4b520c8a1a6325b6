"""The command line, as a user runs it."""

import os
import subprocess
import sys

import backslice as bs


def backslice(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "backslice.cli", *args]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)


def test_demo_shows_and_checks_every_dialect():
    run = backslice("demo")
    assert run.returncode == 0, run.stderr
    for dialect in ("NumPy", "TensorFlow", "ONNX"):
        assert dialect in run.stdout
    assert run.stdout.count(": equal") == 3
    assert "All gradients agree with brute force." in run.stdout


def test_demo_fits_80_columns():
    lines = backslice("demo", COLUMNS="80").stdout.splitlines()
    assert max(map(len, lines)) <= 80


def test_demo_notices_a_wrong_gradient(monkeypatch):
    import io

    from backslice import demo
    from rich.console import Console

    monkeypatch.setattr(bs, "slice_grad", lambda dy, shape, index: dy.sum() * demo.np.ones(shape))
    output = io.StringIO()
    assert not demo.run(Console(file=output))
    assert "DIFFERENT" in output.getvalue()


def test_version_and_help():
    assert backslice("--version").stdout.strip() == bs.__version__
    assert "demo" in backslice("--help").stdout


def test_unknown_commands_are_usage_errors():
    run = backslice("frobnicate")
    assert run.returncode == 2 and "frobnicate" in run.stderr and "Traceback" not in run.stderr
