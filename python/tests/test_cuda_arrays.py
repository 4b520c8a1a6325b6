"""Arrays on CUDA devices: of PyTorch, CuPy, and any library with one of the two protocols.

Without a GPU, tests of values are skipped, and tests of refusals run. On a machine with one:
`pytest python/tests/test_cuda_arrays.py`.
"""

import os
import sys
import types

import backslice as bs
import numpy as np
import pytest
from backslice import devices
from cuda_libraries import Interface, library, needs_gpu, on_gpu, to_numpy
from foreign import Foreign

SHAPE, INDEX = (6, 5, 4), np.s_[1:5:2, ::-1, 2]


class OnDevice(Foreign):
    """Pretends that its memory, which is the CPU's, is on a CUDA device."""

    def __init__(self, array):
        super().__init__(array, device=(2, 0))

    def __dlpack__(self, *, stream=None, max_version=None):
        return self.array.__dlpack__()


def random_numbers(shape, dtype="float32"):
    return np.random.default_rng(7).integers(-9, 9, shape).astype(dtype)


def test_the_reason_is_a_text_or_none():
    reason = bs.cuda.unavailable_reason()
    assert bs.cuda.is_available() == (reason is None)
    if reason is not None:
        assert "CUDA" in reason or "cuda" in reason
        with pytest.raises(bs.Error):
            bs.cuda.devices()


def test_an_array_that_is_wrong_about_its_device_is_refused():
    with pytest.raises(bs.DTypeError, match="expected an array"):
        bs.slice_grad(Interface(object()), (4,), "1:3")
    with pytest.raises(bs.InvalidArgumentError, match="__cuda_array_interface__ cannot be read"):
        bs.slice_grad(Interface(type("Masked", (), {"__cuda_array_interface__": {"mask": 1}})()), (4,), "1:3")


def test_memory_of_the_cpu_is_not_taken_for_that_of_a_device():
    assert bs.slice_grad(OnDevice(np.ones(2)), (4,), "1:3").tolist() == [0, 1, 1, 0]  # its tensor gives the device
    memory = np.ones(2)
    described = {"shape": (2,), "typestr": "<f8", "data": (memory.ctypes.data, False), "version": 3}
    with pytest.raises(bs.Error, match=r"cuda|CUDA"):
        bs.slice_grad(type("Liar", (), {"__cuda_array_interface__": described})(), (4,), "1:3")


@pytest.fixture
def pointer_class(monkeypatch):
    """A class whose arrays have CuPy's attributes, in place of CuPy."""

    class ndarray:  # noqa: N801
        def __init__(self, extents, elements, device=0, **changed):
            made = np.zeros(extents, elements)
            self.data = types.SimpleNamespace(ptr=made.ctypes.data, device_id=device)
            self.owner, self.shape, self.strides, self.dtype = made, made.shape, made.strides, made.dtype
            vars(self).update(changed)

    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(ndarray=ndarray))
    monkeypatch.setattr(devices._CuPy, "stream", lambda self, ordinal: 1)
    return ndarray


@pytest.mark.skipif("without CUDA" in str(bs.cuda.unavailable_reason()), reason="streams are not known")
def test_arrays_that_say_where_they_lie_are_read_without_a_protocol(pointer_class):
    def message_of(second):
        with pytest.raises(bs.Error) as caught:
            bs.multi_slice_grad((4,), [("1:3", pointer_class(2, "float32")), ("0:2", second)])
        return str(caught.value)

    assert "slices[1].dy has dtype float64, but slices[0].dy has float32" in message_of(pointer_class(2, "float64"))
    assert "slices[1].dy is on cuda:1, but slices[0].dy is on cuda:0" in message_of(pointer_class(2, "float32", 1))
    for changed in (
        {"shape": [2]},
        {"strides": None},
        {"strides": None, "_c_contiguous": False},
        {"dtype": "f4"},
        {"data": None},
        {"shape": (1, 2)},
        {"shape": (2**70,)},
    ):
        assert "slices[1].dy is of type" in message_of(pointer_class(2, "float32", **changed)), changed


def test_arguments_of_the_cpu_alone_refuse_device_arrays():
    with pytest.raises(bs.InvalidArgumentError, match=r"is on device \(2, 0\), not on the CPU"):
        bs.tensor_array_grad_with_shape(bs.TensorArray(1, "float32"), OnDevice(np.zeros((), "float32")), [], "loss")


@needs_gpu
@pytest.mark.parametrize("name", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex64", "int64"])
def test_results_are_those_of_the_cpu_and_of_the_callers_kind(name, dtype):
    dy = random_numbers((2, 5), dtype)
    dx = bs.slice_grad(on_gpu(name, dy), SHAPE, INDEX)
    assert type(dx).__module__.partition(".")[0] == name
    np.testing.assert_array_equal(to_numpy(dx), bs.slice_grad(dy, SHAPE, INDEX))
    x = random_numbers(SHAPE, dtype)
    np.testing.assert_array_equal(to_numpy(bs.slice(on_gpu(name, x), INDEX)), x[INDEX])


@needs_gpu
@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_every_dense_function_runs_there(name):
    dy, x = random_numbers((2,)), random_numbers((4,))
    there = on_gpu(name, dy)
    expected = bs.slice_grad(dy, (4,), "1:3")
    for dx in (
        bs.strided_slice_grad([4], [1], [3], [1], there),
        bs.onnx_slice_grad(there, [4], [1], [3]),
        bs.multi_slice_grad((4,), [("1:3", there)]),
    ):
        np.testing.assert_array_equal(to_numpy(dx), expected)
    np.testing.assert_array_equal(to_numpy(bs.strided_slice(on_gpu(name, x), [1], [3], [1])), x[1:3])
    np.testing.assert_array_equal(to_numpy(bs.onnx_slice(on_gpu(name, x), [1], [3])), x[1:3])
    out = on_gpu(name, np.ones(4, "float32"))
    assert bs.slice_grad(there, (4,), "1:3", out=out, accumulate=True) is out
    np.testing.assert_array_equal(to_numpy(out), expected + 1)


@needs_gpu
@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_long_lists_are_read_as_on_the_cpu(name):
    rng = np.random.default_rng(41)
    layouts = (lambda a: a, lambda a: a.T, lambda a: a[::2], lambda a: a[:1], lambda a: a[:0])
    there, here = [], []
    for i, dy in enumerate(rng.integers(-9, 9, (300, 8, 6)).astype("float32")):
        row, column = rng.integers(0, 40, 2)
        layout = layouts[i % len(layouts)]
        rows, columns = layout(dy).shape
        index = np.s_[row : row + rows, column : column + columns]
        there.append((index, layout(on_gpu(name, dy))))
        here.append((index, layout(dy)))
    there.append((np.s_[:3, :2], on_gpu(name, here[0][1])[:1, :1]))  # which is broadcast
    here.append((np.s_[:3, :2], here[0][1][:1, :1]))
    np.testing.assert_array_equal(to_numpy(bs.multi_slice_grad((64, 64), there)), bs.multi_slice_grad((64, 64), here))
    there[7] = there[7][0], on_gpu(name, here[7][1].astype("float64"))
    with pytest.raises(bs.DTypeError, match=r"slices\[7\].dy has dtype float64, but slices\[0\].dy has float32"):
        bs.multi_slice_grad((64, 64), there)
    there[7] = there[7][0], np.array(here[7][1])
    with pytest.raises(bs.InvalidArgumentError, match=r"slices\[7\].dy is on the CPU"):
        bs.multi_slice_grad((64, 64), there)


@needs_gpu
def test_tensors_that_require_gradients_are_refused_within_lists():
    torch = library("torch")
    slices = [("1:3", torch.ones(2, device="cuda")), ("0:2", torch.ones(2, device="cuda", requires_grad=True))]
    with pytest.raises(bs.Error, match=r"slices\[1\].dy"):
        bs.multi_slice_grad((4,), slices)


@needs_gpu
def test_other_libraries_get_an_object_with_both_protocols():
    cupy = library("cupy")
    dy = random_numbers((2,))
    made = bs.slice_grad(Interface(cupy.asarray(dy)), (4,), "1:3")
    assert isinstance(made, bs.DeviceArray)
    assert (made.shape, made.dtype, made.device) == ((4,), np.float32, "cuda:0")
    assert repr(made) == "DeviceArray(shape (4,), dtype float32, cuda:0)"
    expected = bs.slice_grad(dy, (4,), "1:3")
    np.testing.assert_array_equal(made.to_numpy(), expected)
    np.testing.assert_array_equal(cupy.from_dlpack(made).get(), expected)
    np.testing.assert_array_equal(cupy.asarray(Interface(made)).get(), expected)
    np.testing.assert_array_equal(bs.slice_grad(made, (8,), "2:6").to_numpy(), bs.slice_grad(expected, (8,), "2:6"))


@needs_gpu
def test_bfloat16_of_pytorch():
    torch = library("torch")
    dy = torch.arange(6.0, dtype=torch.bfloat16, device="cuda")
    dx = bs.slice_grad(dy, (12,), "::2")
    assert dx.dtype == torch.bfloat16
    assert torch.equal(dx[::2], dy)
    assert not dx[1::2].any()


@needs_gpu
def test_a_call_runs_on_the_current_stream():
    torch = library("torch")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        dy = torch.full((1 << 20,), 2.0, device="cuda")
        torch.cuda._sleep(10_000_000)
        dy.fill_(3.0)
        dx = bs.slice_grad(dy, (2 << 20,), "::2")
    stream.synchronize()
    assert dx.sum().item() == 3.0 * (1 << 20)


@needs_gpu
def test_mixtures_are_refused():
    torch = library("torch")
    there = torch.ones(2, device="cuda")
    for dy, out in ((there, np.zeros(4, "float32")), (np.ones(2, "float32"), torch.zeros(4, device="cuda"))):
        with pytest.raises(bs.InvalidArgumentError, match="cuda:0"):
            bs.slice_grad(dy, (4,), "1:3", out=out)


@pytest.fixture(scope="module")
def of_jax():
    """Make JAX arrays on the device, without letting JAX allocate all of its memory."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = pytest.importorskip("jax")
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError as error:
        pytest.skip(f"this JAX has no CUDA: {error}")
    return lambda array: jax.device_put(array, device)


@pytest.fixture(scope="module")
def of_numba():
    cuda = pytest.importorskip("numba.cuda")
    if not cuda.is_available():
        pytest.skip("this Numba has no CUDA")
    return cuda.to_device


@needs_gpu
@pytest.mark.parametrize("kind", ["of_jax", "of_numba"])
def test_arrays_of_libraries_that_tell_no_stream(kind, request):
    made = request.getfixturevalue(kind)
    dy, x = random_numbers((2, 5)), random_numbers(SHAPE)
    dx = bs.slice_grad(made(dy), SHAPE, INDEX)
    assert isinstance(dx, bs.DeviceArray)
    np.testing.assert_array_equal(dx.to_numpy(), bs.slice_grad(dy, SHAPE, INDEX))
    np.testing.assert_array_equal(bs.slice(made(x), INDEX).to_numpy(), x[INDEX])
    rows = np.array([[0], [2], [5]])
    by_size = bs.sparse_slice_grad_by_size(made(dy[0, :2]), made(rows), [1], [9])
    np.testing.assert_array_equal(by_size.to_numpy(), bs.sparse_slice_grad_by_size(dy[0, :2], rows, [1], [9]))
    ragged = bs.RaggedTensor(made(dy[0]), [0, 2, 2, 5])
    np.testing.assert_array_equal(ragged[2].to_numpy(), dy[0, 2:])


@needs_gpu
def test_arrays_of_jax_never_change(of_jax):
    dy, x = random_numbers((2, 5)), of_jax(random_numbers(SHAPE))
    with pytest.raises(bs.Error, match="immutable"):
        bs.slice_grad(of_jax(dy), SHAPE, INDEX, out=x)
    np.testing.assert_array_equal(np.asarray(x), random_numbers(SHAPE))


@needs_gpu
def test_what_was_made_goes_to_jax(of_jax):
    numpy = pytest.importorskip("jax.numpy")
    dy = random_numbers((2, 5))
    dx = numpy.from_dlpack(bs.slice_grad(of_jax(dy), SHAPE, INDEX))
    np.testing.assert_array_equal(np.asarray(dx + 1), bs.slice_grad(dy, SHAPE, INDEX) + 1)
