"""tests/conformance/*.json through Python; tests/conformance/conformance_test.cc runs the same cases in C++."""

import json
from pathlib import Path

import backslice as bs
import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "tests" / "conformance"


def cases(name):
    return json.loads((FOLDER / name).read_text())


def run(case, dtype):
    array = np.array(case["input"]["values"], dtype).reshape(case["input"]["shape"])
    op, args, shape = case["op"], case["args"], case.get("shape")
    if op == "strided_slice_grad":
        return bs.strided_slice_grad(shape, dy=array, **args)
    if op in ("onnx_slice_grad", "slice_grad"):
        return getattr(bs, op)(array, shape, **args)
    return getattr(bs, op)(array, **args)


def result_or_expected_error(case, call):
    """Return the result of the call, or None if it raised the case's error."""
    if "error" not in case:
        return call()
    with pytest.raises(getattr(bs, case["error"]["code"] + "Error")) as caught:
        call()
    for part in case["error"]["message"]:
        assert part in str(caught.value)
    return None


@pytest.mark.parametrize("dtype", ["int64", "float32", "complex128"])
@pytest.mark.parametrize("case", cases("dense_slices.json"), ids=lambda c: c["name"])
def test_dense_slices(case, dtype):
    result = result_or_expected_error(case, lambda: run(case, dtype))
    if result is None:
        return
    assert result.dtype == dtype
    assert result.shape == tuple(case["result"]["shape"])
    assert result.ravel().tolist() == case["result"]["values"]


@pytest.mark.parametrize("columns", [False, True], ids=["matrix", "columns"])
@pytest.mark.parametrize("index_type", ["int64", "int32"])
@pytest.mark.parametrize("case", cases("sparse_slices.json"), ids=lambda c: c["name"])
def test_sparse_slices(case, index_type, columns):
    def indices(rows):
        try:
            matrix = np.array(rows, index_type)
        except OverflowError:
            pytest.skip("does not fit int32")
        return tuple(matrix.T) if columns else matrix

    args = {k: indices(v) if "indices" in k else v for k, v in case["args"].items()}
    values = np.array(case["values"], "float32")
    if case["op"] == "sparse_slice":
        result = result_or_expected_error(case, lambda: bs.sparse_slice(values=values, **args))
        if result is not None:
            found, found_values, shape = result
            found = np.stack(found, 1) if columns else found
            assert found.dtype == index_type
            assert found.tolist() == case["result"]["indices"]
            assert found_values.tolist() == case["result"]["values"]
            assert shape.tolist() == case["result"]["shape"]
    else:
        result = result_or_expected_error(case, lambda: getattr(bs, case["op"])(values, **args))
        if result is not None:
            assert result.tolist() == case["result"]["values"]


@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize("case", cases("ragged_variants.json"), ids=lambda c: c["name"])
def test_ragged_variants(case, dtype):
    def element(piece):
        if isinstance(piece, dict):
            return bs.RaggedTensor(np.array(piece["values"], dtype), piece["splits"])
        return None if piece is None else np.array(piece, dtype)

    encoded = bs.VariantArray([element(piece) for piece in case["pieces"]])
    if case["op"] == "gradient":
        result = result_or_expected_error(
            case,
            lambda: bs.ragged_tensor_to_variant_gradient(encoded, case["row_splits"], case["shape"], dtype),
        )
        if result is not None:
            assert result.dtype == dtype
            assert list(result.shape) == case["result"]["shape"]
            assert result.ravel().tolist() == case["result"]["values"]
            out = np.full(case["shape"], -1, dtype)
            bs.ragged_tensor_to_variant_gradient(encoded, case["row_splits"], case["shape"], dtype, out=out)
            assert np.array_equal(out, result)
    else:
        result = result_or_expected_error(case, lambda: bs.ragged_tensor_from_variant(encoded, *case["ranks"]))
        if result is not None:
            assert [s.tolist() for s in result.nested_row_splits] == case["result"]["splits"]
            assert result.values.ravel().tolist() == case["result"]["values"]
