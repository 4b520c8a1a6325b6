"""backslice.jax inside the real JAX: runs the files of in_jax in its environment."""

import subprocess
from pathlib import Path

import beside
import pytest
from backslice.bench.venvs import ensure

FOLDER = Path(__file__).with_name("in_jax")


def run(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [str(ensure("jax")), *arguments],
        capture_output=True, text=True, timeout=550, env=beside.environment(**environment), cwd=FOLDER,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("checks", sorted(path.name for path in FOLDER.glob("check_*.py")))
def test_the_checks_pass_inside_jax(checks: str) -> None:
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore", "-c", "pytest.ini"]
    output = run("-m", "pytest", *quiet, checks)
    print(output)
    assert "passed" in output and "skipped" not in output
