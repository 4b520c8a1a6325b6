"""Masked arrays are refused by every function that takes arrays: their mask would be lost."""

import backslice as bs
import numpy as np
import pytest

FLOATS = np.ma.array([1.0, 2.0], mask=[False, True])
INTS = np.ma.array([0, 2], mask=[False, True])
RAGGED = bs.RaggedTensor(np.arange(2.0), [0, 2])
COO = np.zeros((2, 1), np.int64)


def written(method, *arguments):
    array = bs.TensorArray(2, "f8")
    return lambda: getattr(array, method)(*arguments)


ENTRIES = {
    "slice": lambda: bs.slice(FLOATS, ...),
    "slice out": lambda: bs.slice(np.ones(2), ..., out=FLOATS),
    "slice_grad": lambda: bs.slice_grad(FLOATS, (2,), ...),
    "slice_grad shape": lambda: bs.slice_grad(np.ones((0, 2)), INTS, ...),
    "slice_grad out": lambda: bs.slice_grad(np.ones(2), (2,), ..., out=FLOATS),
    "slice_grad index": lambda: bs.slice_grad(np.ones(2), (2,), np.ma.array(1, mask=True)),
    "multi_slice_grad": lambda: bs.multi_slice_grad((2,), [(..., FLOATS)]),
    "strided_slice": lambda: bs.strided_slice(FLOATS, [0], [1], [1]),
    "strided_slice begin": lambda: bs.strided_slice(np.ones((2, 2)), INTS, [1, 1], [1, 1]),
    "strided_slice_grad": lambda: bs.strided_slice_grad([2], [0], [2], [1], FLOATS),
    "onnx_slice": lambda: bs.onnx_slice(FLOATS, [0], [1]),
    "onnx_slice starts": lambda: bs.onnx_slice(np.ones((2, 2)), INTS, [1, 1]),
    "onnx_slice_grad": lambda: bs.onnx_slice_grad(FLOATS, [2], [0], [2]),
    "sparse_slice indices": lambda: bs.sparse_slice(np.ma.array(COO), np.ones(2), [2], [0], [1]),
    "sparse_slice values": lambda: bs.sparse_slice(COO, FLOATS, [2], [0], [1]),
    "sparse_slice_grad": lambda: bs.sparse_slice_grad(FLOATS, COO, [0], COO),
    "sparse_slice_grad_by_size": lambda: bs.sparse_slice_grad_by_size(FLOATS, COO, [0], [2]),
    "Selection.slice": lambda: bs.Selection.from_index((2,), ...).slice(FLOATS),
    "Selection.grad": lambda: bs.Selection.from_index((2,), ...).grad(FLOATS),
    "Selection shape": lambda: bs.Selection.from_index(INTS, ...),
    "PreparedSlice": lambda: bs.Selection.from_index((2,), ...).prepare("f8").forward(FLOATS, np.ones(2)),
    "PreparedSlice out": lambda: bs.Selection.from_index((2,), ...).prepare("f8").gradient(np.ones(2), FLOATS),
    "GradBuffer.write": lambda: bs.GradBuffer((2,), "f8").write(..., FLOATS),
    "GradBuffer.add": lambda: bs.GradBuffer((2,), "f8").add(..., FLOATS),
    "GradBuffer shape": lambda: bs.GradBuffer(INTS, "f8"),
    "RaggedTensor": lambda: bs.RaggedTensor(FLOATS, [0, 2]),
    "RaggedTensor splits": lambda: bs.RaggedTensor(np.ones(2), INTS),
    "RaggedTensor nested splits": lambda: bs.RaggedTensor(np.ones(2), [[0, 1], INTS]),
    "from_row_lengths": lambda: bs.RaggedTensor.from_row_lengths(FLOATS, [2]),
    "from_row_lengths lengths": lambda: bs.RaggedTensor.from_row_lengths(np.ones(2), INTS),
    "from_list": lambda: bs.RaggedTensor.from_list([[1.0], FLOATS]),
    "from_list of one": lambda: bs.RaggedTensor.from_list(FLOATS, ragged_rank=0),
    "RaggedTensor.slice_grad": lambda: RAGGED.slice_grad(..., FLOATS),
    "RaggedTensor.slice_grad out": lambda: RAGGED.slice_grad(..., np.ones(2), out=FLOATS),
    "VariantArray": lambda: bs.VariantArray([FLOATS]),
    "VariantArray shape": lambda: bs.VariantArray([], INTS),
    "ragged_tensor_to_variant": lambda: bs.ragged_tensor_to_variant(FLOATS),
    "ragged_tensor_to_variant_gradient": lambda: bs.ragged_tensor_to_variant_gradient(
        bs.VariantArray([np.ones(2)]), INTS, [2]
    ),
    "ragged_tensor_to_variant_gradient out": lambda: bs.ragged_tensor_to_variant_gradient(
        bs.VariantArray([np.ones(2)]), [0, 2], [2], out=FLOATS
    ),
    "ragged_tensor_from_variant_gradient": lambda: bs.ragged_tensor_from_variant_gradient(FLOATS, [2]),
    "TensorArray.write": written("write", 0, FLOATS),
    "TensorArray.write a list": written("write", 0, [FLOATS, FLOATS]),
    "TensorArray.scatter": written("scatter", [0, 1], FLOATS),
    "TensorArray.scatter indices": written("scatter", INTS, np.ones(2)),
    "TensorArray.unstack": written("unstack", FLOATS),
    "TensorArray.split": written("split", FLOATS, [1, 1]),
    "TensorArray.split lengths": written("split", np.ones(2), INTS),
    "TensorArray.gather": written("gather", INTS),
    "TensorArray element_shape": lambda: bs.TensorArray(2, "f8", element_shape=INTS),
    "TensorArray.grad_with_shape": written("grad_with_shape", "s", INTS),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_masked_array_is_refused(entry):
    with pytest.raises(bs.Error, match=r"masked array|advanced indexing|mask"):
        ENTRIES[entry]()
