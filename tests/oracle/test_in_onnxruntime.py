"""backslice inside the real ONNX Runtime: runs the files of in_onnxruntime in the environments of three versions."""

import hashlib
import os
import subprocess
from functools import cache
from pathlib import Path

import beside
import onnx
import pytest
from backslice.bench.venvs import cache_folder, ensure, find
from backslice.onnxruntime import library_path
from onnx import TensorProto, helper

FOLDER = Path(__file__).with_name("in_onnxruntime")
EXPORT = Path(__file__).with_name("export_models.py")


@cache
def exported_models() -> dict[str, str]:
    """Pass the folder of models from PyTorch as an environment variable. They are made once, in PyTorch's
    environment."""
    folder = cache_folder().with_name("models") / hashlib.sha256(EXPORT.read_bytes()).hexdigest()[:12]
    if not (folder / ".ready").exists():
        if (python := find("torch")) is None:
            print("*** SKIPPED models from PyTorch: `python -m backslice.bench.venvs torch` makes them possible ***")
            return {}
        (packages,) = ensure("exporter").parents[1].glob("lib/python*/site-packages")
        folder.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"PYTHONPATH": str(packages)}
        subprocess.run([python, EXPORT, folder], check=True, timeout=600, env=environment)
        (folder / ".ready").touch()
    return {"BACKSLICE_MODELS": str(folder)}


@pytest.mark.parametrize("venv", ["onnxruntime", "onnxruntime-oldest", "onnxruntime-training"])
def test_the_checks_pass_inside_onnx_runtime(venv: str) -> None:
    lacking = ["ml_dtypes"] if venv == "onnxruntime-training" else []
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore", "-c", "pytest.ini"]
    done = subprocess.run(
        [str(ensure(venv)), "-m", "pytest", *quiet, "."],
        capture_output=True, text=True, timeout=600, env=beside.environment(*lacking, **exported_models()), cwd=FOLDER,
    )  # fmt: skip
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "passed" in done.stdout and "skipped" not in done.stdout


LANGUAGES = {"session.c": ["cc", "-std=c11"], "session.cc": ["c++", "-std=c++20"]}


@pytest.mark.parametrize("source", LANGUAGES)
def test_a_program_without_python(tmp_path: Path, source: str) -> None:
    """Run programs in C and C++ with the shared library of the newest wheel."""
    [runtime] = ensure("onnxruntime").parents[1].glob("lib/python*/site-packages/onnxruntime/capi/libonnxruntime.so.*")
    sources = [FOLDER / source, "-I", FOLDER.parents[2] / "adapters" / "onnxruntime"]
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    compiler = [*LANGUAGES[source], *warnings, *map(str, sources), "-o", str(tmp_path / "session"), "-ldl"]
    subprocess.run(compiler, check=True, timeout=120)
    model = saved_gradient(tmp_path)
    program = [str(tmp_path / "session"), str(runtime), library_path(), str(model)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_an_environment_variable_that_means_nothing_is_told_once(tmp_path: Path) -> None:
    """Check the memory of the smallest gradients, also of those planned before the run."""
    program = """
import sys, numpy as np, onnxruntime as ort
options = ort.SessionOptions()
options.log_severity_level = 4
options.add_session_config_entry("custom_op.SliceGrad.domain", "com.microsoft")
options.register_custom_ops_library(sys.argv[1])
session = ort.InferenceSession(sys.argv[2], options, providers=["CPUExecutionProvider"])
for _ in range(3):
    try:
        print(session.run(None, {"dY": np.ones((2, 2), np.float32)})[0].sum())
    except Exception as error:
        print(str(error).replace("\\n", " "))
"""
    command = [str(ensure("onnxruntime")), "-c", program, library_path(), str(saved_gradient(tmp_path))]
    environment = {**os.environ, "BACKSLICE_FORCE_TARGET": "nothing"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    first, *others = done.stdout.splitlines()
    assert 'BACKSLICE_FORCE_TARGET is "nothing"' in first and others == [first, first]


def saved_gradient(folder: Path) -> Path:
    """Return a model of dX, the gradient of x[1:3] of shape [4, 2]."""
    constants = {"shape": [4, 2], "starts": [1], "ends": [3]}
    node = helper.make_node("SliceGrad", ["dY", *constants], ["dX"], domain="com.microsoft")
    floats = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 2]) for name in ("dY", "dX")]
    tensors = [helper.make_tensor(name, TensorProto.INT64, [len(v)], v) for name, v in constants.items()]
    graph = helper.make_graph([node], "g", floats[:1], floats[1:], tensors)
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    onnx.save(model, folder / "gradient.onnx")
    return folder / "gradient.onnx"
