"""Every dtype that backslice moves, with arrays of each."""

import ml_dtypes
import numpy as np

NATIVE = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
FLOAT8 = [
    "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
    "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
]  # fmt: skip
SMALL = ["int2", "uint2", "int4", "uint4", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"]
ML = ["bfloat16", *FLOAT8, *SMALL, *(n for n in ("int1", "uint1") if hasattr(ml_dtypes, n))]
QUANTISED = {"qint8": "i1", "quint8": "u1", "qint16": "i2", "quint16": "u2", "qint32": "i4"}
STRINGS = ["S5", "U3"]

ALL = {name: np.dtype(name) for name in NATIVE}
ALL |= {name: np.dtype(getattr(ml_dtypes, name)) for name in ML}
ALL |= {name: np.dtype([(name, stored)]) for name, stored in QUANTISED.items()}
ALL |= {name: np.dtype(name) for name in STRINGS}
ALL |= {"str objects": np.dtype(object), "bytes objects": np.dtype(object), "big-endian": np.dtype(">f4")}

ADDABLE = [n for n in NATIVE if n != "bool"] + ML
BITS = {"int1": 1, "uint1": 1, "int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4,
        "float6_e2m3fn": 6, "float6_e3m2fn": 6}  # fmt: skip


def sample(name: str, shape, seed: int = 0) -> np.ndarray:
    """Return random elements of the dtype, none of them zero."""
    random = np.random.default_rng(seed)
    dtype = ALL[name]
    size = int(np.prod(shape))
    if dtype.kind == "O":
        kind = str if name.startswith("str") else bytes
        items = [("a" * k) if kind is str else b"b" * k for k in random.integers(1, 40, size)]
        return np.array([*items, None], object)[:-1].reshape(shape)
    if dtype.kind in "SU":
        return np.array(["xyz"[: k % 3 + 1] for k in random.integers(0, 9, size)] or [""], dtype)[:size].reshape(shape)
    if name == "bool":
        return np.ones(shape, bool)
    top = 2 ** BITS.get(name, 8)
    raw = random.integers(1, top, size * dtype.itemsize, dtype=np.uint8) if top > 2 else np.ones(size, np.uint8)
    return raw.view(dtype)[:size].reshape(shape)


def zero(name: str):
    if name == "str objects":
        return ""
    if name == "bytes objects":
        return b""
    return np.zeros((), ALL[name])


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Check that dtype, shape and bits are equal."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype == object:
        return [(type(v), v) for v in a.flat] == [(type(v), v) for v in b.flat]
    return a.tobytes() == b.tobytes()
