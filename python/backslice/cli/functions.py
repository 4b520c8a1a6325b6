"""Functions of the user's, named as module:function. Whatever they do, short of ending the process, is one line."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import Failure
from .leaving import Ended


@cache
def load(where: str) -> Callable[..., Any]:
    """module:function, from the current folder or anything installed."""
    module, _, name = where.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    with _told(f"{where}: importing {module!r}"):
        try:
            found = importlib.import_module(module)
        except ImportError as error:
            raise Failure(f"{where}: cannot import {module!r}: {error}") from None
    function = getattr(found, name, None)
    if function is None:
        raise Failure(f"{where}: the module {module!r} has no function {name!r}")
    if not callable(function):
        raise Failure(f"{where} is not a function")
    return function  # type: ignore[no-any-return]


def call(where: str, *arguments: Any) -> NDArray[Any]:
    """The array of numbers that a function returns."""
    function = load(where)
    with _told(where):
        array = np.asarray(function(*arguments))
    check_numbers(array, where)
    return array


def check_numbers(array: NDArray[Any], what: str) -> None:
    if array.dtype.names or array.dtype.kind in "SUOMm":
        raise Failure(f"{what} has dtype {array.dtype}: only gradients of numbers can be checked")


@contextmanager
def _told(what: str) -> Iterator[None]:
    """sys.exit() among the errors: it would end the check without a result, and with a code that means something."""
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
