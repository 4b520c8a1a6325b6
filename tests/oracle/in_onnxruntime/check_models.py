"""Models without our operators load, compute and are optimised as without our session options, at every level."""

import os
import shutil
from pathlib import Path
from typing import Any

import models
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from backslice import FailedPreconditionError, InvalidArgumentError
from backslice.onnx import gradient_nodes
from backslice.onnxruntime import library_path, session_options
from onnx import TensorProto, helper

LEVELS = list(ort.GraphOptimizationLevel.__members__.values())
EXPORTED = models.saved(Path(os.environ["BACKSLICE_MODELS"])) if "BACKSLICE_MODELS" in os.environ else {}


def serialized(name: str) -> bytes:
    return EXPORTED[name].read_bytes() if name in EXPORTED else bytes(models.MODELS[name]().SerializeToString())


def session(model: bytes, options: Any, level: Any = ort.GraphOptimizationLevel.ORT_ENABLE_ALL, saved: Any = "") -> Any:
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.optimized_model_filepath = str(saved)
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def feeds(made: Any) -> dict[str, Any]:
    random = np.random.default_rng(3)
    return {i.name: random.normal(size=i.shape).astype(np.float32) for i in made.get_inputs()}


def results(made: Any) -> list[Any]:
    return [(array.shape, array.tobytes()) for array in made.run(None, feeds(made))]


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
@pytest.mark.parametrize("name", [*models.MODELS, *EXPORTED])
def test_values_are_equal_with_and_without_us(name: str, level: Any) -> None:
    model = serialized(name)
    expected = results(session(model, ort.SessionOptions(), level))
    assert results(session(model, session_options(), level)) == expected
    assert results(session(model, session_options(model), level)) == expected


@pytest.mark.parametrize("name", [*models.MODELS, *EXPORTED])
def test_the_optimiser_makes_the_same_nodes(name: str, tmp_path: Path) -> None:
    kinds = []
    for options in (ort.SessionOptions(), session_options()):
        session(serialized(name), options, saved=tmp_path / "optimised.onnx")
        kinds.append([(node.domain, node.op_type) for node in onnx.load(tmp_path / "optimised.onnx").graph.node])
    assert kinds[0] == kinds[1]
    session((tmp_path / "optimised.onnx").read_bytes(), ort.SessionOptions())  # it needs nothing of ours


@pytest.mark.parametrize("name", models.MODELS)
def test_the_optimiser_makes_nodes_of_com_microsoft(name: str, tmp_path: Path) -> None:
    """Otherwise the tests above could not fail."""
    session(serialized(name), ort.SessionOptions(), saved=tmp_path / "optimised.onnx")
    assert any(node.domain == "com.microsoft" for node in onnx.load(tmp_path / "optimised.onnx").graph.node)


def model_with_gradients(name: str) -> bytes | None:
    """A model and the gradients of its slices; None if it has no slices that have gradients."""
    forward = onnx.shape_inference.infer_shapes(onnx.load_from_string(serialized(name)))
    try:
        made = gradient_nodes(forward)
    except InvalidArgumentError:
        return None
    return bytes(made.added_to(forward).SerializeToString())


SLICED = [name for name in [*models.MODELS, *EXPORTED] if model_with_gradients(name) is not None]


def test_there_are_models_with_slices() -> None:
    assert {"lstm", "swin"} <= set(SLICED)
    assert not EXPORTED or {"torch_swin", "torch_unet"} <= set(SLICED)


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
@pytest.mark.parametrize("name", SLICED)
def test_models_with_the_gradients_of_their_slices(name: str, level: Any) -> None:
    both = model_with_gradients(name)
    made, plain = (session(both, session_options(), chosen) for chosen in (level, LEVELS[0]))
    for found, expected in zip(made.run(None, feeds(made)), plain.run(None, feeds(made)), strict=True):
        assert np.allclose(found, expected, atol=1e-5)


def with_slice_grad(domain: str) -> bytes:
    """Gemm and Relu, whose result is the gradient of rows 1 to 4 of eight."""
    model = models.gemm_and_relu()
    lists = {"shape": [8, 4], "starts": [1], "ends": [5]}
    model.graph.initializer.extend(helper.make_tensor(n, TensorProto.INT64, [len(v)], v) for n, v in lists.items())
    result = model.graph.output[0].name
    model.graph.node.append(helper.make_node("SliceGrad", [result, *lists], ["dX"], domain=domain))
    model.graph.output.append(helper.make_tensor_value_info("dX", TensorProto.FLOAT, [8, 4]))
    model.opset_import.append(helper.make_opsetid(domain, 1))
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
@pytest.mark.parametrize("domain", ["backslice", "com.microsoft"])
@pytest.mark.parametrize("form", ["bytes", "str", "path", "ort"])
def test_slice_grad_in_both_domains(domain: str, form: str, level: Any, tmp_path: Path) -> None:
    given: Any = with_slice_grad(domain)
    if form != "bytes":
        path = tmp_path / ("model.ort" if form == "ort" else "model.onnx")
        if form == "ort":
            options = session_options(given)
            options.add_session_config_entry("session.save_model_format", "ORT")
            session(given, options, saved=path)
        else:
            path.write_bytes(given)
        given = str(path) if form == "str" else path
    made = session(given, session_options(given), level)
    y, dx = made.run(None, feeds(made))
    assert dx[1:5].tobytes() == y.tobytes() and not dx[0].any() and not dx[5:].any()


def test_com_microsoft_is_there_on_request_alone() -> None:
    """Registering breaks models that do not import the domain, which is the reason."""
    options = ort.SessionOptions()
    options.add_session_config_entry("custom_op.SliceGrad.domain", "com.microsoft")
    options.register_custom_ops_library(library_path())
    session(with_slice_grad("com.microsoft"), options)
    with pytest.raises(Exception, match=r"FusedGemm\(-1\) is not a registered function/op"):
        session(serialized("gemm_and_relu"), options)


def test_another_domain_is_refused() -> None:
    options = ort.SessionOptions()
    options.add_session_config_entry("custom_op.SliceGrad.domain", "microsoft")
    with pytest.raises(Exception, match=r'custom_op.SliceGrad.domain is "microsoft", expected "com.microsoft"'):
        options.register_custom_ops_library(library_path())


def test_another_library_with_our_domain_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """A copy of ours is a library that registers the same domain and the same operators."""
    other = tmp_path / "other.so"
    shutil.copyfile(library_path(), other)
    other.write_bytes(other.read_bytes().replace(b"backslice.registered.", b"somebody_.registered."))
    options = session_options()
    text = rf"^ONNX Runtime does not accept {other} beside backslice's operators \(.*Domain already set in registry.*\)"
    with pytest.raises(FailedPreconditionError, match=text):
        options.register_custom_ops_library(str(other))
    session(with_slice_grad("backslice"), options)  # as before

    without = ort.SessionOptions()
    without.register_custom_ops_library(str(other))
    session(with_slice_grad("backslice"), without)


def test_another_library_that_cannot_be_loaded_gets_the_error_of_onnx_runtime() -> None:
    with pytest.raises(Exception, match=r"cannot open shared object file"):
        session_options().register_custom_ops_library("/nowhere/library.so")


def test_registering_again_is_harmless() -> None:
    model = with_slice_grad("com.microsoft")
    options = session_options()
    options.register_custom_ops_library(library_path())
    options.add_session_config_entry("custom_op.SliceGrad.domain", "com.microsoft")
    for _ in range(2):
        options.register_custom_ops_library(library_path())
    assert len(session(model, options).run(None, {"x": np.ones((4, 4), np.float32)})) == 2
