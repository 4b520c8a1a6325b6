"""The wheel as a user installs it: by pip into an environment with a framework, then a short script."""

import subprocess
import sys
from pathlib import Path

import beside
import dask
import pytest
from backslice.bench.venvs import ensure

ROOT = Path(__file__).parents[2]

SCRIPTS = {
    "tensorflow": """
import backslice.tensorflow as bst
import tensorflow as tf
bst.install()
calls = lambda: next(row.calls for row in bst.status().rows if row.op == "StridedSliceGrad")
before = calls()
x = tf.Variable(tf.ones([4, 5]))
with tf.GradientTape() as tape:
    y = tf.reduce_sum(x[1:3, ::2] * 3)
dx = tape.gradient(y, x).numpy()
assert dx.sum() == 18 and dx[1].tolist() == [3, 0, 3, 0, 3], dx
assert calls() == before + 1, bst.status()
""",
    "jax": """
import jax
import jax.numpy as jnp
from backslice.jax import fuse_slices
loss = lambda x: sum((x[:, t] * t).sum() for t in range(64))
dx = jax.jit(fuse_slices(jax.grad(loss)))(jnp.ones((128, 64)))
assert dx[0].tolist() == list(range(64)), dx
""",
    "onnxruntime": """
import numpy as np, onnx, onnxruntime
from onnx import TensorProto, helper
from backslice.onnxruntime import session_options
info = helper.make_tensor_value_info
node = helper.make_node("SliceGrad", ["dY", "shape", "starts", "ends"], ["dX"], domain="backslice")
lists = [info(name, TensorProto.INT64, [1]) for name in ("shape", "starts", "ends")]
results = [info("dX", TensorProto.FLOAT, None)]
graph = helper.make_graph([node], "g", [info("dY", TensorProto.FLOAT, [2]), *lists], results)
imports = [helper.make_opsetid("", 17), helper.make_opsetid("backslice", 1)]
model = helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()
feeds = {"dY": np.array([1, 2], np.float32), "shape": np.array([4]), "starts": np.array([1]), "ends": np.array([3])}
session = onnxruntime.InferenceSession(model, session_options(), providers=["CPUExecutionProvider"])
(dx,) = session.run(None, feeds)
assert dx.tolist() == [0, 1, 2, 0], dx
""",
    "torch": """
import torch
import backslice.torch as bt
bt.install()
x = torch.ones(64, 512, 64, requires_grad=True)
sum((x[:, t] * t).sum() for t in range(512)).backward()
assert x.grad[0, :, 0].tolist() == list(range(512))
""",
    "dask": """
import dask.array as da
from backslice.dask import slice_grad
dx = slice_grad(da.ones((2, 3), chunks=2), (4, 5), "1:3, ::2", chunks=2).compute()
assert dx[1].tolist() == [1, 0, 1, 0, 1] and dx.sum() == 6, dx
""",
}


def site_packages(framework: str) -> Path:
    if framework == "dask":  # the environment of these tests has Dask
        return Path(dask.__file__).parents[1]
    python = ensure(framework)
    if python is None:
        pytest.skip(f"there is no environment of {framework}: see the output of its creation")
    return next(python.parents[1].glob("lib/python*/site-packages"))


@pytest.mark.parametrize("framework", SCRIPTS)
def test_the_wheel_works_in_a_clean_environment(framework: str, tmp_path: Path) -> None:
    (wheel,) = (ROOT / "dist").glob("backslice-*.whl")
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)
    (own,) = tmp_path.glob("lib/python*/site-packages")
    own.joinpath("framework.pth").write_text(f"{site_packages(framework)}\n")
    python = tmp_path / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--ignore-installed", "--no-deps", wheel], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "ml_dtypes"], check=True)  # some frameworks do not bring it
    program = f"import backslice; assert backslice.__file__.startswith({str(own)!r}), backslice.__file__\n"
    done = subprocess.run(
        [python, "-c", program + SCRIPTS[framework]], capture_output=True, text=True, env=beside.QUIET, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-3000:]
