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


INDICES = [np.s_[:2], np.s_[:, 1:5:2], np.s_[::-1, 4:0:-3], np.s_[1:3, 2:6], np.s_[3:, ::-1], np.s_[2:2]]


def taken_axes(index: Any) -> dict[int, slice]:
    """Return the slice of each axis that is not selected whole, from the last axis to the first."""
    axes = enumerate(index if isinstance(index, tuple) else (index,))
    return {axis: s for axis, s in reversed(list(axes)) if s != slice(None)}


def lists_of(index: Any, name: str) -> list[Any]:
    """Return the constants of a Slice for it."""
    taken = taken_axes(index)
    steps = [1 if s.step is None else s.step for s in taken.values()]
    pairs = list(zip(taken.values(), steps, strict=True))
    starts = [(0 if step > 0 else 2**63 - 1) if s.start is None else s.start for s, step in pairs]
    ends = [(2**63 - 1 if step > 0 else -(2**63)) if s.stop is None else s.stop for s, step in pairs]
    lists = {"s": starts, "e": ends, "a": list(taken), "t": steps}
    return [ints(name + what, *values) for what, values in lists.items()]


def random_dys(outputs: list[str]) -> dict[str, Any]:
    random = np.random.default_rng(5)
    shapes = [X[index].shape for index in INDICES]
    return {
        f"{name}_grad": random.normal(size=shape).astype(np.float32)
        for name, shape in zip(outputs, shapes, strict=True)
    }


def many_slices(data: str) -> tuple[list[Any], list[Any]]:
    """The nodes y0, y1, ... and their constants."""
    nodes = [
        helper.make_node("Slice", [data, *(f"c{i}{what}" for what in "seat")], [f"y{i}"]) for i in range(len(INDICES))
    ]
    return nodes, [constant for i, index in enumerate(INDICES) for constant in lists_of(index, f"c{i}")]


def test_many_slices_of_one_tensor_are_added_up_in_one_pass() -> None:
    nodes, constants = many_slices("x")
    forward = model(nodes, 13, initializers=constants)
    assert [node.op_type for node in gradient_nodes(forward).nodes] == ["MultiSliceGrad"]
    dys = random_dys([f"y{i}" for i in range(len(INDICES))])
    dx = bs.multi_slice_grad((4, 6), list(zip(INDICES, dys.values(), strict=True)))
    assert run(forward, {"x": X}, **dys)["x_grad"].tobytes() == dx.tobytes()


def test_the_gradient_from_elsewhere_comes_first() -> None:
    nodes, constants = many_slices("x_all")
    nodes.insert(0, helper.make_node("Slice", ["x", "zero", "four"], ["x_all"]))
    forward = model(nodes, 13, initializers=[*constants, ints("zero", 0), ints("four", 4)])
    dys = random_dys([f"y{i}" for i in range(len(INDICES))])
    whole = np.random.default_rng(6).normal(size=(4, 6)).astype(np.float32)
    dx = bs.multi_slice_grad((4, 6), [(np.s_[:], whole), *zip(INDICES, dys.values(), strict=True)])
    results = run(forward, {"x": X}, **dys, x_all_grad=whole)
    assert results["x_all_grad_total"].tobytes() == results["x_grad"].tobytes() == dx.tobytes()


@pytest.mark.parametrize("length", [1, None])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_slices_that_are_known_at_run_time_alone_are_added_up(kind: Any, length: int | None) -> None:
    """In one pass if the number of sliced axes is known; otherwise one by one."""
    type_of = {np.int32: TensorProto.INT32, np.int64: TensorProto.INT64}[kind]
    names = [f"{what}{i}" for what in ("s", "e", "t") for i in range(3)]
    nodes = [helper.make_node("Slice", ["x", f"s{i}", f"e{i}", "", f"t{i}"], [f"y{i}"]) for i in range(3)]
    forward = model(nodes, 13, shape=("rows", "columns"))
    forward.graph.input.extend(helper.make_tensor_value_info(name, type_of, [length]) for name in names)
    last = [node.op_type for node in gradient_nodes(forward).nodes][-1]
    assert last == ("MultiSliceGrad" if length else "SliceGradAccumulate")
    for values in [(0, 1, 2, 2, 4, 3, 1, 2, 1), (3, 0, 1, -9, 1, 4, -1, 1, 2)]:
        feeds = {name: np.array([value], kind) for name, value in zip(names, values, strict=True)}
        index = [slice(values[i], None if values[i + 3] < 0 else values[i + 3], values[i + 6]) for i in range(3)]
        dys = {f"y{i}_grad": np.full(X[index[i]].shape, i + 0.5, np.float32) for i in range(3)}
        dx = bs.multi_slice_grad((4, 6), list(zip(index, dys.values(), strict=True)))
        assert np.array_equal(run(forward, {"x": X, **feeds}, **dys)["x_grad"], dx)


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
