"""What runs whose kernels after install() and uninstall(), if it ran before."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import backslice.tensorflow as bst
import numpy as np
import pytest
import tensorflow as tf

START = tf.constant([2], tf.int64)


def found(start: Any) -> Any:
    """How many entries a slice finds: 2, but in TensorFlow 0, since it adds start and size and lets the sum wrap."""
    indices, size = tf.constant([[0], [2], [3]], tf.int64), tf.constant([2**63 - 1], tf.int64)
    values = tf.cast(start, tf.float32) + tf.constant([1.0, 2.0, 3.0])
    return tf.size(tf.raw_ops.SparseSlice(indices=indices, values=values, shape=[4], start=start, size=size)[1])


def of_a_function(folder: Path) -> Callable[[], Any]:
    function = tf.function(found)
    return lambda: function(START)


def of_functions_in_functions(folder: Path) -> Callable[[], Any]:
    inner = tf.function(found)
    outer = tf.function(lambda start: inner(start) + inner(start) - inner(start))
    return lambda: outer(START)


def of_a_loop(folder: Path) -> Callable[[], Any]:
    @tf.function(autograph=False)
    def loop(start: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 3, lambda i, _: (i + 1, found(start)), [0, 0])[1]

    return lambda: loop(START)


def of_a_concrete_function(folder: Path) -> Callable[[], Any]:
    function = tf.function(found).get_concrete_function(tf.TensorSpec([1], tf.int64))
    return lambda: function(START)


def of_a_loaded_model(folder: Path) -> Callable[[], Any]:
    module = tf.Module()
    module.found = tf.function(found, input_signature=[tf.TensorSpec([1], tf.int64)])
    tf.saved_model.save(module, str(folder))
    loaded = tf.saved_model.load(str(folder))
    return lambda: loaded.found(START)


def of_a_keras_model(folder: Path) -> Callable[[], Any]:
    class Found(tf.keras.layers.Layer):  # type: ignore[misc]
        def call(self, start: Any) -> Any:
            return found(tf.cast(start[0], tf.int64))[None]

    model = tf.keras.Sequential([tf.keras.Input([1]), Found()])
    return lambda: model.predict(np.array([[2.0]]), verbose=0)[0]


@pytest.mark.parametrize(
    "make",
    [of_a_function, of_functions_in_functions, of_a_loop, of_a_concrete_function, of_a_loaded_model, of_a_keras_model],
)
def test_what_ran_before_changes_over_with_its_next_call(make: Callable[[Path], Any], tmp_path: Path) -> None:
    run = make(tmp_path)
    for _ in range(2):
        assert int(run()) == 0
        bst.install()
        assert int(run()) == 2
        bst.uninstall()
    assert int(run()) == 0


def test_iterators_that_ran_before_keep_their_kernels() -> None:
    items = iter(tf.data.Dataset.from_tensors(START).repeat().map(found))
    assert int(next(items)) == 0
    bst.install()
    assert int(next(items)) == 0
    assert int(next(iter(tf.data.Dataset.from_tensors(START).map(found)))) == 2


def test_blocks_that_overlap_in_threads_are_all_enabled() -> None:
    second_began, first_ended, seen = threading.Event(), threading.Event(), []

    def first() -> None:
        with bst.enabled():
            assert second_began.wait(60)
        first_ended.set()

    def second() -> None:
        with bst.enabled():
            second_began.set()
            assert first_ended.wait(60)
            seen.append(int(found(START)))

    threads = [threading.Thread(target=run) for run in (first, second)]
    threads[0].start()
    while bst.status()["SparseSlice"].kernel == "TensorFlow":
        pass
    threads[1].start()
    for thread in threads:
        thread.join(60)
    assert seen == [2] and int(found(START)) == 0


def test_status_names_what_it_does_not_know() -> None:
    with pytest.raises(KeyError, match="'Slice' is none of the ops of this table: StridedSliceGrad"):
        bst.status()["Slice"]
