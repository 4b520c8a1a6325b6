"""Outputs of other libraries, and results for them, through DLPack."""

import ctypes
import gc
import sys

import backslice as bs
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from dlpack_structs import Managed, Versioned
from foreign import Foreign

DY = np.array([1.0, 2.0], np.float32)


class OldForeign(Foreign):
    """Exports as before version 1, and supports item assignment like tensors."""

    def __dlpack__(self):
        return self.array.__dlpack__()

    def __setitem__(self, index, value):
        self.array[index] = value


class Bits(Foreign):
    """Memory of a dtype that NumPy does not export, exported as by torch."""

    def __dlpack__(self, **options):
        return bs.to_dlpack(self.array).__dlpack__(**options)


OPERATIONS = {
    "slice": lambda out: bs.slice(np.arange(4, dtype="f4"), ":", out=out),
    "slice_grad": lambda out: bs.slice_grad(DY, (4,), "1:3", out=out),
    "grad": lambda out: bs.Selection.from_index((4,), "1:3").grad(DY, out=out),
    "Selection.slice": lambda out: bs.Selection.from_index((4,), ":").slice(np.arange(4, dtype="f4"), out=out),
    "prepared": lambda out: bs.Selection.from_index((4,), "1:3").prepare("float32").gradient(DY, out),
    "multi_slice_grad": lambda out: bs.multi_slice_grad((4,), [("1:3", DY)], out=out),
    "strided_slice": lambda out: bs.strided_slice(np.arange(4, dtype="f4"), [0], [4], [1], out=out),
    "strided_slice_grad": lambda out: bs.strided_slice_grad([4], [1], [3], [1], DY, out=out),
    "onnx_slice": lambda out: bs.onnx_slice(np.arange(4, dtype="f4"), [0], [4], out=out),
    "onnx_slice_grad": lambda out: bs.onnx_slice_grad(DY, [4], [1], [3], out=out),
    "sparse_slice_grad": lambda out: bs.sparse_slice_grad(DY, np.array([[0], [1], [2], [3]]), [1], [[0], [1]], out=out),
    "by size": lambda out: bs.sparse_slice_grad_by_size(DY, np.array([[0], [1], [2], [3]]), [1], [2], out=out),
    "ragged": lambda out: bs.RaggedTensor(np.ones(4, "f4"), [0, 1, 3, 4]).slice_grad(np.s_[1:2], DY, out=out),
}


@pytest.mark.parametrize("kind", [Foreign, OldForeign, Bits])
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_writes_there(kind, name):
    memory = np.full(4, 9, np.float32)
    out = kind(memory)
    assert OPERATIONS[name](out) is out
    assert memory.tolist() == ([0, 1, 2, 3] if "slice" in name and "grad" not in name else [0, 1, 2, 0])


def test_containers_write_there():
    memory = np.zeros((2, 2), np.float32)
    array = bs.TensorArray(2, "float32")
    array.unstack(np.arange(4, dtype="f4").reshape(2, 2))
    out = Foreign(memory)
    assert array.stack(out=out) is out and memory.tolist() == [[0, 1], [2, 3]]
    rt = bs.RaggedTensor(DY, [0, 2])
    values = np.zeros(2, np.float32)
    bs.ragged_tensor_to_variant_gradient(bs.ragged_tensor_to_variant(rt), [[0, 2]], [2], out=Foreign(values))
    assert values.tolist() == [1, 2]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_small_floats(name):
    memory = np.ones(6, getattr(ml_dtypes, name))
    out = Bits(memory[::-2])
    bs.slice_grad(memory[:1].copy(), (3,), "1:2", out=out, accumulate=True)
    assert memory.tolist() == [1, 1, 1, 2, 1, 1]


def test_what_cannot_be_written_is_refused():
    read_only = np.zeros(4, np.float32)
    read_only.flags.writeable = False
    with pytest.raises(bs.InvalidArgumentError, match="out is a Foreign that is read-only"):
        bs.slice_grad(DY, (4,), "1:3", out=Foreign(read_only))
    with pytest.raises(bs.DTypeError, match="those of jaxlib are immutable"):
        bs.slice_grad(DY, (4,), "1:3", out=jnp.zeros(4))
    with pytest.raises(bs.InvalidArgumentError, match=r"out is on device \(10, 0\), not on the CPU"):
        bs.slice_grad(DY, (4,), "1:3", out=Foreign(np.zeros(4, np.float32), device=(10, 0)))

    class OldAndFixed(Foreign):
        def __dlpack__(self):
            return self.array.__dlpack__()

    with pytest.raises(bs.InvalidArgumentError, match="out is a OldAndFixed that is read-only"):
        bs.slice_grad(DY, (4,), "1:3", out=OldAndFixed(np.zeros(4, np.float32)))

    class Copies(Foreign):
        def __dlpack__(self, **options):
            return bs.to_dlpack(self.array).__dlpack__(**options, copy=True)

    with pytest.raises(bs.InvalidArgumentError, match="exports a copy of its memory"):
        bs.slice_grad(DY, (4,), "1:3", out=Copies(np.zeros(4, np.float32)))


def test_what_does_not_fit_is_refused():
    memory = np.zeros(4)
    with pytest.raises(bs.DTypeError, match="out has dtype float64, expected float32, that of dy"):
        bs.slice_grad(DY, (4,), "1:3", out=Foreign(memory))
    with pytest.raises(bs.InvalidArgumentError, match="shape of out was"):
        bs.slice_grad(DY, (4,), "1:3", out=Foreign(np.zeros(5, np.float32)))
    with pytest.raises(bs.InvalidArgumentError, match="out shares memory with x"):
        shared = np.zeros(4, np.float32)
        bs.slice(shared, "::-1", out=Foreign(shared))
    with pytest.raises(bs.InvalidArgumentError, match=r"Foreign\.__dlpack__ failed"):
        bs.slice_grad(DY, (4,), "1:3", out=Foreign(np.zeros(4, "M8[s]")))


def test_code_of_the_output_cannot_pull_memory_away():
    dy = np.ones(100_000, np.float32)

    class Resizes(Foreign):
        def __dlpack__(self, **options):
            dy.resize(2, refcheck=False)
            return super().__dlpack__(**options)

    with pytest.raises((bs.InvalidArgumentError, ValueError)):
        bs.slice_grad(dy, (100_000,), ":", out=Resizes(np.zeros(100_000, np.float32)))


def test_outputs_are_released():
    memory = np.zeros(4, np.float32)
    before = sys.getrefcount(memory)
    for out in (Foreign(memory), Bits(memory)):
        for _ in range(10):
            bs.slice_grad(DY, (4,), "1:3", out=out)
    del out
    gc.collect()
    assert sys.getrefcount(memory) == before


class Consumer:
    """Consume a capsule like a C library."""

    def __init__(self, capsule, kind=Managed):
        name = b"dltensor_versioned" if kind is Versioned else b"dltensor"
        api = ctypes.pythonapi
        api.PyCapsule_GetPointer.restype = ctypes.c_void_p
        self.used = b"used_" + name
        self.address = api.PyCapsule_GetPointer(ctypes.py_object(capsule), ctypes.c_char_p(name))
        self.managed = kind.from_address(self.address)
        api.PyCapsule_SetName(ctypes.py_object(capsule), ctypes.c_char_p(self.used))

    def bytes(self):
        """Return the elements in order."""
        tensor = self.managed.tensor
        size = tensor.bits // 8
        dims = tuple(tensor.shape[i] for i in range(tensor.ndim))
        return b"".join(
            ctypes.string_at(tensor.data + size * sum(i * tensor.strides[a] for a, i in enumerate(at)), size)
            for at in np.ndindex(dims)
        )

    def release(self):
        self.managed.deleter(self.address)


CODES = {
    "bool": (6, 8), "int8": (0, 8), "uint64": (1, 64), "float16": (2, 16), "float64": (2, 64), "complex64": (5, 64),
    "bfloat16": (4, 16), "float8_e3m4": (7, 8), "float8_e4m3": (8, 8), "float8_e4m3b11fnuz": (9, 8),
    "float8_e4m3fn": (10, 8), "float8_e4m3fnuz": (11, 8), "float8_e5m2": (12, 8), "float8_e5m2fnuz": (13, 8),
    "float8_e8m0fnu": (14, 8),
}  # fmt: skip


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("versioned", [False, True])
def test_exports_have_dlpacks_codes(name, versioned):
    a = np.ones((3, 4)).astype(getattr(ml_dtypes, name, name))[::-1, ::2]
    a[0, 1] = 0 if name != "float8_e8m0fnu" else 4
    capsule = bs.to_dlpack(a).__dlpack__(max_version=(1, 1) if versioned else None)
    consumer = Consumer(capsule, Versioned if versioned else Managed)
    tensor = consumer.managed.tensor
    assert (tensor.code, tensor.bits, tensor.lanes, tensor.device_type) == (*CODES[name], 1, 1)
    assert consumer.bytes() == a.tobytes()
    assert not versioned or (consumer.managed.major, consumer.managed.flags) == (1, 0)
    consumer.release()


def test_exports_keep_their_memory_until_it_is_released():
    a = np.ones(3, ml_dtypes.bfloat16)
    before = sys.getrefcount(a)
    capsule = bs.to_dlpack(a).__dlpack__()
    consumer = Consumer(capsule)
    del capsule
    assert sys.getrefcount(a) > before
    with pytest.raises(ValueError, match="resize"):
        a.resize(100)
    consumer.release()
    assert sys.getrefcount(a) == before
    bs.to_dlpack(a).__dlpack__()  # without a consumer
    bs.to_dlpack(a).__dlpack__(max_version=(1, 0))
    assert sys.getrefcount(a) == before


def test_exports_are_shared_or_copied():
    a = np.zeros(2, ml_dtypes.bfloat16)
    exported = bs.to_dlpack(a)
    assert exported.__dlpack_device__() == (1, 0)
    shared = Consumer(exported.__dlpack__(copy=False))
    copied = Consumer(exported.__dlpack__(copy=True, max_version=(1, 0)), Versioned)
    a[:] = 1
    assert shared.bytes() == a.tobytes() and copied.bytes() == bytes(4) and copied.managed.flags == 2
    shared.release(), copied.release()


def test_read_only_arrays_are_exported_as_such():
    a = np.zeros(2, ml_dtypes.bfloat16)
    a.flags.writeable = False
    consumer = Consumer(bs.to_dlpack(a).__dlpack__(max_version=(1, 0)), Versioned)
    assert consumer.managed.flags == 1
    consumer.release()
    with pytest.raises(BufferError, match="read-only"):
        bs.to_dlpack(a).__dlpack__()


def test_exports_that_dlpack_cannot_carry():
    for dtype in (ml_dtypes.int4, ml_dtypes.float4_e2m1fn, [("qint8", "i1")], "U3", object, ">f4"):
        with pytest.raises(bs.DTypeError, match=r"a has dtype .*, which DLPack has no code for; convert it first"):
            bs.to_dlpack(np.zeros(2, dtype))
    pairs = np.zeros(3, [("a", "f4"), ("b", "i1")])
    with pytest.raises(bs.InvalidArgumentError, match="stride of 5 bytes on axis 0"):
        bs.to_dlpack(pairs["a"])
    with pytest.raises(bs.DTypeError, match="a is of type list, expected a NumPy array"):
        bs.to_dlpack([1.0])
    for options in ({"stream": 1}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            bs.to_dlpack(np.zeros(2)).__dlpack__(**options)


def test_other_libraries_take_exports():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(np.from_dlpack(bs.to_dlpack(a.T)), a.T)
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn):
        there = jnp.from_dlpack(bs.to_dlpack(a.astype(dtype)))
        assert there.dtype == dtype and np.array_equal(np.asarray(there), a.astype(dtype))
    there = bs.slice(bs.to_dlpack(a.astype(ml_dtypes.bfloat16)), "1")
    assert there.tolist() == [3, 4, 5]


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.bfloat16, torch.float8_e4m3fn):
        out = torch.zeros(4).to(dtype)
        dy = bs.slice_grad(1, (2,), ":", dtype=dtype)
        assert bs.slice_grad(dy, (4,), "1:3", out=out) is out and out.float().tolist() == [0, 1, 1, 0]
        assert torch.from_dlpack(bs.to_dlpack(dy)).dtype == dtype
