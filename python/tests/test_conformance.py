"""tests/conformance/*.json through Python; tests/conformance/conformance_test.cc runs the same cases in C++."""

import json
from pathlib import Path

import backslice as bs
import numpy as np
import pytest

FILE = Path(__file__).parents[2] / "tests" / "conformance" / "dense_slices.json"
CASES = json.loads(FILE.read_text())


def run(case, dtype):
    array = np.array(case["input"]["values"], dtype).reshape(case["input"]["shape"])
    op, args, shape = case["op"], case["args"], case.get("shape")
    if op == "strided_slice_grad":
        return bs.strided_slice_grad(shape, dy=array, **args)
    if op in ("onnx_slice_grad", "slice_grad"):
        return getattr(bs, op)(array, shape, **args)
    return getattr(bs, op)(array, **args)


@pytest.mark.parametrize("dtype", ["int64", "float32", "complex128"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_case(case, dtype):
    if "error" in case:
        with pytest.raises(getattr(bs, case["error"]["code"] + "Error")) as caught:
            run(case, dtype)
        for part in case["error"]["message"]:
            assert part in str(caught.value)
        return
    result = run(case, dtype)
    assert result.dtype == dtype
    assert result.shape == tuple(case["result"]["shape"])
    assert result.ravel().tolist() == case["result"]["values"]
