"""`backslice verify` in every framework, in its own environment."""

import re
import subprocess
from pathlib import Path

import beside
import pytest
from backslice.bench.venvs import ensure
from backslice.verify.frameworks import FRAMEWORKS

SECONDS = 12
# Known faults, which must still be found: the gradient of TensorFlow's own kernels above rank 8.
KNOWN = {"tensorflow": "a slice of a tensor of many axes, without backslice"}


@pytest.mark.parametrize("framework", sorted(set(FRAMEWORKS) - {"torch"}))
def test_only_known_faults_are_found(framework: str) -> None:
    python = ensure(framework)
    assert python is not None
    check(framework, python)


def check(framework: str, python: Path | str) -> None:
    program = f"""
from backslice.verify import verify
outcome = verify({framework!r}, seconds={SECONDS})
print(outcome.programs, "programs")
for deviation in outcome.deviations:
    print(deviation.title, ":", deviation.reason, deviation.code, sep="\\n")
"""
    lacking = () if framework != "torch" else ("ml_dtypes",)
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, env=beside.environment(*lacking))
    assert done.returncode == 0, done.stderr
    count = re.match(r"(\d+) programs\n", done.stdout)
    assert count is not None and int(count[1]) > 10, done.stdout[:2000]
    found = re.findall(r"^(.*, with(?:out)? backslice)\n:$", done.stdout, re.MULTILINE)
    known = KNOWN.get(framework)
    assert [title for title in found if title != known] == [], done.stdout[:4000]
    assert known is None or known in found
