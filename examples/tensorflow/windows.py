"""A Keras model that slices windows out of a long signal, trained with
TensorFlow's kernels and with backslice's: equal weights, less time."""

import time

import backslice.tensorflow as bst
import keras
import numpy as np

import tensorflow as tf

LENGTH, WINDOW, STRIDE = 4096, 1024, 512


class Windows(keras.layers.Layer):
    """Overlapping windows of a signal, each with a learnt weight."""

    def build(self, shape):
        self.gain = self.add_weight(shape=(LENGTH, 8), initializer="ones")

    def call(self, signal):
        weighted = signal[:, :, None] * self.gain
        starts = range(0, LENGTH - WINDOW + 1, STRIDE)
        windows = [weighted[:, s : s + WINDOW] for s in starts]
        return tf.stack([tf.reduce_mean(w**2, 1) for w in windows], 1)


def train():
    keras.utils.set_random_seed(1)
    layers = [Windows(), keras.layers.Flatten(), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input([LENGTH]), *layers])
    model.compile(keras.optimizers.SGD(0.01), "mse", jit_compile=False)
    signals = np.random.default_rng(2).normal(size=(64, LENGTH)).astype("f4")
    loudness = np.square(signals[:, :WINDOW]).mean(1)
    # the first call traces it
    model.fit(signals, loudness, batch_size=32, verbose=0)
    start = time.perf_counter()
    model.fit(signals, loudness, batch_size=32, epochs=4, verbose=0)
    return time.perf_counter() - start, model.get_weights()


before, weights = train()
with bst.enabled():
    after, same = train()

assert all(map(np.array_equal, weights, same))
print(f"TensorFlow's kernels: {before:.2f} s, backslice's: {after:.2f} s")
