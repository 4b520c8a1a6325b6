"""backslice.jax inside the real JAX: runs the files of in_jax in its environment.

The newest JAX needs a later Python than the oldest supported JAX, and a package built for that Python. `make
oracle-jax` builds one and passes its path.
"""

import json
import os
import subprocess
from pathlib import Path

import beside
import pytest
from backslice.bench.venvs import ensure

FOLDER = Path(__file__).with_name("in_jax")
OF_NEWEST = os.environ.get("BACKSLICE_FOR_NEWEST_JAX")
CHECKS = sorted(path.name for path in FOLDER.glob("check_*.py"))


def run(venv: str, environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [str(ensure(venv)), *arguments], capture_output=True, text=True, timeout=550, env=environment, cwd=FOLDER
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def check(venv: str, environment: dict[str, str], checks: str) -> None:
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore", "-c", "pytest.ini"]
    output = run(venv, environment, "-m", "pytest", *quiet, checks)
    print(output)
    assert "passed" in output and "skipped" not in output


@pytest.mark.parametrize("checks", CHECKS)
def test_the_checks_pass_inside_jax(checks: str) -> None:
    check("jax", beside.environment(), checks)


@pytest.mark.skipif(OF_NEWEST is None, reason="make oracle-jax runs it")
@pytest.mark.parametrize("checks", CHECKS)
def test_the_checks_pass_inside_the_newest_jax(checks: str) -> None:
    assert OF_NEWEST is not None
    check("jax-newest", os.environ | beside.QUIET | {"PYTHONPATH": OF_NEWEST}, checks)


@pytest.mark.skipif(not os.environ.get("BACKSLICE_SPEED_TESTS"), reason="make oracle-jax-speed, on a quiet machine")
def test_the_gradient_is_fast() -> None:
    output = run("jax", beside.environment(), "speed.py")
    print(output)
    found = json.loads(output.splitlines()[-1])
    assert {what: ratio for what, ratio in found.items() if not is_fast(what, ratio)} == {}


def is_fast(what: str, ratio: float) -> bool:
    """Check the speed that the manual promises: for large arrays, three times JAX."""
    if "compiling" in what:
        return ratio <= 2
    if "microseconds" in what:
        return ratio <= 5
    if what.startswith("512 slices"):
        return ratio >= 60
    return ratio >= (0.97 if "(1024, 1024)" in what else 3)
