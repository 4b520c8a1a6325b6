"""Refusals of containers for arrays on CUDA devices. No GPU is needed: stand-ins pretend to be on one."""

import ctypes
import sys
import types

import backslice as bs
import numpy as np
import pytest
from backslice.devices import cuda_interface, cuda_place, library_of
from cuda_libraries import Interface
from test_dlpack_lies import MEMORY, Liar


def interface_of(typestr="<f8", shape=(2,), **more):
    """An array by __cuda_array_interface__, in the CPU's memory."""
    described = {"shape": shape, "typestr": typestr, "data": (ctypes.addressof(MEMORY), False), "version": 3, **more}
    return type("Said", (), {"__cuda_array_interface__": described})()


def exported(shape=(2,), ordinal=0, **fields):
    """The same by DLPack."""
    return Liar(shape, version=1, device=(2, ordinal), device_type=2, device_id=ordinal, **fields)


ROWS, ONES = np.array([[0], [1]]), np.ones(2)

CALLS = {
    "sparse_slice": lambda a: bs.sparse_slice(ROWS, a, [2], [0], [1]),
    "sparse_slice by columns": lambda a: bs.sparse_slice((a,), ONES, [2], [0], [1]),
    "sparse_slice_grad": lambda a: bs.sparse_slice_grad(a, ROWS, [0], ROWS),
    "sparse_slice_grad any": lambda a: bs.sparse_slice_grad(a, ROWS, [0], ROWS, order="any"),
    "sparse_slice_grad out": lambda a: bs.sparse_slice_grad(ONES, ROWS, [0], ROWS, out=a),
    "sparse_slice_grad_by_size": lambda a: bs.sparse_slice_grad_by_size(a, ROWS, [0], [2]),
    "RaggedTensor": lambda a: bs.RaggedTensor(a, [0, 1, 2]),
    "RaggedTensor splits": lambda a: bs.RaggedTensor(ONES, [a]),
    "RaggedTensor.slice_grad": lambda a: bs.RaggedTensor(ONES, [0, 1, 2]).slice_grad(":", a),
    "RaggedTensor.slice_grad out": lambda a: bs.RaggedTensor(ONES, [0, 1, 2]).slice_grad(":", ONES, out=a),
    "VariantArray": lambda a: bs.ragged_tensor_from_variant(bs.VariantArray([a]), 0, 1),
    "to_variant": lambda a: bs.ragged_tensor_to_variant(a),
    "to_variant_gradient": lambda a: bs.ragged_tensor_to_variant_gradient(
        bs.VariantArray([ONES]), [[0, 2]], [2], out=a
    ),
    "TensorArray.write": lambda a: bs.TensorArray(1, "float64").write(0, a),
    "TensorArray.write held": lambda a: bs.TensorArray(1, "float64").write(0, a, copy=False),
    "TensorArray.unstack": lambda a: bs.TensorArray(2, "float64").unstack(a),
    "TensorArray.split": lambda a: bs.TensorArray(1, "float64").split(a, [2]),
    "GradBuffer.add": lambda a: bs.GradBuffer(2, "float64").add(":", a),
    "multi_slice_grad out": lambda a: bs.multi_slice_grad((2,), [], out=a),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("make", [interface_of, exported])
def test_memory_of_the_cpu_is_not_taken_for_that_of_a_device(call, make):
    with pytest.raises(bs.Error, match=r"cuda|CUDA|int32"):
        call(make())
    assert list(MEMORY) == list(range(16))  # no refused call has written anything


@pytest.mark.parametrize("typestr", ["|O8", "<U2", "|S4"])
@pytest.mark.parametrize("call", [*CALLS.values(), lambda a: bs.slice(a, ":")], ids=[*CALLS, "slice"])
def test_strings_and_objects_are_on_the_cpu_alone(call, typestr):
    with pytest.raises(bs.DTypeError, match="strings and objects are on the CPU alone"):
        call(interface_of(typestr))


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: bs.sparse_slice_grad(a, b, [0], ROWS),
        lambda a, b: bs.sparse_slice((a, b), ONES, [2, 2], [0, 0], [1, 1]),
        lambda a, b: bs.slice_grad(a, (2,), ":", out=b),
        lambda a, b: bs.multi_slice_grad((2,), [(":", a), (":", b)]),
        lambda a, b: bs.RaggedTensor(a, [b]),
        lambda a, b: bs.VariantArray([a, b]),
    ],
)
def test_two_devices_are_named(call):
    with pytest.raises(bs.InvalidArgumentError, match=r"is on cuda:[01], but .* is on cuda:[01]$"):
        call(exported(ordinal=0), exported(ordinal=1))


def test_an_exporter_that_contradicts_itself_is_told_so():
    with pytest.raises(bs.InvalidArgumentError, match="cuda:1, but its __dlpack_device__ says otherwise"):
        bs.RaggedTensor(Liar((2,), device=(2, 0), device_type=2, device_id=1), [0, 2])


@pytest.mark.parametrize(
    ("device", "error", "message"),
    [
        (3, bs.DTypeError, "device is 3, expected 'cpu', 'cuda'"),
        (None.__class__, bs.DTypeError, "expected 'cpu'"),
        ("gpu", bs.InvalidArgumentError, "device is 'gpu'"),
        ("cuda:", bs.InvalidArgumentError, "device is 'cuda:'"),
        ("cuda:-1", bs.InvalidArgumentError, "'cuda:-1'"),
        ("cuda:٣", bs.InvalidArgumentError, "expected 'cpu'"),
        ("cuda:" + "9" * 30, bs.InvalidArgumentError, "expected 'cpu'"),
        ("cuda:0\n", bs.InvalidArgumentError, "expected 'cpu'"),
    ],
)
def test_devices_that_are_none(device, error, message):
    for make in (
        lambda: bs.GradBuffer(2, "float32", device=device),
        lambda: bs.TensorArray(2, "float32", device=device),
        lambda: bs._core.TensorArrayContainer().create(2, "float32", device=device),
    ):
        with pytest.raises(error, match=message):
            make()


def test_the_cpu_can_be_named():
    buffer = bs.GradBuffer(2, "float32", device="cpu")
    array = bs.TensorArray(1, "float32", device="cpu")
    assert (buffer.device, array.device, bs.RaggedTensor([1.0], [0, 1]).device) == ("cpu", "cpu", "cpu")
    assert bs.RaggedTensor([1.0], [0, 1]).cpu().to_list() == [[1.0]]
    assert bs.TensorArray(1, str, device="cpu").device == "cpu"


@pytest.mark.skipif(bs.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_device_it_is_said_why():
    for make in (
        lambda: bs.GradBuffer(2, "float32", device="cuda"),
        lambda: bs.TensorArray(2, "float32", device="cuda:0"),
        lambda: bs.TensorArray(2, "float32", element_shape=(2,), contiguous=True, device="cuda"),
    ):
        with pytest.raises((bs.FailedPreconditionError, bs.UnimplementedError), match=r"driver|built without CUDA"):
            make()


def test_a_write_that_fails_decides_no_device():
    array = bs.TensorArray(1, "float64")
    with pytest.raises(bs.Error):
        array.write(0, interface_of())
    array.write(0, [1.0])
    assert array.device == "cpu"
    assert array.read(0).tolist() == [1.0]


@pytest.mark.parametrize(
    "described",
    [
        {"data": (-1, False)},
        {"data": (1 << 64, False)},
        {"data": "nothing"},
        {"data": (1, False), "stream": -5},
        {"data": (1, False), "stream": 1 << 70},
        {"shape": (1 << 70,)},
        {"shape": None},
        {"strides": (1 << 70,)},
        {"typestr": "nothing"},
    ],
)
def test_interfaces_that_cannot_be_read(described):
    array = interface_of(**({} if "data" in described else {"data": (4096, False)}))
    array.__cuda_array_interface__.update(described)
    with pytest.raises(bs.Error):
        bs.sparse_slice(ROWS, array, [2], [0], [1])
    with pytest.raises(bs.Error):
        bs.TensorArray(1, "float64").write(0, array)


class _Device:
    def __init__(self, type="cuda", index=None):
        self.type, self.index = type, index


@pytest.fixture
def stand_ins(monkeypatch):
    """Install modules in place of PyTorch and CuPy, with only the parts that name a device."""
    cuda = types.SimpleNamespace(current_device=lambda: 5)
    torch = types.SimpleNamespace(Tensor=type("Tensor", (), {}), device=_Device, cuda=cuda)
    device = type("Device", (), {"id": 3})
    cupy = types.SimpleNamespace(ndarray=type("ndarray", (), {}), cuda=types.SimpleNamespace(Device=device))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return torch, cupy


def test_devices_of_libraries_say_whose_results_are(stand_ins):
    torch, cupy = stand_ins
    assert cuda_place(_Device("cpu")) == (None, None)
    assert cuda_place(_Device("cuda", 1)) == (1, library_of(torch.Tensor()))
    assert cuda_place(_Device("cuda"))[0] == 5
    assert cuda_place(cupy.cuda.Device()) == (3, library_of(cupy.ndarray()))
    with pytest.raises(bs.InvalidArgumentError, match="expected 'cpu'"):
        cuda_place(_Device("mps"))
    for no_device in (torch.Tensor(), cupy.ndarray()):
        with pytest.raises(bs.DTypeError, match="expected 'cpu'"):
            cuda_place(no_device)


def test_interfaces_without_what_they_need_are_none():
    assert cuda_interface(object()) is None
    assert cuda_interface(Interface(type("A", (), {"__cuda_array_interface__": {"mask": 1}})())) is None
