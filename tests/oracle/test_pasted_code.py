"""Code from `explain` and `convert` runs in the real TensorFlow and ONNX Runtime, with the same meaning."""

import json
import os
import subprocess

import backslice as bs
import numpy as np
import pytest
from backslice import dialects
from backslice.bench.venvs import ensure
from backslice.cli.peers import peers_on

TENSORFLOW = """
import json, sys
import tensorflow as tf

results = []
for case in json.load(sys.stdin):
    scope = {"tf": tf, "x": tf.constant(case["x"]), "dy": tf.constant(case["dy"])}
    exec(case["code"], scope)
    exec(case["gradient"], scope)
    results.append([scope["y"].numpy().tolist(), scope["dx"].numpy().tolist()])
print(json.dumps(results))
"""

ONNX = """
import json, sys
import numpy as np, onnxruntime
from onnx import TensorProto
from onnx.helper import make_graph, make_model, make_opsetid, make_tensor_value_info as info

def run(nodes, initializers, given, value, result):
    x = np.array(value, np.float32)
    graph = make_graph(nodes, "g", [info(given, TensorProto.FLOAT, x.shape)], [info(result, TensorProto.FLOAT, None)],
                       initializers)
    opsets = [make_opsetid("", 13), make_opsetid("com.microsoft", 1)]
    model = make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {given: x})[0].tolist()

results = []
for case in json.load(sys.stdin):
    scope = {}
    exec(case["code"], scope)
    y = run(scope["nodes"], scope["initializers"], "x", case["x"], "y")
    dx = None
    if case["gradient"]:
        exec(case["gradient"], scope)
        try:
            dx = run(scope["grad_nodes"], scope["grad_initializers"], "dY", case["dy"], "dX")
        except Exception as error:
            dx = str(error)
    results.append([y, dx])
print(json.dumps(results))
"""


def random_selections(count: int) -> list[bs.Selection]:
    """Return slices with elements, of ranks 1 to 3, with dropped and new axes."""
    random = np.random.default_rng(0)
    found = [bs.Selection.from_index((), ()), bs.Selection.from_index((3, 4), ())]
    while len(found) < count:
        shape = tuple(int(n) for n in random.integers(1, 6, random.integers(1, 4)))
        index: list = []
        for n in shape:
            if random.random() < 0.15:
                index.append(None)
            if random.random() < 0.25:
                index.append(int(random.integers(-n, n)))
            else:
                bounds = [None if random.random() < 0.3 else int(random.integers(-n - 1, n + 2)) for _ in range(2)]
                index.append(slice(*bounds, int(random.choice([-2, -1, 1, 2]))))
        selection = bs.Selection.from_index(shape, tuple(index))
        if 0 not in selection.result_shape:
            found.append(selection)
    return found


def paste(venv: str, program: str, dialect: str, has_gradient: bool) -> None:
    # ONNX's Slice does not accept scalars
    selections = [s for s in random_selections(300) if s.shape or dialect == "tf"]
    cases = []
    for s in selections:
        x = np.arange(1.0, 1 + np.prod(s.shape)).reshape(s.shape)
        dy = np.arange(1.0, 1 + np.prod(s.result_shape)).reshape(s.result_shape)
        gradient = dialects.code(s, dialect, gradient=True) if has_gradient else None
        cases.append({"x": x.tolist(), "dy": dy.tolist(), "code": dialects.code(s, dialect), "gradient": gradient})
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    command = [str(ensure(venv)), "-c", program]
    run = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, env=os.environ | quiet)
    assert run.returncode == 0, run.stderr[-2000:]
    gradients = failures = 0
    for s, case, (y, dx) in zip(selections, cases, json.loads(run.stdout.splitlines()[-1]), strict=True):
        assert np.array_equal(y, bs.slice(np.array(case["x"]), s)), case["code"]
        if not has_gradient:
            continue
        foretold = peers_on(s, np.dtype("float32"))["TensorFlow" if dialect == "tf" else "ONNX Runtime"]
        assert isinstance(dx, str) == foretold.startswith("fails"), (s, dx)
        failures += isinstance(dx, str)
        if not isinstance(dx, str):
            gradients += 1
            assert np.array_equal(dx, bs.slice_grad(np.array(case["dy"]), s.shape, s)), case["gradient"]
    print(f"\n{venv}: {len(cases)} slices and {gradients} gradients pasted, {failures} failed as foretold")
    assert not has_gradient or gradients > 100


def test_tensorflow_code():
    paste("tensorflow", TENSORFLOW, "tf", has_gradient=True)


@pytest.mark.parametrize("venv", ["onnxruntime", "onnxruntime-training"])
def test_onnx_code(venv):
    """Only the training wheel has SliceGrad, and `explain` lists the slices on which it fails."""
    paste(venv, ONNX, "onnx", has_gradient=venv == "onnxruntime-training")
