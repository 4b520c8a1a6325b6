"""Tests an adapter's errors for misspelt keywords, inside its framework."""

import importlib
import inspect
import pickle
import types
from collections.abc import Callable, Iterator
from typing import Any


def callables_of(module: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield everything public that takes arguments, with its name in errors."""
    members = vars(importlib.import_module(module))
    for name in members["__all__"]:
        value = members[name]
        if isinstance(value, types.FunctionType):
            yield name, value
        elif isinstance(value, type) and not issubclass(value, Exception):
            yield name, value.__init__  # type: ignore[misc]
            methods = (method for method in vars(value).values() if isinstance(method, types.FunctionType))
            yield from ((m.__qualname__, m) for m in methods if not m.__name__.startswith("_"))


def answer(function: Callable[..., Any], **keywords: Any) -> str:
    try:
        function(**keywords)
    except TypeError as error:
        return str(error)
    return "no error"


def check(name: str, function: Callable[..., Any]) -> None:
    parameters = [p for p in inspect.signature(function).parameters if p != "self"]
    for parameter in parameters:
        wrong = parameter + parameter[-1]
        head = f"{name}() got an unexpected keyword argument {wrong!r}"
        near = answer(function, **{wrong: 1})
        assert near.removeprefix(head) in (f"; did you mean {parameter!r}?", f"; its parameter is {parameter}"), near
    far = answer(function, qqqq=1)
    assert far.startswith(f"{name}() got an unexpected keyword argument 'qqqq'; it"), far
    assert all(parameter in far for parameter in parameters), far


def check_module(module: str) -> set[str]:
    """Test everything public of a module, and return the faults."""
    found = dict(callables_of(module))
    for name, function in found.items():
        check(name, function)
        if isinstance(function, types.FunctionType) and function.__name__ == name:
            assert function.__module__ == module and pickle.loads(pickle.dumps(function)) is function
            assert inspect.unwrap(function) is not function and inspect.getdoc(function)
    return set(found)
