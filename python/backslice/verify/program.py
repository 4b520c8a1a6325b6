"""One program: code that computes `found` in a framework and `expected` with backslice."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    title: str
    code: str

    def deviation(self) -> str | None:
        """Run the program, and return how its result differs from the expected one.

        A framework may say that it lacks something: that is not wrong.
        """
        names: dict[str, Any] = {}
        try:
            exec(self.code, names)
        except Exception as error:
            if type(error).__name__ in ("NotImplementedError", "UnimplementedError"):
                return None
            return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
        return difference(np.asarray(names["found"]), np.asarray(names["expected"]))


def program(title: str, *lines: str) -> Program:
    return Program(title, "\n".join(line for line in lines if line) + "\n")


def difference(found: Any, expected: Any) -> str | None:
    if found.shape != expected.shape:
        return f"the result has shape {found.shape}, expected {expected.shape}"
    wrong = np.flatnonzero((found != expected).ravel())
    if wrong.size == 0:
        return None
    first = np.unravel_index(wrong[0], found.shape)
    place = [int(i) for i in first]
    return f"{wrong.size} of {found.size} elements are wrong; {place} is {found[first]}, expected {expected[first]}"
