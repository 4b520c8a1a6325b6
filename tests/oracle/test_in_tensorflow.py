"""backslice.tensorflow inside the real TensorFlow: runs the files of in_tensorflow in its environment."""

import subprocess
from pathlib import Path

import beside
import pytest
from backslice.bench.venvs import ensure

FOLDER = Path(__file__).with_name("in_tensorflow")


def run(*arguments: str) -> str:
    done = subprocess.run(
        [str(ensure("tensorflow")), *arguments],
        capture_output=True, text=True, timeout=500, env=beside.environment(), cwd=FOLDER,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("files", [".", "fresh_process.py"])
def test_the_checks_pass_inside_tensorflow(files: str) -> None:
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore", "-c", "pytest.ini"]
    output = run("-m", "pytest", *quiet, files)
    print(output)
    assert "passed" in output and "skipped" not in output


PROGRAMS = {
    "installing does not start TensorFlow's runtime": """
import backslice.tensorflow as bst
import tensorflow as tf
bst.install()
bst.status()
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
assert len(tf.config.list_logical_devices("CPU")) == 2
""",
    "threads can be configured after installing": """
import backslice.tensorflow as bst
import tensorflow as tf
bst.install()
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.zeros([1])
""",
    "calls are counted exactly while other threads ask for the status": """
import threading
import backslice.tensorflow as bst
import tensorflow as tf
bst.install()
askers = [threading.Thread(target=lambda: [bst.status() for _ in range(20)]) for _ in range(3)]
for asker in askers:
    asker.start()
for _ in range(500):
    tf.raw_ops.StridedSliceGrad(shape=[3], begin=[1], end=[2], strides=[1], dy=[5])
for asker in askers:
    asker.join()
row = bst.status()["StridedSliceGrad"]
assert (row.kernel, row.calls, row.plain_calls) == ("backslice", 500, 0), row
""",
    "a kernel of another library that came later": """
import backslice.tensorflow as bst
from backslice.tensorflow import checks
bst.install()
checks.taken = lambda: {"StridedSliceGrad", "SparseSliceGrad"}
row = bst.status()["SparseSlice"]
assert (row.kernel, row.reason) == ("TensorFlow", "another library has replaced it"), row
""",
    "a self-test that fails leaves TensorFlow as it is": """
import warnings
import backslice.tensorflow as bst
import tensorflow as tf
from backslice.tensorflow import checks
checks.folded = lambda cases, ops=(), label="": {name: [len(label)] for name in cases}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    bst.install()
    with bst.enabled():
        pass
(warning,) = caught
text = "backslice.tensorflow: the self-test 'fast kernels' failed, so TensorFlow's own kernels stay in use"
assert str(warning.message).startswith(text), warning
assert {row.kernel for row in bst.status().rows} == {"TensorFlow"}
assert bst.status().self_tests["fast kernels"].startswith("failed: ValueError: StridedSliceGrad"), bst.status()
assert "the self-test 'fast kernels' failed" in bst.status()["SparseSlice"].reason
start, size = tf.constant([2], tf.int64), tf.constant([2**63 - 1], tf.int64)
kept = tf.raw_ops.SparseSlice(indices=[[2], [3]], values=[1.0, 2.0], shape=[4], start=start, size=size)
assert kept.output_values.shape == [0]  # TensorFlow's own kernel wraps
""",
    "MirroredStrategy on two logical CPUs": """
import numpy as np
import tensorflow as tf
cpus = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], cpus)
import backslice.tensorflow as bst

def weights():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        w = tf.Variable(tf.reshape(tf.range(24.0), [4, 6]) / 24)
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x[:, 1:3] @ w[1:3, ::2]) ** 2)
        gradient = tf.distribute.get_replica_context().all_reduce("sum", tape.gradient(loss, w))
        w.assign_sub(0.01 * gradient)
    data = tf.data.Dataset.from_tensor_slices(tf.reshape(tf.range(64.0), [16, 4]) / 64).batch(8)
    run = tf.function(lambda x: strategy.run(step, [x]))
    for x in strategy.experimental_distribute_dataset(data.repeat(5)):
        run(x)
    return w.numpy()

without = weights()
with bst.enabled():
    assert np.array_equal(weights(), without)
assert not np.array_equal(without, np.arange(24.0).reshape(4, 6) / 24)
""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_in_a_process_of_its_own(program: str) -> None:
    run("-c", PROGRAMS[program])


REPLACED = """
import ctypes
import sys
import warnings
import tensorflow as tf
ctypes.CDLL(sys.argv[1]).register_kernel(int(sys.argv[2]))

def gradient(begin):
    return tf.raw_ops.StridedSliceGrad(shape=[3], begin=[begin], end=[2], strides=[1], dy=[5])

assert gradient(1).numpy().tolist() == [7, 7, 7]
import backslice.tensorflow as bst
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    bst.install()
    bst.install()
text = "backslice.tensorflow: another library has replaced the kernels of StridedSliceGrad, which stay in use"
assert [str(warning.message) for warning in caught] == [text], caught
assert gradient(1).numpy().tolist() == [7, 7, 7]
assert tf.function(gradient)(1).numpy().tolist() == [7, 7, 7]
status = bst.status()
assert (status["StridedSliceGrad"].kernel, status["SparseSlice"].kernel) == ("TensorFlow", "backslice"), status
assert status["StridedSliceGrad"].reason == "another library has replaced it", status
start, size = tf.constant([2], tf.int64), tf.constant([2**63 - 1], tf.int64)
kept = tf.raw_ops.SparseSlice(indices=[[2], [3]], values=[1.0, 2.0], shape=[4], start=start, size=size)
assert kept.output_values.shape == [2]  # as backslice's kernel
"""


@pytest.mark.parametrize("priority", [1, 117, 1000])
def test_kernels_of_another_library_stay_in_use(tmp_path: Path, priority: int) -> None:
    library = tmp_path / "foreign.so"
    compiler = ["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", FOLDER / "foreign_kernel.c", "-o", library]
    subprocess.run(compiler, check=True, timeout=120)
    run("-c", REPLACED, str(library), str(priority))
