"""User functions, named as file.py:function or module:function. Any error in them is reported in one line."""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..suggestions import did_you_mean
from . import Failure, Usage, quoted
from .leaving import Ended


@cache
def load(where: str) -> Callable[..., Any]:
    """Return the function from a file, from a module in the current folder, or from an installed module."""
    module, _, name = where.rpartition(":")
    if not module or not name:
        raise Usage(f"{quoted(where)} names no function: write file.py:function or module:function")
    found = _load_file(Path(module), where) if module.endswith(".py") else _load_module(module, where)
    function = getattr(found, name, None)
    if function is None:
        nearest = did_you_mean(name, (known for known, value in vars(found).items() if callable(value)))
        raise Failure(f"{where}: {module} has no function {name!r}{nearest}")
    if not callable(function):
        raise Failure(f"{where} is not a function, but {quoted(function)}")
    return function  # type: ignore[no-any-return]


def _load_module(name: str, where: str) -> ModuleType:
    _import_from("")
    with _described_errors(f"{where}: importing {name!r}"):
        try:
            return importlib.import_module(name)
        except ImportError as error:
            missing = isinstance(error, ModuleNotFoundError) and error.name == name
            nearest = did_you_mean(name, (path.stem for path in Path().glob("*.py"))) if missing else ""
            raise Failure(f"{where}: cannot import {name!r}: {error}{nearest}") from None


def _load_file(path: Path, where: str) -> ModuleType:
    if not path.is_file():
        nearest = did_you_mean(path.name, (other.name for other in path.parent.glob("*.py")))
        raise Failure(f"{where}: the file {path} does not exist{nearest}")
    _import_from(str(path.resolve().parent))  # the file's own imports are in its folder
    with _described_errors(f"{where}: running {path}"):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)  # as pickle and dataclasses expect
        spec.loader.exec_module(module)
        return module


def _import_from(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def call(where: str, *arguments: Any) -> NDArray[Any]:
    """Call a function and return its result as an array of numbers."""
    function = load(where)
    with _described_errors(where):
        array = np.asarray(function(*arguments))
    check_numbers(array, where)
    return array


def check_numbers(array: NDArray[Any], what: str) -> None:
    if array.dtype.names or array.dtype.kind in "SUOMm":
        raise Failure(f"{what} has dtype {array.dtype}: only gradients of numbers can be checked")


@contextmanager
def _described_errors(what: str) -> Iterator[None]:
    """Treat sys.exit() as an error: it would end the check without a result, and with a misleading exit code."""
    try:
        yield
    except (KeyboardInterrupt, Ended, Failure):
        raise
    except BaseException as error:
        raise Failure(f"{what} raised {type(error).__name__}{_text(error)}") from None


def _text(error: BaseException) -> str:
    try:
        return f": {error}" if str(error) else ""
    except Exception:
        return ", whose message cannot be shown"
