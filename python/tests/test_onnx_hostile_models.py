"""Models that are wrong, large or incomplete: refused with a message or read, at a bounded cost."""

import subprocess
import sys
from typing import Any

import backslice as bs
import numpy as np
import onnx
import pytest
from backslice.onnx import gradient_nodes, slice_nodes
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
SLICE = helper.make_node("Slice", ["x", "s", "e"], ["y"])


def ints(name: str, *values: int) -> Any:
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(*nodes: Any, shape: Any = (4, 6), constants: Any = None, opset: int = 13, functions: Any = ()) -> Any:
    x, y = (helper.make_tensor_value_info(n, FLOAT, s) for n, s in (("x", shape), ("y", None)))
    given = [ints("s", 0), ints("e", 2)] if constants is None else constants
    graph = helper.make_graph(list(nodes) or [SLICE], "g", [x], [y], list(given))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("fun", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=list(functions))


FLAT = [helper.make_node("Shape", ["x"], ["n"]), helper.make_node("Gather", ["n", "zero"], ["rows"], axis=0),
        helper.make_node("Unsqueeze", ["rows", "zeros"], ["list"]), helper.make_node("Reshape", ["x", "list"], ["f"]),
        helper.make_node("Slice", ["f", "s", "e"], ["y"])]  # fmt: skip
FLAT_CONSTANTS = [numpy_helper.from_array(np.array(0), "zero"), ints("zeros", 0), ints("s", 0), ints("e", 2)]
LONG = {
    "an input": model(shape=[2**40]),
    "a tensor whose shape is computed": model(*FLAT, shape=[2**40], constants=FLAT_CONSTANTS, opset=18),
    "beside a shape that is computed": model(SLICE, *FLAT[:-1], helper.make_node("Slice", ["f", "s", "e"], ["z"]),
                                             shape=[2**40], constants=FLAT_CONSTANTS, opset=18),
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_long_tensors_cost_nothing(name: str, tmp_path: Any) -> None:
    """Run in a process with limited memory."""
    onnx.save(LONG[name], tmp_path / "model.onnx")
    code = f"""
import onnx, resource, sys
from backslice.onnx import slice_nodes
resource.setrlimit(resource.RLIMIT_AS, ({4 << 30}, {4 << 30}))
print(slice_nodes(onnx.load(sys.argv[1]))[-1].shape)"""
    command = [sys.executable, "-c", code, str(tmp_path / "model.onnx")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() in ("(1099511627776,)", "None", "(None,)")


def test_shapes_that_the_graph_computes_are_known() -> None:
    nodes = [helper.make_node("Shape", ["x"], ["n"]), helper.make_node("Slice", ["n", "s", "e", "axis"], ["one"]),
             helper.make_node("Concat", ["one", "six"], ["both"], axis=0),
             helper.make_node("Reshape", ["x", "both"], ["r"]), helper.make_node("Slice", ["r", "s", "e"], ["y"]),
             helper.make_node("Shape", ["y"], ["m"]), helper.make_node("Reshape", ["y", "m"], ["t"]),
             helper.make_node("Slice", ["t", "s", "e"], ["z"])]  # fmt: skip
    forward = model(
        *nodes, shape=[4, 2, 3], opset=18, constants=[ints("s", 0), ints("e", 1), ints("six", 6), ints("axis", 0)]
    )
    assert [node.shape for node in slice_nodes(forward)] == [(3,), (4, 6), (1, 6)]


def test_negative_extents_are_refused() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_onnx_hostile_models as t; t.refuse_negative_extents()"
    )
    run = subprocess.run([sys.executable, "-c", code, __file__.rpartition("/")[0]], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def refuse_negative_extents() -> None:
    in_constant = ints("s", 0)
    in_constant.dims[0] = -1
    for wrong, words in [(model(shape=[-4, 6]), "tensor 'x' has an extent of -4"),
                         (model(constants=[in_constant, ints("e", 2)]), "tensor 's' has an extent of -1")]:  # fmt: skip
        for function in (slice_nodes, gradient_nodes):
            with pytest.raises(bs.InvalidArgumentError, match=words):
                function(wrong)


def damaged() -> Any:
    constant = ints("s", 0)
    constant.raw_data = b"abc"
    return model(constants=[constant, ints("e", 2)])


CALLS_ITSELF = helper.make_function(
    "fun", "G", ["a"], ["o"], [helper.make_node("G", ["a"], ["o"], domain="fun")], [helper.make_opsetid("fun", 1)]
)
WRONG = {
    "a damaged constant": (damaged(), "damaged constant|cannot infer"),
    "a function that calls itself": (
        model(helper.make_node("G", ["x"], ["q"], domain="fun"), SLICE, functions=[CALLS_ITSELF]), "cannot infer"),
    "attributes of floats": (
        model(helper.make_node("Slice", ["x"], ["y"], starts=[0.5], ends=[2]), opset=9),
        "starts is an attribute of type FLOATS, expected INTS|cannot infer"),
    "one integer as attribute": (
        model(helper.make_node("Slice", ["x"], ["y"], starts=0, ends=[2]), opset=9),
        "starts is an attribute of type INT, expected INTS|cannot infer"),
    "steps as attribute": (
        model(helper.make_node("Slice", ["x"], ["y"], starts=[0], ends=[2], steps=[2]), opset=9),
        "steps is an attribute that Slice does not have; from opset 10"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_models_are_refused(name: str) -> None:
    given, words = WRONG[name]
    with pytest.raises(bs.InvalidArgumentError, match=words):
        gradient_nodes(given)


@pytest.mark.parametrize(("arguments", "words"), [
    ({"slices": 3}, "slices is 3, expected the names"), ({"slices": ["y", 3]}, "slices has 3, expected the names"),
    ({"suffix": None}, "suffix is None, expected a text"), ({"suffix": ""}, "suffix is '', expected a text"),
])  # fmt: skip
def test_wrong_arguments_are_refused(arguments: Any, words: str) -> None:
    with pytest.raises(bs.InvalidArgumentError, match=words):
        gradient_nodes(model(), **arguments)


def test_nodes_are_added_to_models_alone() -> None:
    with pytest.raises(bs.InvalidArgumentError, match=r"model is NoneType, expected an onnx.ModelProto"):
        gradient_nodes(model()).added_to(None)


def test_slices_inside_functions_are_counted_where_there_are_no_others() -> None:
    body = [helper.make_node("Constant", [], [name], value_ints=[1]) for name in ("s", "e")]
    body.append(helper.make_node("Slice", ["a", "s", "e"], ["o"]))
    function = helper.make_function("fun", "G", ["a"], ["o"], body, [helper.make_opsetid("", 13)])
    calling = model(helper.make_node("G", ["x"], ["y"], domain="fun"), functions=[function])
    with pytest.raises(bs.InvalidArgumentError, match="bodies of If, Loop and Scan, which are not looked at, have 1"):
        gradient_nodes(calling)


def test_constants_in_files_that_were_not_read_are_left_alone(tmp_path: Any, monkeypatch: Any) -> None:
    """Files in the current folder have no effect."""
    weights = numpy_helper.from_array(np.ones((4, 6), np.float32), "w")
    sum_node = helper.make_node("Add", ["x", "w"], ["t"])
    forward = model(sum_node, helper.make_node("Slice", ["t", "s", "e"], ["y"]),
                    constants=[weights, ints("s", 0), ints("e", 2)])  # fmt: skip
    onnx.save(forward, tmp_path / "model.onnx", save_as_external_data=True, location="data.bin", size_threshold=0)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    unread = onnx.load(tmp_path / "model.onnx", load_external_data=False)
    [node] = slice_nodes(unread)
    assert node.constants == {} and node.shape == (4, 6)
    both = gradient_nodes(unread).added_to(unread)
    assert {t.name for t in both.graph.initializer if t.data_location == TensorProto.EXTERNAL} == {"w", "s", "e"}
    onnx.save(both, tmp_path / "both.onnx")
    onnx.checker.check_model(tmp_path / "both.onnx")
