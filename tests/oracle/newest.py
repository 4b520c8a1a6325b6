"""Runs `backslice verify` with the wheel in the newest release of each framework on PyPI.

Each framework is a stage with its result. A failure does not fail this program: it announces work to do.
"""

import re
import subprocess
import sys
from pathlib import Path

from backslice.bench.venvs import REQUIREMENTS, ensure, find

PACKAGES = {"jax": "jax", "onnxruntime": "onnxruntime", "tensorflow": "tensorflow-cpu", "torch": "torch"}
STAGE = Path(__file__).parents[2] / "tools" / "stage.sh"


def output_of(*command: object) -> str:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True).stdout.strip()


def newest(package: str) -> str | None:
    """Return the newest release for this Python; None without an answer from the index."""
    found = re.match(rf"{package} \((\S+)\)", output_of(sys.executable, "-m", "pip", "index", "versions", package))
    return found and found[1]


def tested(framework: str) -> str | None:
    """Return the version in the environment that all other tests use."""
    program = f"import importlib.metadata as m; print(m.version({PACKAGES[framework]!r}))"
    python = find(framework)
    return None if python is None else output_of(python, "-c", program)


def verify(framework: str) -> None:
    package = PACKAGES[framework]
    version = newest(package)
    if version is None or version == tested(framework):
        print(f"{package}: {'no answer from the index' if version is None else f'{version} is what the tests use'}")
        return
    name = f"{framework}-{version}"
    others = [text for text in REQUIREMENTS[framework] if not text.startswith(package)]
    REQUIREMENTS[name] = [f"{package}=={version}", *others]
    if (python := ensure(name)) is not None:
        subprocess.run([STAGE, f"newest: {package} {version}", sys.executable, __file__, framework, python])


if __name__ == "__main__":
    if len(sys.argv) == 3:
        import test_verify

        test_verify.check(sys.argv[1], sys.argv[2])
    else:
        for framework in PACKAGES:
            verify(framework)
