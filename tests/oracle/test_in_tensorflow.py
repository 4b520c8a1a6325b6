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


def test_the_checks_pass_inside_tensorflow() -> None:
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore", "-c", "pytest.ini"]
    output = run("-m", "pytest", *quiet, ".")
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
