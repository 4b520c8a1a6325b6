"""sparse-grad and ragged-grad on .npz files."""

import io
import json

import ml_dtypes
import numpy as np
import pytest
from command_line import fails, run

SPARSE = {"backprop_val_grad": [5.0, 7.0], "input_indices": [[0, 1], [1, 0], [1, 2], [3, 1]], "input_start": [1, 0],
          "output_indices": [[0, 0], [0, 2]]}  # fmt: skip


def test_sparse_gradients(folder):
    np.savez("s.npz", **SPARSE)
    run("sparse-grad", "s.npz", "-o", "dx.npy")
    assert np.load("dx.npy").tolist() == [0, 5, 7, 0]
    np.savez("size.npz", grad=[5.0, 7.0], input_indices=SPARSE["input_indices"], start=[1, 0], size=[2, 3])
    run("sparse-grad", "size.npz", "-o", "by_size.npz:g")
    assert np.load("by_size.npz")["g"].tolist() == [0, 5, 7, 0]
    np.savez("rows.npz", **{**SPARSE, "backprop_val_grad": [[5.0, 6.0], [7.0, 8.0]]})
    done = json.loads(run("sparse-grad", "rows.npz", "-o", "rows.npy", "--json").stdout)
    assert done["shape"] == [4, 2] and done["bytes"] == 64
    assert np.load("rows.npy").tolist() == [[0, 0], [5, 6], [7, 8], [0, 0]]
    done = run("sparse-grad", "-", "-o", "-", input=(folder / "s.npz").read_bytes())
    assert np.load(io.BytesIO(done.stdout)).tolist() == [0, 5, 7, 0]


def test_sparse_gradients_in_any_order_and_of_raw_dtypes(folder):
    swapped = {**SPARSE, "output_indices": SPARSE["output_indices"][::-1]}
    swapped["backprop_val_grad"] = np.array([7, 5]).astype(ml_dtypes.bfloat16)
    np.savez("s.npz", **swapped)
    fails(1, "--dtype", "sparse-grad", "s.npz", "-o", "dx.npy")
    fails(1, "aren't all propagated", "sparse-grad", "s.npz", "--dtype", "bfloat16", "-o", "dx.npy")
    run("sparse-grad", "s.npz", "--dtype", "bfloat16", "--order", "any", "-o", "dx.npy")
    assert np.load("dx.npy").view(ml_dtypes.bfloat16).astype(int).tolist() == [0, 5, 7, 0]
    fails(2, "expected in_order or any", "sparse-grad", "s.npz", "--order", "random", "-o", "dx2.npy")


def test_sparse_files_say_what_is_missing(folder):
    np.savez("s.npz", grad=[1.0])
    fails(1, "s.npz must hold backprop_val_grad, input_indices", "sparse-grad", "s.npz", "-o", "dx.npy")
    fails(1, "does not exist", "sparse-grad", "nope.npz", "-o", "dx.npy")


def test_ragged_gradients(folder):
    pieces = {"piece_0": [2.0, 4.0], "piece_2": [6.0, 8.0, 10.0]}
    np.savez("r.npz", row_splits=[0, 2, 2, 5, 6], dense_values_shape=[6], **pieces)
    run("ragged-grad", "r.npz", "-o", "dx.npy")
    assert np.load("dx.npy").tolist() == [2, 4, 6, 8, 10, 0]
    np.savez("nested.npz", row_splits_0=[0, 1, 2], row_splits_1=[0, 2, 3], dense_values_shape=[3], piece_1=[4.0])
    run("ragged-grad", "nested.npz", "-o", "nested.npy")
    assert np.load("nested.npy").tolist() == [0, 0, 4]
    np.savez("zeros.npz", row_splits=[0, 3], dense_values_shape=[3, 2])
    fails(1, "name one, such as --dtype float32", "ragged-grad", "zeros.npz", "-o", "z.npy")
    run("ragged-grad", "zeros.npz", "--dtype", "int8", "-o", "z.npy")
    assert np.array_equal(np.load("z.npy"), np.zeros((3, 2), np.int8))


@pytest.mark.parametrize(
    "arrays, says",
    [
        ({"dense_values_shape": [1]}, "no array row_splits"),
        ({"row_splits": [0, 1]}, "no array dense_values_shape"),
        ({"row_splits": [0, 1], "dense_values_shape": [1], "piece_7": [1.0]}, "row_splits has 1 rows"),
        (
            {"row_splits": [0, 1], "dense_values_shape": [1], "peice_0": [1.0]},
            "expected row_splits, dense_values_shape or piece_<i>",
        ),
        ({"row_splits": [0, 1], "dense_values_shape": [4], "piece_0": [1.0]}, "the 1 piece has 1 element in all"),
        ({"row_splits_0": [0, 1], "row_splits_2": [0, 1], "dense_values_shape": [1]}, "in turn"),
        ({"row_splits": [0, 1], "row_splits_0": [0, 1], "dense_values_shape": [1]}, "in turn"),
        ({"row_splits": 3, "dense_values_shape": [4], "piece_0": [1.0]}, "expected one axis"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_ragged_files(folder, arrays, says):
    np.savez("r.npz", **arrays)
    fails(1, says, "ragged-grad", "r.npz", "-o", "dx.npy")
