"""TensorFlow's own tensors as arguments, in one process with the real TensorFlow."""

import json
import os
import subprocess
from pathlib import Path

import backslice as bs
import pytest
from backslice.bench.venvs import ensure

PROGRAM = """
import json
import numpy as np
import tensorflow as tf
import backslice as bs

def written():
    array = bs.TensorArray(1, object)
    array.write(0, tf.constant("a"))
    return array.read(0)

def quantised():
    return tf.quantization.quantize(tf.constant([1.0, 2.0]), -4.0, 4.0, tf.qint8).output

def ragged_variant():
    rt = tf.ragged.constant([[1.0], [2.0]])
    return tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=rt.nested_row_splits, rt_dense_values=rt.flat_values,
                                            batched_input=True)

calls = {
    "strings": lambda: bs.slice(tf.constant(["a", "b"]), "::-1"),
    "one string": lambda: bs.slice(tf.constant(["a", "b"]), 0),
    "bytes with NULs": lambda: bs.slice(tf.constant([b"a\\0", b"\\xff"]), ":"),
    "strings, gradient": lambda: bs.slice_grad(tf.constant(["a"]), (3,), "1:2"),
    "TensorArray": written,
    "variant": lambda: bs.slice(ragged_variant(), 0),
    "resource": lambda: bs.slice(tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[]), "..."),
    "ragged": lambda: bs.slice(tf.ragged.constant([[1], [2, 3]]), 0),
    "variable": lambda: bs.slice(tf.Variable([1.0, 2.0]), "1:"),
    "quantised": lambda: bs.slice(quantised(), ":").tolist() == quantised().numpy().tolist(),
    "int4": lambda: bs.slice(tf.cast([1, 2], "int4"), "1:").astype(int),
    "bfloat16": lambda: bs.slice(tf.constant([1, 2], tf.bfloat16), "1:").astype(float),
    "index": lambda: bs.slice(tf.range(5), slice(tf.constant(1), tf.constant(3))),
    "lists": lambda: bs.strided_slice(tf.range(5), tf.constant([1]), tf.constant([3]), tf.constant([1])),
    "strings as lists": lambda: bs.strided_slice(tf.range(5), tf.constant(["1"]), [3], [1]),
}
results = {}
for name, call in calls.items():
    try:
        results[name] = repr(np.asarray(call()).tolist())
    except bs.Error as error:
        results[name] = f"{type(error).__name__}: {error}"
print(json.dumps(results))
"""
EXPECTED = {
    "strings": "[b'b', b'a']",
    "one string": "b'a'",
    "bytes with NULs": r"[b'a\x00', b'\xff']",
    "strings, gradient": "[b'', b'a', b'']",
    "TensorArray": "b'a'",
    "variant": "InvalidArgumentError: x cannot be read as an array: Cannot convert a Tensor of dtype variant",
    "resource": "InvalidArgumentError: x cannot be read as an array: Cannot convert a Tensor of dtype resource",
    "ragged": "DTypeError: x is of type RaggedTensor, expected an array",
    "variable": "[2.0]",
    "quantised": "True",
    "int4": "[2]",
    "bfloat16": "[2.0]",
    "index": "[1, 2]",
    "lists": "[1, 2]",
    "strings as lists": "DTypeError: begin has dtype object, expected integers",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Make the package importable with TensorFlow's own NumPy, without other packages of this environment."""
    folder = tmp_path_factory.mktemp("packages")
    (folder / "backslice").symlink_to(Path(bs.__file__).parent)
    environment = os.environ | {"PYTHONPATH": str(folder), "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    command = [str(ensure("tensorflow")), "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("call", EXPECTED)
def test_tensors_of_every_kind(results: dict[str, str], call: str) -> None:
    assert results[call].startswith(EXPECTED[call])
