"""Arguments that every function refuses, and the form of a refusal."""

import backslice as bs
import numpy as np
from hypothesis import strategies as st

EXTREME = st.sampled_from([-(2**63), -(2**31), -1, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 10**30])
INDICES = st.integers(-1, 6) | EXTREME


class Hostile:
    """Raises in every method of an array or an index."""

    def __getattr__(self, name):
        raise (ValueError if name.startswith(("__array", "__dlpack")) else AttributeError)(name)

    def __index__(self):
        raise ValueError("no index")

    def __array__(self, dtype=None, copy=None):
        raise ValueError("no array")


# No container here accepts any of these, whatever its state.
NO_INDEX = [object(), Hostile(), 1.5, "nonsense", "\ud800", "1:2\0", [0], np.array([[True]]), (0,) * 40, (..., ...), {}]
NO_VALUE = [
    object(),
    Hostile(),
    np.array([object()]),
    np.array([1, "a", None], object),
    np.ma.array([1, 2], mask=[True, False]),
    np.zeros(2, "M8[s]"),
    np.zeros(2, [("a", "i4"), ("b", "f8")]),
    np.zeros(2, np.complex128),
    np.zeros(2, ">i8"),
    np.zeros(2, "S3"),
    np.zeros(2, "U3"),
    "\ud800",
    [[1], [2, 3]],
]
NO_ARRAY = [*NO_VALUE, np.zeros((5, 5, 5, 5), np.int64), np.zeros((5, 0, 5, 5), np.int64)]  # too many axes
NO_INTS = [object(), Hostile(), 1.5, "1", [1.5], [[1]], np.zeros(3), [10**30], np.zeros((2, 2), int), [None, "x"], {}]


def no_values(dtype: np.dtype) -> st.SearchStrategy:
    """Return values that no container of that dtype accepts."""
    if dtype.kind == "U":  # any text is accepted, even invalid UTF-8
        return st.sampled_from([value for value in NO_VALUE if not isinstance(value, str)])
    return st.sampled_from(NO_VALUE)


def no_arrays(dtype: np.dtype) -> st.SearchStrategy:
    return no_values(dtype) | st.sampled_from(NO_ARRAY[len(NO_VALUE) :])


def refused(call) -> bool:
    """Return whether a call is refused properly: with one of our errors, which can be printed."""
    try:
        call()
    except bs.Error as error:
        assert str(error) and not isinstance(error, bs.InternalError)
        return True
    return False
