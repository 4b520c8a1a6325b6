"""The nearest right name, for errors about a wrong one."""

import sys
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import unwrap
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ "; did you mean 'grad'?", or nothing where no name is near."""
    from difflib import get_close_matches  # `import backslice` does without

    near = get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def check_keywords(module: str) -> None:
    """Have everything that a module's ``__all__`` lists answer a wrong keyword as `checked_keywords` does.

    It is called where a module ends: what calls the functions from the files that define them pays nothing for it.
    """
    members = vars(sys.modules[module])
    for name in members["__all__"]:
        value = members[name]
        if isinstance(value, type):
            _check_methods(value)
        elif isinstance(value, FunctionType):
            members[name] = checked_keywords(value)
            members[name].__module__ = module  # where pickle finds it


def _check_methods(cls: type) -> None:
    for name, value in list(vars(cls).items()):
        if isinstance(value, FunctionType) and (name == "__init__" or not name.startswith("_")):
            setattr(cls, name, checked_keywords(value))


def checked_keywords(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """A function that answers a wrong keyword with the nearest right one, as those of the extension do."""
    names = _keywords_of(function)

    @wraps(function)
    def checked(*args: Parameters.args, **keywords: Parameters.kwargs) -> Returned:
        for keyword in keywords:
            if keyword not in names:
                raise TypeError(_unexpected(function.__qualname__.removesuffix(".__init__"), keyword, names))
        return function(*args, **keywords)

    return checked


def _keywords_of(function: Callable[..., Any]) -> tuple[str, ...]:
    code = unwrap(function).__code__
    names: tuple[str, ...] = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    return names[1:] if names[:1] == ("self",) else names


def _unexpected(function: str, keyword: str, names: tuple[str, ...]) -> str:
    text = f"{function}() got an unexpected keyword argument {keyword!r}"
    if not names:
        return f"{text}; it takes none"
    *others, last = names
    listed = f"parameters are {', '.join(others)} and {last}" if others else f"parameter is {last}"
    return text + (did_you_mean(keyword, names) or f"; its {listed}")
