"""The nearest right name, for errors about a wrong one."""

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import CO_VARKEYWORDS, unwrap
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'grad'?", or "" if no name is near."""
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
    names, called = _keywords_of(function), function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def checked(*args: Parameters.args, **keywords: Parameters.kwargs) -> Returned:
        _check(keywords, called, names)
        return function(*args, **keywords)

    return checked


def bind_call(order: FunctionType, name: str, /, *values: Any, **keywords: Any) -> Any:
    """Return ``order(*values, **keywords)``: the arguments of a function of the extension, in order.

    The extension calls it for what it does not bind itself: wrong calls, and parameters that collect arguments.
    """
    code, names, defaults = order.__code__, _keywords_of(order), order.__defaults__ or ()
    if not code.co_flags & CO_VARKEYWORDS:
        _check(keywords, name, names)
    positional = names[: code.co_argcount]
    optional = {n for n, default in zip(reversed(positional), reversed(defaults), strict=False) if default is not ...}
    missing = [repr(n) for n in positional[len(values) :] if n not in keywords and n not in optional]
    if missing and keywords.keys().isdisjoint(positional[: len(values)]):
        plural = "s" * (len(missing) > 1)
        raise TypeError(f"{name}() missing {len(missing)} required positional argument{plural}: {_listed(missing)}")
    order.__qualname__ = name
    try:
        return order(*values, **keywords)
    except TypeError as error:
        others = names[code.co_argcount :] if len(values) > code.co_argcount else ()
        raise TypeError(f"{error}; pass {_listed(others)} by keyword" if others else str(error)) from None


def _keywords_of(function: Callable[..., Any]) -> tuple[str, ...]:
    code = unwrap(function).__code__
    names: tuple[str, ...] = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    return names[1:] if names[:1] == ("self",) else names


def _check(keywords: Iterable[str], function: str, names: tuple[str, ...]) -> None:
    for keyword in keywords:
        if keyword in names:
            continue
        text = f"{function}() got an unexpected keyword argument {_cut(repr(keyword))}"
        if not names:
            raise TypeError(f"{text}; it takes none")
        listed = f"; its {'parameters are' if len(names) > 1 else 'parameter is'} {_listed(names)}"
        raise TypeError(text + (did_you_mean(keyword, names) or listed))


def _cut(text: str, most: int = 500) -> str:
    return text if len(text) <= most else f"{text[:most]} ..."


def _listed(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
