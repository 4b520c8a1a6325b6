"""DLPack exporters with wrong descriptions of their memory: refused with a reason, before anything is read."""

import contextlib
import ctypes
import math

import backslice as bs
import numpy as np
import pytest
from dlpack_structs import Deleter, Managed, Tensor, Versioned

INT, UINT, FLOAT, OPAQUE, BFLOAT, COMPLEX, BOOL, FLOAT8 = 0, 1, 2, 3, 4, 5, 6, 7
MEMORY = (ctypes.c_double * 16)(*range(16))
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Liar:
    """Exports 16 doubles, with any field of the description changed."""

    def __init__(self, shape=(16,), strides=None, version=None, name=None, device=(1, 0), **fields):
        self.deleted = 0
        self.device = device
        self.lists = [None if v is None else (ctypes.c_int64 * max(len(v), 1))(*v) for v in (shape, strides)]
        given = {"data": ctypes.addressof(MEMORY), "device_type": 1, "ndim": len(shape or ()), "code": FLOAT}
        self.tensor = Tensor(**(given | {"bits": 64, "lanes": 1} | fields))
        for field, values in zip(("shape", "strides"), self.lists, strict=True):
            if values is not None:
                setattr(self.tensor, field, ctypes.cast(values, ctypes.POINTER(ctypes.c_int64)))
        self.deleter = Deleter(self.delete)
        if version is None:
            self.managed = Managed(self.tensor, None, self.deleter)
            self.name = name or b"dltensor"
        else:
            self.managed = Versioned(version, 0, None, self.deleter, 0, self.tensor)
            self.name = name or b"dltensor_versioned"
        self.capsule = new_capsule(ctypes.addressof(self.managed), self.name, None)

    def delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.capsule


@pytest.mark.parametrize("version", [None, 1])
def test_the_truth_is_taken_and_given_back(version):
    exporter = Liar((2, 4), (-8, 2), version=version, byte_offset=64)
    assert bs.slice(exporter, ":, 1:").tolist() == [[10, 12, 14], [2, 4, 6]]
    assert exporter.deleted == 1
    with pytest.raises(bs.InvalidArgumentError, match="x: __dlpack__ returned a capsule that has been used already"):
        bs.slice(exporter, ":")
    assert exporter.deleted == 1


LIES = {
    "ndim < 0": (dict(ndim=-1), "has -1 axes"),
    "ndim > 32": (dict(shape=(1,) * 33), "has 33 axes; 0 to 32"),
    "ndim huge": (dict(ndim=2**31 - 1), "has 2147483647 axes"),
    "no shape": (dict(shape=None, ndim=1), "has no shape"),
    "no memory": (dict(data=None), "has elements but no memory"),
    "shape < 0": (dict(shape=(-1,)), "dimension -1"),
    "shape that overflows": (dict(shape=(2**62, 2**62)), "more than 2"),
    "bytes that overflow": (dict(shape=(2**62,)), "int64|too|bytes"),
    "stride * size overflows": (dict(shape=(2,), strides=(2**62,)), r"strides\[0\] = 4611686018427387904"),
    "stride * size wraps to nothing": (dict(shape=(2,), strides=(2**61,)), r"strides\[0\]"),
    "stride past all memory": (dict(shape=(2,), strides=(2**62,), code=INT, bits=8), "no memory is large enough"),
    "backwards past all memory": (dict(shape=(2,), strides=(-(2**63),), code=INT, bits=8), "no memory"),
    "many strides past all memory": (dict(shape=(3, 3), strides=(2**54, 2**54), code=INT, bits=8), r"strides\[1\]"),
    "offset": (dict(byte_offset=2**64 - 1), "byte_offset 18446744073709551615"),
    "device": (dict(device_type=2), "device of type 2"),
    "device < 0": (dict(device_type=-1), "device of type -1"),
    "version": (dict(version=2), "version 2, expected 1"),
    "version 0": (dict(version=0), "version 0, expected 1"),
    "name": (dict(name=b"tensor"), 'a capsule named "tensor", expected "dltensor"'),
}


@pytest.mark.parametrize(("lie", "message"), LIES.values(), ids=LIES)
def test_lies_are_refused(lie, message):
    exporter = Liar(**lie)
    for read in (lambda: bs.slice(exporter, ":"), lambda: bs.multi_slice_grad((16,), [(":", exporter)])):
        with pytest.raises((bs.InvalidArgumentError, bs.ResourceExhaustedError), match=message):
            read()
    assert exporter.deleted == 0  # the exporter still owns the capsule


@pytest.mark.parametrize(
    ("code", "bits", "lanes"),
    [
        (BOOL, 16, 1),
        (BOOL, 1, 1),
        (INT, 4, 1),
        (INT, 128, 1),
        (INT, 7, 1),
        (FLOAT, 8, 1),
        (FLOAT, 80, 1),
        (FLOAT, 64, 2),
        (FLOAT, 64, 0),
        (FLOAT8, 16, 1),
        (BFLOAT, 32, 1),
        (OPAQUE, 64, 1),
        (250, 8, 1),
        (FLOAT, 0, 1),
    ],
)
def test_element_types_that_numpy_does_not_have(code, bits, lanes):
    exporter = Liar(code=code, bits=bits, lanes=lanes)
    with pytest.raises(bs.DTypeError, match=rf"x has a DLPack type \(code {code}, {bits} bits, {lanes} lanes\)"):
        bs.slice(exporter, ":")


def test_strides_of_axes_that_are_not_walked_do_not_matter():
    assert bs.slice(Liar((1, 3), (2**62, 1)), ":").tolist() == [[0, 1, 2]]
    assert bs.slice(Liar((0, 3), (2**62, 2**62), data=None), ":").shape == (0, 3)


@pytest.mark.parametrize("device", [None, (), (1,), (1, 0, 0), "cpu", ("1", 0), (2**70,), (1.0, 0), [1, 0]], ids=repr)
def test_devices_that_are_no_devices(device):
    assert bs.slice(Liar(device=device), "3").tolist() == 3  # the tensor gives the device


@pytest.mark.parametrize("capsule", [None, 1, np.ones(3), "dltensor", b"", Liar()], ids=lambda v: type(v).__name__)
def test_what_is_no_capsule(capsule):
    exporter = Liar()
    exporter.capsule = capsule
    with pytest.raises(bs.InvalidArgumentError, match=r"x: __dlpack__ returned a .*, expected a capsule"):
        bs.slice(exporter, ":")


def test_read_only_memory():
    x = np.arange(3.0)
    x.flags.writeable = False

    class Exporter:
        __dlpack__ = staticmethod(x.__dlpack__)
        __dlpack_device__ = staticmethod(x.__dlpack_device__)

    assert bs.slice(Exporter(), "::-1").tolist() == [2, 1, 0]


class Named:
    """A dtype that only has a name."""

    def __init__(self, name):
        self.name = name


@pytest.mark.parametrize("name", ["string", "variant", "resource", "qint8", "int4", "key<fry>", "\ud800"])
def test_elements_that_dlpack_does_not_carry_are_never_asked_for(name):
    class Tensor:
        dtype = Named(name)

        def __dlpack_device__(self):
            raise AssertionError

        def __dlpack__(self):
            raise AssertionError

        def __array__(self, dtype=None, copy=None):
            return np.array(["a", "b"], object)

    assert bs.slice(Tensor(), "::-1").tolist() == ["b", "a"]


@pytest.mark.parametrize("name", ["float64", None, 3])
def test_elements_that_dlpack_carries_are_not_copied(name):
    exporter = Liar()
    exporter.dtype = Named(name)
    exporter.__array__ = None
    assert bs.slice(exporter, "5") == 5 and exporter.deleted == 1


def test_random_descriptions_are_read_or_refused():
    random = np.random.default_rng(0)
    extremes = [0, 1, 2, 3, -1, 2**31, 2**62, -(2**63), 2**63 - 1]
    for _ in range(3000):
        rank = int(random.integers(0, 4))
        shape, strides = ([int(random.choice(extremes)) for _ in range(rank)] for _ in range(2))
        reach = sum((n - 1) * abs(s) for n, s in zip(shape, strides, strict=True))
        if min(shape, default=1) < 1 or (reach < 4 and math.prod(shape) < 2**20):  # else it may be true
            fields = dict(byte_offset=64, code=int(random.integers(0, 8)), bits=int(random.choice([8, 16, 32, 64])))
            with contextlib.suppress(bs.InvalidArgumentError, bs.DTypeError, bs.ResourceExhaustedError):
                bs.slice(Liar(tuple(shape), tuple(strides), **fields), "...")
