"""The installed kernels wherever kernels run: functions, data pipelines, Keras, saved models, threads, forks."""

import os
import threading
from pathlib import Path
from typing import Any

import backslice.tensorflow as bst
import keras
import numpy as np
import pytest
import tensorflow as tf

# Small integers: their sums are exact in any order, and TensorFlow's order depends on how it runs a graph.
X = np.random.default_rng(2).integers(-4, 5, (8, 12, 5)).astype("f4")


def windows(x: tf.Tensor) -> tf.Tensor:
    parts = [x[:, t : t + 4] for t in range(0, 8, 3)]
    return tf.add_n([tf.reduce_sum(part * part * (i + 1)) for i, part in enumerate(parts)])


def gradient(x: tf.Tensor) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = windows(x)
    return tape.gradient(y, x)


@pytest.fixture
def expected() -> np.ndarray:
    return gradient(tf.constant(X)).numpy()


def test_functions(installed: None, expected: np.ndarray) -> None:
    assert np.array_equal(tf.function(gradient)(tf.constant(X)), expected)


def test_functions_that_ran_before_keep_working(expected: np.ndarray) -> None:
    function = tf.function(gradient)
    for _ in range(2):
        assert np.array_equal(function(tf.constant(X)), expected)
        bst.install()


def test_functions_that_ran_with_fast_kernels_keep_working_with_plain_ones(expected: np.ndarray) -> None:
    function = tf.function(gradient)
    bst.install()
    assert np.array_equal(function(tf.constant(X)), expected)
    bst.uninstall()
    assert np.array_equal(function(tf.constant(X)), expected)
    assert np.array_equal(tf.function(gradient)(tf.constant(X)), expected)


def test_sessions(installed: None, expected: np.ndarray) -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant(X)
        (dx,) = tf.gradients(windows(x), x)
        assert np.array_equal(session.run(dx), expected)


def test_data_pipelines(installed: None, expected: np.ndarray) -> None:
    data = tf.data.Dataset.from_tensors(X).repeat(20).map(gradient, num_parallel_calls=tf.data.AUTOTUNE)
    assert all(np.array_equal(dx, expected) for dx in data)


def test_jit_compiled_functions_run_without_our_kernels(installed: None, expected: np.ndarray) -> None:
    assert np.array_equal(tf.function(gradient, jit_compile=True)(tf.constant(X)), expected)


class Recurrent(keras.layers.Layer):
    """A recurrent network by hand, over x[:, t]."""

    def build(self, shape: Any) -> None:
        self.w = self.add_weight(shape=(shape[-1] + 16, 16), initializer=keras.initializers.GlorotUniform(seed=3))

    def call(self, x: tf.Tensor) -> tf.Tensor:
        state = tf.zeros([tf.shape(x)[0], 16])
        for t in range(x.shape[1]):
            state = tf.tanh(tf.concat([x[:, t], state], -1) @ self.w)
        return state


def model() -> keras.Model:
    x = keras.Input([12, 5])
    cropped = x[:, 2:10, ::2]
    y = Recurrent()(keras.layers.Dense(7, kernel_initializer=keras.initializers.GlorotUniform(seed=4))(x))
    z = keras.layers.Flatten()(cropped)
    y = keras.layers.Dense(1, kernel_initializer=keras.initializers.GlorotUniform(seed=5))(
        keras.layers.Concatenate()([y, z])
    )
    made = keras.Model(x, y)
    made.compile(keras.optimizers.Adam(0.01), "mse", jit_compile=False)
    return made


def trained() -> list[np.ndarray]:
    keras.utils.set_random_seed(6)
    network = model()
    network.fit(np.tile(X, (8, 1, 1)), np.tile(X.sum((1, 2)), 8), batch_size=16, epochs=3, shuffle=False, verbose=0)
    return [np.array(w) for w in network.get_weights()]


def test_keras_models_end_with_equal_weights() -> None:
    without = trained()
    with bst.enabled():
        assert all(map(np.array_equal, trained(), without))
    assert not np.array_equal(without[0], model().get_weights()[0])  # they did learn


def test_saved_models_hold_nothing_of_ours(installed: None, tmp_path: Path) -> None:
    module = tf.Module()
    module.dx = tf.function(gradient, input_signature=[tf.TensorSpec([None, 12, 5])])
    module.dx(tf.constant(X))
    tf.saved_model.save(module, str(tmp_path / "model"))
    assert b"StridedSliceGrad" in (tmp_path / "model" / "saved_model.pb").read_bytes()
    assert b"ackslice" not in (tmp_path / "model" / "saved_model.pb").read_bytes()


def test_saved_models_with_multi_slice(expected: np.ndarray, tmp_path: Path) -> None:
    module = tf.Module()
    signature = [tf.TensorSpec([None, 12, 5])]
    module.slices = tf.function(lambda x: bst.multi_slice(x, [np.s_[:, 1], np.s_[2:4]]), input_signature=signature)
    tf.saved_model.save(module, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        column, rows = loaded.slices(x)
    assert np.array_equal(column, X[:, 1]) and np.array_equal(rows, X[2:4])
    dx = tape.gradient([column, rows], x).numpy()
    assert dx.sum() == X[:, 1].size + X[2:4].size


def test_threads(expected: np.ndarray) -> None:
    results: list[bool] = []

    def run() -> None:
        x = tf.constant(X)
        results.extend(np.array_equal(gradient(x), expected) for _ in range(30))

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for _ in range(10):  # in and out while they run
        bst.install()
        bst.uninstall()
    bst.install()
    for thread in threads:
        thread.join()
    assert len(results) == 180 and all(results)


def test_a_forked_child_gets_results_or_an_error(installed: None) -> None:
    """TensorFlow's threads are gone in a child, and so are ours."""
    dy = tf.ones([2048, 1024])

    def call() -> tf.Tensor:
        return tf.raw_ops.StridedSliceGrad(shape=[4096, 1024], begin=[0], end=[2048], strides=[1], dy=dy)

    call()
    child = os.fork()
    if child == 0:
        try:
            right = float(np.sum(call().numpy())) == 2048 * 1024
        except tf.errors.OpError:
            right = True
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
