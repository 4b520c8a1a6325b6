"""Arrays of libraries that support CUDA devices, for tests that compare with the CPU bit for bit."""

import backslice as bs
import ml_dtypes
import numpy as np
import pytest

needs_gpu = pytest.mark.skipif(not bs.cuda.is_available(), reason=f"no CUDA device: {bs.cuda.unavailable_reason()}")

NATIVE = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
OF_TORCH = [
    "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
]  # fmt: skip
KINDS = ["torch", "cupy", "interface"]
CASES = [(kind, dtype) for kind in KINDS for dtype in [*NATIVE, *(OF_TORCH if kind == "torch" else [])]]
ADDABLE = [(kind, dtype) for kind, dtype in CASES if dtype not in ("bool", "float8_e8m0fnu")]


class Interface:
    """An array of any library, by its __cuda_array_interface__ alone."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name) if name in OF_TORCH else name)


def library(kind):
    module = pytest.importorskip("torch" if kind == "torch" else "cupy")
    if kind == "torch" and not module.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return module


def on_gpu(kind, array):
    """Copy an array to the device, of any dtype, with contiguous strides."""
    module, array = library(kind), np.array(array, order="C")  # a copy, since PyTorch warns of read-only arrays
    if kind != "torch":
        made = module.asarray(array)
        return Interface(made) if kind == "interface" else made
    if array.dtype.isbuiltin == 1:
        return module.asarray(array).cuda()
    stored = {1: "uint8", 2: "int16"}[array.dtype.itemsize]
    made = module.asarray(array.view(stored)).cuda().view(getattr(module, array.dtype.name))
    try:
        made.__dlpack__()
    except BufferError as error:
        pytest.skip(f"this PyTorch does not export {array.dtype}: {error}")
    return made


def to_numpy(array):
    if isinstance(array, np.ndarray):
        return array
    if isinstance(array, Interface):
        return to_numpy(array.array)
    if isinstance(array, bs.DeviceArray):
        return array.to_numpy()
    if hasattr(array, "get"):
        return array.get()
    name = str(array.dtype).removeprefix("torch.")
    if name not in OF_TORCH:
        return array.cpu().numpy()
    dtype = dtype_of(name)
    module = library("torch")
    return array.view(module.uint8 if dtype.itemsize == 1 else module.int16).cpu().numpy().view(dtype)


def is_of(kind, array):
    """Return whether an array is what results for that kind are."""
    if kind == "interface":
        return isinstance(array, bs.DeviceArray)
    return type(array).__module__.partition(".")[0] == kind


def assert_same(kind, made, expected):
    """Check that a result is of the caller's kind, has the dtype and shape, and is equal bit for bit."""
    assert is_of(kind, made), type(made)
    there = to_numpy(made)
    assert (there.dtype, there.shape) == (expected.dtype, expected.shape)
    assert there.tobytes() == expected.tobytes()


def numbers(random, name, shape):
    """Return random elements without NaNs: in a sum of two NaNs, either processor may keep either."""
    if name == "bool":
        return random.integers(0, 2, shape).astype(bool)
    low = 0 if name.startswith(("uint", "float8_e8")) else -9
    return random.integers(low, 9, shape).astype("float32").astype(dtype_of(name))
