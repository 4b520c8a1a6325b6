"""This package inside a peer's environment, without the rest of the environment that it is installed in."""

import importlib.util
import sys
from pathlib import Path


def load_package():
    folder = Path(__file__).parents[2]
    if importlib.util.find_spec("ml_dtypes") is None:  # needed by the package, and missing in some frameworks
        _load("ml_dtypes", folder.parent / "ml_dtypes")
    _load("backslice", folder)


def _load(name, folder):
    spec = importlib.util.spec_from_file_location(name, folder / "__init__.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
