"""The nearest right name, for errors about a wrong one."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ "; did you mean 'grad'?", or nothing where no name is near."""
    from difflib import get_close_matches  # `import backslice` does without

    near = get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def checked_keywords(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """A function that answers a wrong keyword with the nearest right one, as those of the extension do."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @wraps(function)
    def checked(*args: Parameters.args, **keywords: Parameters.kwargs) -> Returned:
        for keyword in keywords:
            if keyword not in names:
                raise TypeError(_unexpected(function.__name__, keyword, names))
        return function(*args, **keywords)

    return checked


def _unexpected(function: str, keyword: str, names: tuple[str, ...]) -> str:
    text = f"{function}() got an unexpected keyword argument {keyword!r}"
    if not names:
        return f"{text}; it takes none"
    *others, last = names
    listed = f"parameters are {', '.join(others)} and {last}" if others else f"parameter is {last}"
    return text + (did_you_mean(keyword, names) or f"; its {listed}")
