"""backslice onnx: the slices of a model, with pictures and costs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from command_line import answer, backslice, refuses
from onnx import TensorProto, helper

CONSTANTS = {"starts": [2, 4], "ends": [10, 16], "axes": [0, 1], "zeros": [0, 1]}


def saved(folder: Path, *nodes: Any, elem_type: int = TensorProto.FLOAT) -> Path:
    x = helper.make_tensor_value_info("x", elem_type, [16, 24])
    dynamic = helper.make_tensor_value_info("where", TensorProto.INT64, [2])
    unknown = helper.make_tensor_value_info("unknown", TensorProto.FLOAT, ["rows", 24])
    constants = [helper.make_tensor(name, TensorProto.INT64, [2], values) for name, values in CONSTANTS.items()]
    outputs = [helper.make_tensor_value_info(nodes[0].output[0], elem_type, None)] if nodes else []
    graph = helper.make_graph(list(nodes), "g", [x, dynamic, unknown], outputs, constants)
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def sliced(*inputs: str, output: str = "y", name: str = "") -> Any:
    return helper.make_node("Slice", list(inputs), [output], name=name)


CROP = sliced("x", "starts", "ends", output="crop", name="first crop")


def shown(path: Path) -> str:
    code, text, error = answer("onnx", path)
    assert code == 0, error
    return text


def told(path: Path) -> Any:
    code, text, error = answer("onnx", path, "--json")
    assert code == 0, error
    return json.loads(text)


def test_a_slice_has_a_picture_and_a_cost(tmp_path):
    text = shown(saved(tmp_path, CROP))
    assert "1 slice\n" in text
    assert "first crop: crop = x[2:10, 4:16], of shape [16, 24]" in text
    assert "████" in text
    assert "Gradient (float32): reads 384 bytes, writes 1.5 KiB" in text


def test_what_is_not_known_ahead_is_named(tmp_path):
    text = shown(saved(tmp_path, sliced("x", "where", "ends"), sliced("unknown", "starts", "ends", output="z")))
    assert "Known when the model runs: starts\n" in text
    assert "z = unknown[...], of shape [?, 24]" in text
    assert "Known when the model runs: the shape of unknown\n" in text


def test_a_slice_that_nothing_runs_is_told_beside_the_others(tmp_path):
    text = shown(saved(tmp_path, sliced("x", "starts", "ends", "axes", "zeros"), CROP))
    assert "Refused: Slice 'y': steps[0] must be non-zero" in text and "first crop" in text


def test_json_has_everything(tmp_path):
    path = saved(tmp_path, CROP, sliced("x", "where", "ends"))
    found = told(path)
    assert found["model"] == str(path)
    first, second = found["slices"]
    assert first["index"] == "x[2:10, 4:16]" and first["cost"]["bytes_written"] == 16 * 24 * 4
    assert first["constants"] == {"starts": [2, 4], "ends": [10, 16]} and first["dynamic"] == []
    assert second["dynamic"] == ["starts"] and "cost" not in second


@pytest.mark.parametrize("elem_type", sorted(set(TensorProto.DataType.values()) - {0}))
def test_every_element_type(tmp_path, elem_type):
    [found] = told(saved(tmp_path, CROP, elem_type=elem_type))["slices"]
    dtype = "object" if found["dtype"] == "string" else found["dtype"]
    assert np.dtype(onnx.helper.tensor_dtype_to_np_dtype(elem_type)) == np.dtype(dtype)
    assert "cost" in found or "has no zero" in found["error"]


@pytest.mark.parametrize(("name", "per_byte"), [("FLOAT8E5M2", 1), ("INT4", 2), ("UINT4", 2), ("FLOAT4E2M1", 2)])
def test_elements_that_onnx_packs_cost_less_than_a_byte(tmp_path, name, per_byte):
    [found] = told(saved(tmp_path, CROP, elem_type=getattr(TensorProto, name)))["slices"]
    assert found["cost"]["bytes_written"] == 16 * 24 // per_byte
    assert found["cost"]["bytes_read"] == 8 * 12 // per_byte


def test_strings_are_called_strings(tmp_path):
    assert "Gradient (string)" in shown(saved(tmp_path, CROP, elem_type=TensorProto.STRING))


def test_slices_inside_bodies_and_functions_are_counted(tmp_path):
    body = helper.make_graph([CROP], "b", [], [helper.make_tensor_value_info("crop", TensorProto.FLOAT, None)])
    condition = helper.make_node("Constant", [], ["c"], value=helper.make_tensor("c", TensorProto.BOOL, [], [True]))
    path = saved(tmp_path, condition, helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body))
    assert "0 slices\n" in shown(path)
    assert "Not listed: 2 slices inside functions and the bodies of If, Loop and Scan" in shown(path)
    assert told(path)["not_listed"] == 2


@pytest.mark.parametrize(("array", "words"), [
    (np.zeros(2, np.float32), "starts is a constant of type float, expected int32 or int64"),
    (np.array(0), r"starts is a constant of shape [], expected a list"),
])  # fmt: skip
def test_a_constant_that_is_no_list_of_integers_is_refused(tmp_path, array, words):
    model = onnx.load(saved(tmp_path, CROP))
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(array, "starts"))
    onnx.save(model, tmp_path / "model.onnx")
    text = shown(tmp_path / "model.onnx")
    assert "Refused: Slice 'first crop': " + words in text and "Known when" not in text


def test_constants_in_a_file_are_read_beside_the_model_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    path = saved(tmp_path / "inside", CROP)
    model = onnx.load(path)
    for tensor in model.graph.initializer:  # only raw bytes are moved to files
        tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), tensor.name))
    onnx.save(model, path, save_as_external_data=True, location="lists.bin", size_threshold=0)
    decoy = np.array([[5, 5], [6, 6], [7, 7], [8, 8]], np.int64)
    (tmp_path / "lists.bin").write_bytes(decoy.tobytes() * 2000)
    for folder in (tmp_path, tmp_path / "inside"):
        monkeypatch.chdir(folder)
        assert told(path)["slices"][0]["index"] == "x[2:10, 4:16]"
    (tmp_path / "inside" / "lists.bin").unlink()
    refuses(1, "the values of 'starts' are in a file beside the model, which cannot be read", "onnx", path)


def test_a_type_that_onnx_does_not_know(tmp_path):
    assert told(saved(tmp_path, CROP, elem_type=99))["slices"][0]["dtype"] is None
    assert "the element type is not known" in shown(saved(tmp_path, CROP, elem_type=99))


def test_a_model_without_slices(tmp_path):
    assert "0 slices" in shown(saved(tmp_path, helper.make_node("Relu", ["x"], ["y"])))


def test_names_cannot_command_the_terminal(tmp_path):
    text = shown(saved(tmp_path, sliced("x", "starts", "ends", name="\x1b[2J\x07evil", output="[bold]y")))
    assert "\x1b[2J" not in text and "\x07" not in text
    assert r"\x1b[2J\x07evil" in text and "[bold]y" in text


def test_what_is_no_model_is_refused(tmp_path):
    refuses(1, "nowhere.onnx: No such file", "onnx", tmp_path / "nowhere.onnx")
    refuses(1, "Is a directory", "onnx", tmp_path)
    for content, words in [(b"", "it has no graph"), (b"\xff" * 50, "is no ONNX model"), (b"PK\x03\x04", "is no ONNX")]:
        (tmp_path / "bad.onnx").write_bytes(content)
        refuses(1, words, "onnx", tmp_path / "bad.onnx")


def test_a_damaged_model_is_refused_or_read(tmp_path):
    content = saved(tmp_path, CROP).read_bytes()
    random = np.random.default_rng(7)
    for _ in range(200):
        damaged = bytearray(content)
        for place in random.integers(0, len(damaged), 3):
            damaged[place] = random.integers(0, 256)
        (tmp_path / "bad.onnx").write_bytes(bytes(damaged[: random.integers(1, len(damaged))]))
        answer("onnx", tmp_path / "bad.onnx")  # one line if it is refused, never a traceback


def test_without_the_package_onnx_it_says_what_to_install(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['onnx'] = None")
    run = backslice("onnx", saved(tmp_path, CROP), env={"PYTHONPATH": str(tmp_path)})
    assert run.returncode == 1 and "`pip install onnx` installs it" in run.stderr and "Traceback" not in run.stderr
