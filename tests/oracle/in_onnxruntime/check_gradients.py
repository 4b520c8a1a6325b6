"""gradient_nodes of models of old and new opsets: checked, and run. Runs in ONNX Runtime's environments."""

from typing import Any

import backslice as bs
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from backslice.onnx import gradient_nodes, slice_nodes
from backslice.onnxruntime import session_options
from onnx import TensorProto, helper


def ints(name: str, *values: int) -> Any:
    return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)


def model(nodes: list[Any], opset: int, shape: Any = (4, 6), inputs: Any = (), initializers: Any = ()) -> Any:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    more = [helper.make_tensor_value_info(name, TensorProto.INT64, [None]) for name in inputs]
    outputs = [helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, None) for node in nodes]
    graph = helper.make_graph(nodes, "g", [x, *more], outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def run(forward: Any, feeds: dict[str, Any], **dys: Any) -> dict[str, Any]:
    both = gradient_nodes(forward).added_to(forward)
    session = ort.InferenceSession(both.SerializeToString(), session_options(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds | dys), strict=True))


X = np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.mark.parametrize("opset", [1, 7, 9])
def test_slices_with_attributes(opset: int) -> None:
    forward = model([helper.make_node("Slice", ["x"], ["y"], starts=[1, 0], ends=[3, 4], axes=[0, 1])], opset)
    dy = np.ones((2, 4), np.float32)
    results = run(forward, {"x": X}, y_grad=dy)
    assert np.array_equal(results["x_grad"], bs.slice_grad(dy, (4, 6), np.s_[1:3, :4]))


@pytest.mark.parametrize("opset", [10, 11, 13])
def test_slices_with_constant_inputs(opset: int) -> None:
    node = helper.make_node("Slice", ["x", "starts", "ends", "", "steps"], ["y"])
    forward = model([node], opset, initializers=[ints("starts", 0, 5), ints("ends", 4, -9), ints("steps", 2, -2)])
    assert slice_nodes(forward)[0].selection().result_shape == (2, 3)
    dy = np.arange(6, dtype=np.float32).reshape(2, 3)
    results = run(forward, {"x": X}, y_grad=dy)
    assert np.array_equal(results["y"], X[::2, ::-2])
    assert np.array_equal(results["x_grad"], bs.slice_grad(dy, (4, 6), np.s_[::2, ::-2]))


def test_slices_and_shapes_that_are_known_at_run_time_alone() -> None:
    node = helper.make_node("Slice", ["x", "starts", "ends"], ["y"])
    forward = model([node], 13, shape=("rows", "columns"), inputs=["starts", "ends"])
    assert slice_nodes(forward)[0].selection() is None
    for start, end in [(1, 3), (0, 4), (2, 2)]:
        dy = np.full((end - start, 6), 7, np.float32)
        feeds = {"x": X, "starts": np.array([start]), "ends": np.array([end])}
        assert np.array_equal(run(forward, feeds, y_grad=dy)["x_grad"], bs.slice_grad(dy, (4, 6), np.s_[start:end]))


def test_many_slices_of_one_tensor_are_added_up() -> None:
    nodes = [helper.make_node("Slice", ["x", f"s{i}", f"e{i}"], [f"y{i}"]) for i in range(3)]
    constants = [ints(f"s{i}", i) for i in range(3)] + [ints(f"e{i}", i + 2) for i in range(3)]
    forward = model(nodes, 13, initializers=constants)
    dys = {f"y{i}_grad": np.full((2, 6), i + 1, np.float32) for i in range(3)}
    dx = bs.multi_slice_grad((4, 6), [(np.s_[i : i + 2], dys[f"y{i}_grad"]) for i in range(3)])
    assert np.array_equal(run(forward, {"x": X}, **dys)["x_grad"], dx)


def test_the_result_has_the_shape_of_what_was_sliced() -> None:
    forward = model([helper.make_node("Slice", ["x"], ["y"], starts=[1], ends=[3])], 9)
    both = gradient_nodes(forward).added_to(forward)
    [dx] = [output for output in both.graph.output if output.name == "x_grad"]
    assert [d.dim_value for d in dx.type.tensor_type.shape.dim] == [4, 6]
    onnx.checker.check_model(both, full_check=True)


def test_what_has_no_gradient_is_refused() -> None:
    with pytest.raises(bs.InvalidArgumentError, match="no Slice node"):
        gradient_nodes(model([helper.make_node("Relu", ["x"], ["y"])], 13))
    bad = model([helper.make_node("Slice", ["x"], ["y"], starts=[1, 1], ends=[3, 3], axes=[0, 0])], 9)
    with pytest.raises(bs.InvalidArgumentError, match=r"Slice 'y': .*given twice"):
        gradient_nodes(bad)
    taken = model([helper.make_node("Slice", ["x"], ["x_grad"], starts=[1], ends=[3])], 9)
    with pytest.raises(bs.InvalidArgumentError, match="'x_grad' already; give another suffix"):
        gradient_nodes(taken)
    assert gradient_nodes(taken, suffix="_d").dxs == {"x": "x_d"}
