"""The slices of ONNX models, and the nodes of their gradients. tests/oracle runs the nodes in ONNX Runtime."""

import subprocess
import sys
from typing import Any

import backslice as bs
import onnx
import pytest
from backslice.onnx import gradient_nodes, slice_nodes
from onnx import TensorProto, helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def info(name: str, elem_type: int = FLOAT, shape: Any = (4, 6)) -> Any:
    return helper.make_tensor_value_info(name, elem_type, shape)


def ints(name: str, *values: int) -> Any:
    return helper.make_tensor(name, INT64, [len(values)], values)


def model(nodes: list[Any], *, opset: int = 13, inputs: Any = (), outputs: Any = (), constants: Any = ()) -> Any:
    graph = helper.make_graph(nodes, "g", list(inputs) or [info("x")], list(outputs), list(constants))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("known", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def sliced(data: str, output: str, **attributes: Any) -> Any:
    return helper.make_node("Slice", [data], [output], **attributes)


def old(*nodes: Any, opset: int = 9) -> Any:
    """Return a model of slices with attributes, whose outputs are the outputs of the nodes."""
    return model(list(nodes), opset=opset, outputs=[info(node.output[0], shape=(None, None)) for node in nodes])


@pytest.mark.parametrize("opset", range(1, 10))
def test_attributes_of_the_first_opsets(opset):
    forward = old(sliced("x", "y", starts=[1], ends=[3], axes=[1]), opset=opset)
    [node] = slice_nodes(forward)
    assert node.is_constant and node.inputs == {}
    assert node.selection() == bs.Selection.from_index((4, 6), ":, 1:3")
    both = gradient_nodes(forward).added_to(forward)
    onnx.checker.check_model(both, full_check=True)
    assert [d.dim_value for d in both.graph.input[1].type.tensor_type.shape.dim] == [4, 2]


@pytest.mark.parametrize("ir_version", [3, 4, 8])
def test_constants_are_inputs_too_in_the_oldest_format(ir_version):
    forward = old(sliced("x", "y", starts=[1], ends=[3]))
    forward.ir_version = ir_version
    both = gradient_nodes(forward).added_to(forward)
    onnx.checker.check_model(both, full_check=True)
    assert ("x_grad_shape" in [i.name for i in both.graph.input]) == (ir_version < 4)


@pytest.mark.parametrize("opset", [10, 11, 13, 18, 21])
def test_inputs_of_later_opsets(opset):
    node = helper.make_node("Slice", ["x", "s", "e", "", "t"], ["y"])
    forward = model([node], opset=opset, outputs=[info("y", shape=(None, None))],
                    constants=[ints("s", 0, 5), ints("e", 4, -9), ints("t", 2, -2)])  # fmt: skip
    assert slice_nodes(forward)[0].selection() == bs.Selection.from_index((4, 6), "::2, ::-2")
    gradients = gradient_nodes(forward)
    assert list(gradients.nodes[0].input) == ["y_grad", "x_grad_shape", "s", "e", "", "t"]
    onnx.checker.check_model(gradients.added_to(forward), full_check=True)


def test_constant_nodes_are_known_ahead_and_inputs_with_defaults_are_not():
    nodes = [helper.make_node("Constant", [], ["s"], value_ints=[1]),
             helper.make_node("Constant", [], ["e"], value=ints("e", 3)),
             helper.make_node("Slice", ["x", "s", "e"], ["y"])]  # fmt: skip
    assert slice_nodes(model(nodes))[0].constants == {"starts": [1], "ends": [3]}
    overridable = model(nodes[2:], inputs=[info("x"), info("s", INT64, [1])], constants=[ints("s", 1), ints("e", 3)])
    [node] = slice_nodes(overridable)
    assert node.constants == {"ends": [3]} and not node.is_constant and node.selection() is None


def test_shapes_that_are_not_known_are_read_when_the_model_runs():
    node = helper.make_node("Slice", ["x", "s", "e"], ["y"])
    inputs = [info("x", shape=("rows", 6)), info("s", INT64, [1]), info("e", INT64, [1])]
    forward = model([node], inputs=inputs, outputs=[info("y", shape=(None, None))])
    gradients = gradient_nodes(forward)
    assert [n.op_type for n in gradients.nodes] == ["Shape", "SliceGrad"]
    onnx.checker.check_model(gradients.added_to(forward), full_check=True)


def test_a_slice_that_is_only_sliced_again_needs_no_gradient_from_outside():
    forward = old(sliced("x", "y", starts=[1], ends=[3]), sliced("y", "z", starts=[0], ends=[1]))
    del forward.graph.output[0]
    gradients = gradient_nodes(forward)
    assert gradients.dys == {"z": "z_grad"}
    assert gradients.dxs == {"x": "x_grad", "y": "y_grad"}
    assert [(n.op_type, n.output[0]) for n in gradients.nodes] == [("SliceGrad", "y_grad"), ("SliceGrad", "x_grad")]
    gradients.added_to(forward)


def test_a_slice_that_is_sliced_again_and_used_adds_both_gradients():
    forward = old(sliced("x", "y", starts=[1], ends=[3]), sliced("y", "z", starts=[0], ends=[1]))
    gradients = gradient_nodes(forward)
    assert gradients.dys == {"y": "y_grad", "z": "z_grad"}
    assert gradients.dxs == {"x": "x_grad", "y": "y_grad_total"}
    assert [n.op_type for n in gradients.nodes] == ["SliceGradAccumulate", "SliceGrad"]
    assert gradients.nodes[1].input[0] == "y_grad_total"
    gradients.added_to(forward)


def op_types(gradients: Any) -> list[str]:
    return [node.op_type for node in gradients.nodes]


def constant(gradients: Any, name: str) -> Any:
    """Return the values of one of the constants that the nodes read."""
    [tensor] = [tensor for tensor in gradients.initializers if tensor.name == name]
    return onnx.numpy_helper.to_array(tensor).tolist()


def test_several_slices_of_a_tensor_are_one_node():
    nodes = [helper.make_node("Slice", ["x", "s", "e"], ["y"]), helper.make_node("Slice", ["x", "s", "e", "a"], ["z"]),
             helper.make_node("Slice", ["x", "s2", "e2", "a2", "t2"], ["w"])]  # fmt: skip
    forward = model(nodes, outputs=[info(name, shape=(None, None)) for name in "yzw"],
                    constants=[ints("s", 1), ints("e", 3), ints("a", -1), ints("s2", 5, 0), ints("e2", -9, 4),
                               ints("a2", 1, 0), ints("t2", -2, 3)])  # fmt: skip
    gradients = gradient_nodes(forward)
    assert op_types(gradients) == ["MultiSliceGrad"] and gradients.sums == {}
    assert list(gradients.nodes[0].input[5:]) == ["y_grad", "z_grad", "w_grad"]
    end = 2**63 - 1
    assert constant(gradients, "x_grad_all_starts") == [[1, 0], [0, 1], [0, 5]]
    assert constant(gradients, "x_grad_all_ends") == [[3, end], [end, 3], [4, -9]]
    assert constant(gradients, "x_grad_all_axes") == [[0, 1]] * 3
    assert constant(gradients, "x_grad_all_steps") == [[1, 1], [1, 1], [3, -2]]
    onnx.checker.check_model(gradients.added_to(forward), full_check=True)


@pytest.mark.parametrize("opset", [1, 9])
def test_several_slices_with_attributes_are_one_node(opset):
    forward = old(sliced("x", "y", starts=[1], ends=[3]), sliced("x", "z", starts=[0], ends=[2], axes=[1]), opset=opset)
    gradients = gradient_nodes(forward)
    assert op_types(gradients) == ["MultiSliceGrad"]
    onnx.checker.check_model(gradients.added_to(forward), full_check=True)


def test_several_slices_of_a_slice_that_is_used_are_one_node_too():
    """No name is used twice, even if a slice and a slice of it have the same name."""
    forward = old(sliced("x", "y", starts=[1], ends=[3]), sliced("y", "z", starts=[0], ends=[1]),
                  sliced("y", "w", starts=[1], ends=[2], axes=[1]))  # fmt: skip
    gradients = gradient_nodes(forward)
    assert op_types(gradients) == ["MultiSliceGrad", "SliceGrad"]
    assert list(gradients.nodes[0].input[5:]) == ["y_grad", "z_grad", "w_grad"]
    assert constant(gradients, "y_grad_total_all_ends")[0] == [2**63 - 1] * 2
    gradients.added_to(forward)
    del forward.graph.output[0]
    gradients = gradient_nodes(forward)
    assert op_types(gradients) == ["MultiSliceGrad", "SliceGrad"]
    gradients.added_to(forward)


def dynamic(*inputs: Any, constants: Any = (), x: Any = ("rows", 6)) -> Any:
    """Return a model of two slices whose lists are the model's inputs or constants, a for the first and b for the
    other."""
    named = {value.name for value in [*inputs, *constants]}
    nodes = [
        helper.make_node("Slice", ["x", *(f"{what}_{i}" if f"{what}_{i}" in named else "" for what in "seat")], [out])
        for i, out in [("a", "y"), ("b", "z")]
    ]
    outputs = [info(name, shape=(None, None)) for name in "yz"]
    return model(nodes, inputs=[info("x", shape=x), *inputs], outputs=outputs, constants=constants)


def test_lists_that_are_known_when_the_model_runs_are_put_together_then():
    lists = [info(name, INT64, [1]) for name in ("e_a", "s_b")]
    gradients = gradient_nodes(forward := dynamic(*lists, constants=[ints("s_a", 0), ints("e_b", 9), ints("t_b", 2)]))
    assert op_types(gradients) == ["Shape", *["Concat", "Reshape"] * 2, "MultiSliceGrad"]
    assert list(gradients.nodes[1].input) == ["x_grad_all_starts_0", "s_b"]
    assert constant(gradients, "x_grad_all_starts_0") == [0]
    assert constant(gradients, "x_grad_all_axes") == [[0], [0]] and constant(gradients, "x_grad_all_steps") == [
        [1],
        [2],
    ]
    onnx.checker.check_model(gradients.added_to(forward), full_check=True)


LONE = {
    "a length that is not known": [info(name, INT64, [None]) for name in ("s_a", "e_a", "s_b", "e_b")],
    "lengths that differ": [info(f"{what}_{i}", INT64, [n]) for i, n in [("a", 1), ("b", 2)] for what in "se"],
    "types that differ": [
        info(f"{what}_{i}", kind, [1]) for i, kind in [("a", INT64), ("b", TensorProto.INT32)] for what in "se"
    ],
    "lists without entries": [info(name, INT64, [0]) for name in ("s_a", "e_a", "s_b", "e_b")],
}


@pytest.mark.parametrize("name", LONE)
def test_lists_that_may_not_fit_together_are_added_one_by_one(name):
    gradients = gradient_nodes(forward := dynamic(*LONE[name]))
    assert op_types(gradients) == ["Shape", "SliceGrad", "SliceGradAccumulate"]
    assert gradients.sums == {"x": ["x_grad_0"]}
    onnx.checker.check_model(gradients.added_to(forward), full_check=True)


def test_constants_that_are_wrong_are_left_to_the_run_where_extents_are_not_known():
    lists = [ints("s_a", 0), ints("e_a", 1), ints("s_b", 0, 0), ints("e_b", 1, 1)]
    assert op_types(gradient_nodes(dynamic(constants=lists)))[-1] == "MultiSliceGrad"
    for axes in [ints("a_b", 0, 2), ints("a_b", 1, -1), ints("a_b", 0)]:
        assert op_types(gradient_nodes(dynamic(constants=[*lists, axes])))[-1] == "SliceGradAccumulate"


def test_constants_of_one_length_need_no_rank():
    lists = [ints("s_a", 0), ints("e_a", 1), ints("s_b", 0), ints("e_b", 1), ints("a_b", -1)]
    gradients = gradient_nodes(dynamic(constants=lists, x=None))
    assert op_types(gradients) == ["Shape", "MultiSliceGrad"]
    assert constant(gradients, "x_grad_all_axes") == [[0], [-1]]


def test_a_use_inside_a_body_counts():
    body = helper.make_graph([helper.make_node("Neg", ["y"], ["n"])], "b", [], [info("n", shape=(None, None))])
    nodes = [sliced("x", "y", starts=[1], ends=[3]), sliced("y", "z", starts=[0], ends=[1]),
             helper.make_node("If", ["c"], ["out"], then_branch=body, else_branch=body)]  # fmt: skip
    forward = model(nodes, opset=9, inputs=[info("x"), info("c", TensorProto.BOOL, [])],
                    outputs=[info("z", shape=(None, None)), info("out", shape=(None, None))])  # fmt: skip
    assert set(gradient_nodes(forward).dys) == {"y", "z"}
    body.node[0].output[0] = "z_grad"
    clash = model([*nodes[:2], helper.make_node("If", ["c"], ["out"], then_branch=body, else_branch=body)], opset=9,
                  inputs=[info("x"), info("c", TensorProto.BOOL, [])])  # fmt: skip
    with pytest.raises(bs.InvalidArgumentError, match="'z_grad' already; give another suffix"):
        gradient_nodes(clash)


def test_slices_of_integers_are_left_out_unless_they_are_named():
    nodes = [helper.make_node("Shape", ["x"], ["n"]), sliced("n", "rows", starts=[0], ends=[1]),
             sliced("x", "y", starts=[1], ends=[3])]  # fmt: skip
    forward = model(nodes, opset=9, outputs=[info("rows", INT64, [1]), info("y", shape=(2, 6))])
    assert gradient_nodes(forward).dxs == {"x": "x_grad"}
    assert gradient_nodes(forward, slices=["rows"]).dxs == {"n": "n_grad"}
    assert gradient_nodes(forward, slices="rows").dxs == {"n": "n_grad"}
    del forward.graph.node[2]
    with pytest.raises(bs.InvalidArgumentError, match=r"of other types it has 1, which slices=\[name"):
        gradient_nodes(forward)


def test_types_that_onnx_does_not_know_are_left_out():
    forward = old(sliced("x", "y", starts=[1], ends=[3]))
    forward.graph.input[0].type.tensor_type.elem_type = 99
    with pytest.raises(bs.InvalidArgumentError, match="of other types it has 1"):
        gradient_nodes(forward)


BAD = {
    "no slice": (model([helper.make_node("Relu", ["x"], ["y"])]), {}, "no Slice node of .* gradient to make$"),
    "a name of none": (old(sliced("x", "y", starts=[1], ends=[3])), {"slices": ["q"]}, "slices has 'q'"),
    "no names": (old(sliced("x", "y", starts=[1], ends=[3])), {"slices": []}, "slices is empty"),
    "a repeated axis": (old(sliced("x", "y", starts=[1, 1], ends=[3, 3], axes=[0, 0])), {}, "Slice 'y': .*twice"),
    "a step of 0": (
        model([helper.make_node("Slice", ["x", "s", "e", "a", "t"], ["y"])],
              constants=[ints("s", 1), ints("e", 3), ints("a", 0), ints("t", 0)]), {}, "Slice 'y': .*non-zero"),
    "no ends": (old(sliced("x", "y", starts=[1])), {}, "Slice 'y' has no attribute ends, which opset 9 wants"),
    "no starts": (model([helper.make_node("Slice", ["x"], ["y"])]), {}, "no input ends, which opset 13 wants"),
    "no inputs": (model([helper.make_node("Slice", [], ["y"])]), {}, "Slice 'y' has 0 inputs"),
    "a path": ("model.onnx", {}, r"model is str, expected an onnx.ModelProto; onnx.load"),
    "names that are alike": (
        model([sliced("x", "y", starts=[1], ends=[3]), sliced("xpe_sha", "q", starts=[1], ends=[3])], opset=9,
              inputs=[info("x"), info("xpe_sha")]), {"suffix": "pe"},
        "two new tensors would be named 'xpe_shape'; give another suffix"),
    "a name that is taken": (
        old(sliced("x", "x_grad", starts=[1], ends=[3])), {}, "'x_grad' already; give another suffix"),
    "an unknown domain": (
        model([helper.make_node("Custom", ["x"], ["c"], domain="unknown")]), {}, "onnx cannot infer the shapes"),
    "an unknown type": (
        model([helper.make_node("Custom", ["x"], ["c"], domain="known"), sliced("c", "y", starts=[1], ends=[3])],
              opset=9), {}, "the type of 'c', which Slice 'y' slices, is not known"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_has_no_gradient_is_refused(name):
    given, options, words = BAD[name]
    with pytest.raises(bs.InvalidArgumentError, match=words):
        gradient_nodes(given, **options)


def test_models_that_onnx_refuses_are_refused():
    forward = old(sliced("x", "y", starts=[1], ends=[3]))
    gradients = gradient_nodes(forward)
    forward.graph.node[0].op_type = "NoSuchOperator"
    with pytest.raises(bs.InvalidArgumentError, match="onnx refuses the model"):
        gradients.added_to(forward)


def test_an_unknown_rank_is_refused_only_for_a_whole_model():
    forward = model([sliced("x", "y", starts=[1], ends=[3])], opset=9, inputs=[info("x", shape=None)])
    gradients = gradient_nodes(forward)
    assert [n.op_type for n in gradients.nodes] == ["Shape", "SliceGrad"]
    with pytest.raises(bs.InvalidArgumentError, match="the rank of 'x', which Slice 'y' slices, is not known"):
        gradients.added_to(forward)


def test_the_forward_model_stays_as_it_was():
    forward = old(sliced("x", "y", starts=[1], ends=[3]))
    before = forward.SerializeToString()
    gradient_nodes(forward).added_to(forward)
    assert forward.SerializeToString() == before


def test_without_the_package_onnx_the_import_says_what_to_do():
    code = "import sys; sys.modules['onnx'] = None; import backslice.onnx"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1 and "`pip install onnx` installs it" in run.stderr


def test_importing_backslice_imports_no_onnx():
    code = "import sys, backslice, backslice.onnxruntime; assert not {'onnx', 'onnxruntime'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
