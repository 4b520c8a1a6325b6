"""Any input gives a result or one line: no traceback, and a meaningful exit code."""

import json
import os

import numpy as np
import pytest
from command_line import answer
from hypothesis import given, settings
from hypothesis import strategies as st

numbers = st.integers(-7, 7).map(str) | st.sampled_from(
    ["INT_MAX", "INT_MIN", "0x3", "", "2**3", "1e3", str(2**70), "x"]
)
lists = st.lists(numbers, max_size=4).map(",".join) | st.lists(numbers, max_size=3).map(lambda n: f"[{', '.join(n)}]")
shapes = st.lists(st.integers(0, 6).map(str), max_size=4).map(",".join) | lists
items = (
    st.lists(numbers, max_size=4).map(":".join) | st.sampled_from(["...", "None", ":", "::-1"]) | st.text(max_size=4)
)
indices = st.lists(items, max_size=5).map(", ".join)
tf_names = [
    "begin",
    "end",
    "strides",
    "begin_mask",
    "end_mask",
    "ellipsis_mask",
    "new_axis_mask",
    "shrink_axis_mask",
    "z",
]
tf = st.lists(st.tuples(st.sampled_from(tf_names), lists), max_size=5).map(lambda p: [f"{n}={v}" for n, v in p])
onnx_names = ["starts", "ends", "axes", "steps", "begin"]
onnx = st.lists(st.tuples(st.sampled_from(onnx_names), lists), max_size=5).map(lambda p: [f"{n}={v}" for n, v in p])
slices = indices.map(lambda i: ["--index", i]) | tf.map(lambda t: ["--tf", *t]) | onnx.map(lambda o: ["--onnx", *o])


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(["explain", "convert"]), shapes, slices)
def test_explain_and_convert(command, shape, spec):
    arguments = [spec[1]] if spec[0] == "--index" else spec
    code, out, _ = answer(command, shape, *arguments, "--json")
    if code == 0:
        json.loads(out)
        assert answer(command, shape, *arguments)[0] == 0


@settings(max_examples=200, deadline=None)
@given(shapes, slices, st.sampled_from(["a.npy", "b.npz", "b.npz:q", "c.safetensors", "nope.npy", "a.npy:x"]))
def test_grad_and_slice(files, shape, spec, file):
    for arguments in (["grad", file, "--shape", shape, *spec], ["slice", file, *spec]):
        code, out, _ = answer(*arguments, "-o", "out.npy", "--force", "--json")
        if code == 0:
            assert list(np.load("out.npy").shape) == json.loads(out)["shape"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    from safetensors.numpy import save_file

    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("fuzz"))
    np.save("a.npy", np.arange(6.0).reshape(2, 3))
    np.savez("b.npz", np.arange(4))
    save_file({"t": np.ones((3, 1), np.float32)}, "c.safetensors")
    yield
    os.chdir(before)
