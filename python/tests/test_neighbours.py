"""Objects of libraries that backslice never imports: TensorFlow's shapes, dtypes and ragged tensors, JAX's tracers."""

import subprocess
import sys
import types

import backslice as bs
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest


def tensorflow_class(name, **members):
    """A class that pretends to come from TensorFlow."""
    return types.new_class(name, exec_body=lambda body: body.update(members, __module__="tensorflow.python.fake"))


class Extents:
    def __init__(self, extents):
        self.extents = extents
        self.rank = None if extents is None else len(extents)

    def as_list(self):
        if self.extents is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self.extents)

    def __repr__(self):
        return f"TensorShape({self.extents})"


TensorShape = tensorflow_class("TensorShape", **{k: v for k, v in vars(Extents).items() if k[:6] != "__dict"})
DType = tensorflow_class("DType", __init__=lambda self, numpy: setattr(self, "as_numpy_dtype", numpy))
TorchDType = types.new_class("dtype", exec_body=lambda body: body.update(__module__="torch", __str__=lambda s: s.text))
DY = np.ones(2, np.float32)


def ragged(values, *splits):
    members = {"flat_values": values, "nested_row_splits": tuple(splits)}
    return tensorflow_class("RaggedTensor", **members)()


def test_tensor_shapes():
    shape = TensorShape([4])
    assert bs.slice_grad(DY, shape, "1:3").tolist() == [0, 1, 1, 0]
    assert bs.strided_slice_grad(shape, [1], [3], [1], DY).shape == (4,)
    assert bs.onnx_slice_grad(DY, shape, [1], [3]).shape == (4,)
    assert bs.Selection.from_index(shape, "1:3").shape == (4,)
    assert bs.GradBuffer(TensorShape([2, 3]), "int8").shape == (2, 3)
    assert bs.multi_slice_grad(TensorShape([]), [], dtype="int8").shape == ()
    assert bs.TensorArray(1, "f4", TensorShape([None, 2])).element_shape == (None, 2)
    assert bs.TensorArray(1, "f4", TensorShape(None)).element_shape is None


def test_tensor_shapes_that_are_not_known():
    with pytest.raises(
        bs.InvalidArgumentError, match=r"shape is TensorShape\(\[2, None\]\), whose axis 1 is not known"
    ):
        bs.slice_grad(DY, TensorShape([2, None]), ":")
    with pytest.raises(bs.InvalidArgumentError, match=r"shape is TensorShape\(None\), whose rank is not known"):
        bs.slice_grad(DY, TensorShape(None), ":")


@pytest.mark.parametrize(
    "numpy", [np.float32, ml_dtypes.bfloat16, object, np.dtype([("qint8", "i1")]), [("qint8", "i1")]], ids=str
)
def test_dtypes_of_tensorflow(numpy):
    dtype = DType(numpy)
    assert bs.multi_slice_grad((2,), [], dtype=dtype).dtype == np.dtype(numpy)
    assert bs.TensorArray(1, dtype).dtype == np.dtype(numpy)
    assert bs.Selection.from_index((2,), ":").prepare(dtype).dtype == np.dtype(numpy) or numpy is object


def test_dtypes_of_torch():
    dtype = TorchDType()
    dtype.text = "torch.bfloat16"
    assert bs.GradBuffer((2,), dtype).dtype == ml_dtypes.bfloat16
    assert bs.RaggedTensor.from_list([[1], []], dtype=dtype).dtype == ml_dtypes.bfloat16


def test_dtypes_without_numpys():
    class Variant:
        @property
        def as_numpy_dtype(self):
            raise KeyError(21)

    kind = tensorflow_class("DType", as_numpy_dtype=Variant.as_numpy_dtype)
    with pytest.raises(bs.DTypeError, match="which NumPy does not know"):
        bs.GradBuffer((2,), kind())


def test_ragged_tensors_of_tensorflow():
    splits = np.array([0, 2, 3])
    theirs, ours = ragged(np.arange(3.0), splits), bs.RaggedTensor(np.arange(3.0), splits)
    encoded = bs.ragged_tensor_to_variant(theirs)
    assert bs.ragged_tensor_from_variant(encoded, 0, 1) == ours
    assert bs.VariantArray([theirs])[0] == ours
    assert len(bs.ragged_tensor_from_variant_gradient(theirs, (2,))) == 2
    assert ours.slice_grad(np.s_[1:], ragged(np.array([5.0]), np.array([0, 1]))).tolist() == [0, 0, 5]


CALLS = {
    "dy": lambda t: bs.slice_grad(t, (4,), "1:3"),
    "x": lambda t: bs.slice(t, "1:"),
    "out": lambda t: bs.slice_grad(DY, (4,), "1:3", out=t),
    "shape": lambda t: bs.slice_grad(DY, t, "1:3"),
    r"slices\[0\].dy": lambda t: bs.multi_slice_grad((4,), [("1:3", t)]),
    "begin": lambda t: bs.strided_slice(DY, t, [2], [1]),
    "input_indices": lambda t: bs.sparse_slice_grad(DY, t, [0], [[0], [1]]),
    "index": lambda t: bs.slice(DY, t[0].astype(int)),
    r"index(?= )": lambda t: bs.slice(DY, slice(t[0].astype(int), None)),
    "new_axis_mask": lambda t: bs.strided_slice(DY, [0], [2], [1], new_axis_mask=t[0].astype(int)),
    "start": lambda t: bs.sparse_slice_grad(DY, [[0]], [t[0].astype(int)], [[0], [1]]),
}


@pytest.mark.parametrize("argument", CALLS)
def test_tracers_of_jax(argument):
    message = rf"{argument} is a tracer of JAX \(.*\), .* not run inside jit.*call it outside.*jax.pure_callback"
    with pytest.raises(bs.InvalidArgumentError, match=message):
        jax.jit(CALLS[argument])(jnp.ones(2))


def test_tracers_of_jax_in_vmap():
    with pytest.raises(bs.InvalidArgumentError, match="dy is a tracer of JAX"):
        jax.vmap(CALLS["dy"])(jnp.ones((3, 2)))


def test_the_advice_for_tracers_works():
    def gradient(dy):
        result = jax.ShapeDtypeStruct((4,), dy.dtype)
        return jax.pure_callback(lambda dy: bs.slice_grad(dy, (4,), "1:3"), result, dy)

    assert jax.jit(gradient)(jnp.ones(2)).tolist() == [0, 1, 1, 0]


INDICES = [
    [0, 2],
    [True, False],
    np.array([0, 2]),
    np.array([True, False]),
    np.array(True),
    jnp.array([0, 1]),
    (0, [1]),
]


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_advanced_indices_name_the_alternative(index):
    x = np.zeros((2, 2))
    with pytest.raises(
        bs.UnimplementedError, match=r"advanced indexing.*np.add.at\(dx, index, dy\).*sparse_slice_grad"
    ):
        bs.slice(x, index)
    with pytest.raises(bs.UnimplementedError, match="advanced indexing"):
        bs.slice_grad(x, (2, 2), index)


def test_integers_of_other_libraries_are_indices():
    assert bs.slice(np.arange(3), jnp.array(1)).tolist() == 1
    assert bs.slice(np.arange(3), np.array(2)).tolist() == 2


def test_no_library_is_imported():
    check = "import sys, backslice; print({'tensorflow', 'torch', 'jax', 'scipy', 'pyarrow'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, text=True).stdout == "set()\n"
