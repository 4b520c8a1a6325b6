import sys
from pathlib import Path

# These tests use modules of the package's own tests.
sys.path.insert(0, str(Path(__file__).parents[2] / "python" / "tests"))

from fixtures import folder  # noqa: F401
