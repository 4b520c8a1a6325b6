"""Elements smaller than a byte that no operator of ONNX Runtime's makes: given as constants, read as bytes."""

import ctypes

import onnxruntime as ort
import pytest
from backslice.onnxruntime import session_options
from onnx import TensorProto, helper

FLOAT4E2M1 = 23  # which older packages do not name
FIRST = (1, 31)  # of the versions tried here that has it for custom operators


def gradient_of(dy: bytes) -> bytes:
    """A model of dX, the gradient of x[4:0:-2] of shape [5]; the first element is in the low half of a byte."""
    lists = {"shape": [5], "starts": [4], "ends": [0], "axes": [0], "steps": [-2]}
    tensors = [helper.make_tensor(name, TensorProto.INT64, [len(v)], v) for name, v in lists.items()]
    tensors.append(TensorProto(name="dY", data_type=FLOAT4E2M1, dims=[2], raw_data=dy))
    node = helper.make_node("SliceGrad", ["dY", *lists], ["dX"], domain="backslice")
    dx = helper.make_tensor_value_info("dX", FLOAT4E2M1, [5])
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("backslice", 1)]
    graph = helper.make_graph([node], "g", [], [dx], tensors)
    return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=11).SerializeToString())


# ONNX's numbers of the types that no version lets custom operators have; older packages do not name all of them.
REFUSED = {"complex64": 14, "complex128": 15, "float8e8m0": 24, "uint2": 25, "int2": 26}


@pytest.mark.parametrize("name", REFUSED)
def test_types_that_onnx_runtime_refuses_custom_operators(name: str) -> None:
    """When the session is made, in its own words: backslice is not asked."""
    lists = {"shape": [5], "starts": [4], "ends": [0], "axes": [0], "steps": [-2]}
    tensors = [helper.make_tensor(name, TensorProto.INT64, [len(v)], v) for name, v in lists.items()]
    node = helper.make_node("SliceGrad", ["dY", *lists], ["dX"], domain="backslice")
    dy, dx = (helper.make_tensor_value_info(what, REFUSED[name], [n]) for what, n in [("dY", 2), ("dX", 5)])
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("backslice", 1)]
    graph = helper.make_graph([node], "g", [dy], [dx], tensors)
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    with pytest.raises(Exception, match=r"Type 'tensor\(.*\)' of input parameter \(dY\)|Invalid tensor data type"):
        ort.InferenceSession(model, session_options(), providers=["CPUExecutionProvider"])


def test_float4e2m1() -> None:
    if tuple(int(part) for part in ort.__version__.split(".")[:2]) < FIRST:
        with pytest.raises(Exception, match=r".+"):
            ort.InferenceSession(gradient_of(b"\x7a"), session_options(), providers=["CPUExecutionProvider"])
        return
    session = ort.InferenceSession(gradient_of(b"\x7a"), session_options(), providers=["CPUExecutionProvider"])
    [dx] = session.run_with_ort_values(["dX"], {})
    assert dx.shape() == [5]
    assert ctypes.string_at(dx.data_ptr(), 3) == b"\x00\x07\x0a"  # 0, 0, 6, 0, -1: dY is -1, 6
