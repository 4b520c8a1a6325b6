"""Values for containers: of dtypes with different kinds of addition, or none, and in different kinds of memory."""

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)
FIXED_WIDTH = [np.dtype(t) for t in ("int64", "bool", "float16", "complex64", ml_dtypes.bfloat16, "U2")]
ALL = [*FIXED_WIDTH, np.dtype(object)]


def is_addable(dtype: np.dtype) -> bool:
    return dtype.kind in "iufc" or dtype == ml_dtypes.bfloat16


def of_dtype(numbers: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return as many different elements as the dtype has, small enough to be added exactly."""
    if dtype.kind == "b":
        return numbers % 2 == 0
    if dtype.kind == "O":
        words = np.empty(numbers.shape, object)
        words[...] = np.vectorize(lambda n: "word " * abs(n) + str(n), otypes=[object])(numbers) if numbers.size else ""
        return words
    return numbers.astype(dtype)


def zeros(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.full(shape, "", object) if dtype.kind == "O" else np.zeros(shape, dtype)


@st.composite
def laid_out(draw, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    numbers = np.array(draw(st.lists(st.integers(-9, 9), min_size=6, max_size=6)))
    values = of_dtype(numbers, dtype)
    dense = np.resize(values, shape) if 0 not in shape else zeros(shape, dtype)
    kind = draw(st.sampled_from(["dense", "backwards", "gaps", "transposed", "repeated", "read-only"]))
    if kind == "backwards":
        backwards = (slice(None, None, -1),) * dense.ndim + (...,)  # with ... it stays an array, even without axes
        return dense[backwards].copy()[backwards]
    if kind == "gaps":
        spread = np.resize(of_dtype(np.array([99]), dtype), (*shape, 2))
        spread[..., 0] = dense
        return spread[..., 0]
    if kind == "transposed":
        return dense.T.copy().T
    if kind == "repeated":
        return np.broadcast_to(values[0:1].reshape(()), shape)
    dense.flags.writeable = kind != "read-only"
    return dense
