"""Runs in TensorFlow's environment: what the compiled kernels do beside TensorFlow's own. `enable` switches them."""

import gc
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import ragged_program
import tensorflow as tf
from compiled_crashes import CRASHES

ops = tf.raw_ops
Enable = Callable[[bool], None]


def encode(splits: list[Any], values: Any, batched: bool = True) -> Any:
    return ops.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=values, batched_input=batched)


def decode(encoded: Any, rank: int, dtype: Any, rank_of_each: int = -1) -> Any:
    return ops.RaggedTensorFromVariant(
        encoded_ragged=encoded, input_ragged_rank=rank_of_each, output_ragged_rank=rank, Tvalues=dtype
    )


def join(encoded: Any, splits: Any, shape: Any, dtype: Any = tf.float32) -> Any:
    return ops.RaggedTensorToVariantGradient(
        encoded_ragged_grad=encoded, row_splits=splits, dense_values_shape=shape, Tvalues=dtype
    )


def variants_that_go_through_both(enable: Enable) -> tuple[Any, ...]:
    """Encoded by one, added and decoded by the other."""
    values, splits = tf.random.stateless_normal([7], [1, 2]), tf.constant([0, 2, 2, 7], tf.int64)
    results = []
    for first in (True, False):
        enable(first)
        encoded = encode([splits], values)
        enable(not first)
        rows = tf.unstack(encoded, 3)  # TensorFlow adds scalar variants alone
        twice = tf.stack([ops.AddN(inputs=[row, row]) for row in rows])
        zeros = tf.stack([ops.ZerosLike(x=row) for row in rows])
        results += [*decode(twice, 1, tf.float32), join(zeros, splits, [7]), join(encoded, splits, [7])]
    enable(True)
    flat = [r.numpy() for result in results for r in (result if isinstance(result, list) else [result])]
    half = len(flat) // 2
    assert all(np.array_equal(a, b) for a, b in zip(flat[:half], flat[half:], strict=True))
    return (values.numpy(), *flat[:half])


def gradient_of_some_rows(enable: Enable) -> Any:
    """Worked by hand: the sum of squares over rows 0 and 2."""
    values, splits = tf.Variable([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), tf.constant([0, 2, 2, 5, 6], tf.int64)

    @tf.function
    def gradient() -> Any:
        with tf.GradientTape() as tape:
            rows = decode(encode([splits], values)[0:3:2], 1, tf.float32)
            loss = tf.reduce_sum(rows.output_dense_values**2)
        return tape.gradient(loss, values)

    return gradient().numpy()


def types_without_a_kernel_of_tensorflow(enable: Enable) -> tuple[Any, ...]:
    splits = tf.constant([0, 2, 2, 3], tf.int64)
    results = []
    for dtype in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        values = tf.constant(np.array([1, 2, 3], dtype))
        encoded = encode([splits], values)
        results += [decode(encoded, 1, values.dtype).output_dense_values, join(encoded, splits, [3], values.dtype)]
    return tuple(result.numpy().astype(np.float32) for result in results)


def invalid_splits_of_a_type_without_a_kernel(enable: Enable) -> Any:
    return encode([tf.constant([0, 2, 1], tf.int64)], tf.constant(np.array([1], ml_dtypes.int4)))


def types_without_a_kernel_when_switched_off(enable: Enable) -> Any:
    enable(False)
    try:
        return encode([tf.constant([0, 1], tf.int64)], tf.constant(np.array([1], ml_dtypes.int4)))
    finally:
        enable(True)


def rows_are_parts_of_the_values_where_aligned(enable: Enable) -> Any:
    """Nothing is copied on the way there and back: the memory is the same."""
    values = tf.random.stateless_normal([96, 16], [1, 2])
    encoded = encode([tf.constant([0, 1, 40, 40, 96], tf.int64)], values)
    back = decode(encoded, 1, tf.float32).output_dense_values
    address = [np.asarray(memoryview(t)).__array_interface__["data"][0] for t in (values, back)]
    return np.array([np.array_equal(values, back), address[0] == address[1]])


def rows_in_another_order(enable: Enable) -> Any:
    """Of several thousand rows that share memory: reversed, turned, with a hole, twice, and one that outlives all."""
    rows, width = 3000, 16
    values = tf.random.stateless_normal([rows, width], [1, 2])
    encoded = encode([tf.range(rows + 1, dtype=tf.int64)], values)
    orders = [
        np.arange(rows), np.arange(rows)[::-1], np.roll(np.arange(rows), 700), np.delete(np.arange(rows), 1500),
        np.repeat(np.arange(rows), 2), np.arange(1000, 2000), np.arange(0, rows, 2),
    ]  # fmt: skip
    right = []
    for order in orders:
        taken = tf.gather(encoded, order)
        joined = join(taken, tf.range(len(order) + 1, dtype=tf.int64), [len(order), width])
        right.append(np.array_equal(joined, values.numpy()[order]))
    last, wanted = encoded[2345], values[2345].numpy()
    del encoded, taken, joined, values
    gc.collect()
    right.append(np.array_equal(np.ravel(join(last[None], [0, 1], [width])), wanted))
    return np.array(right)


def pieces(one_buffer: bool, enable: Enable, row: int = 48) -> tuple[Any, Any, list[int]]:
    """100,000 rows of 48 floats: each in its own memory, as TensorFlow encodes them, or all in one block."""
    splits, values = tf.range(0, 4_800_001, row, dtype=tf.int64), tf.random.stateless_normal([4_800_000], [1, 2])
    enable(one_buffer)
    return encode([splits], values), splits, [4_800_000]


def large_gradients(enable: Enable) -> Any:
    """Of short rows, and of long ones."""
    return np.concatenate([large_gradients_of(enable, row) for row in (48, 48_000)])


def large_gradients_of(enable: Enable, row: int) -> Any:
    """Two that are alive at once, and one in memory that an earlier one has left."""
    encoded, splits, shape = pieces(one_buffer=False, enable=enable, row=row)
    values = tf.random.stateless_normal(shape, [1, 2])
    enable(True)
    first, second = join(encoded, splits, shape), join(encoded, splits, shape)
    right = [np.array_equal(first, values), np.array_equal(second, values)]
    del second
    third = join(encoded, splits, shape)
    return np.array([*right, np.array_equal(third, values), np.array_equal(first, values)])


def gradients_in_a_forked_child(enable: Enable) -> Any:
    """Where TensorFlow's threads are gone. Of rows in one block, and of rows that are copied."""
    statuses = []
    for one_buffer in (True, False):
        encoded, splits, shape = pieces(one_buffer, enable)
        enable(True)
        shape = tf.constant(shape)
        wanted = join(encoded, splits, shape).numpy()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if np.array_equal(join(encoded, splits, shape).numpy(), wanted) else 1)
        statuses.append(os.waitpid(child, 0)[1])
    return np.array(statuses)


def seconds_of_gradient(one_buffer: bool) -> Callable[[Enable], Any]:
    """The best of each, taken in turns: (TensorFlow's, ours)."""

    def measure(enable: Enable) -> Any:
        arguments = pieces(one_buffer, enable)
        best = {False: np.inf, True: np.inf}
        for on in [*[False] * 3, *[True] * 3] * 25:  # each also with the caches as it has left them itself
            enable(on)
            start = time.perf_counter()
            join(*arguments)
            best[on] = min(best[on], time.perf_counter() - start)
        enable(True)
        return np.array([best[False], best[True]])

    return measure


def crash(run: Callable[[], Any]) -> Callable[[Enable], Any]:
    def told(enable: Enable) -> Any:
        result = run()
        outputs = result if isinstance(result, tuple | list) else (result,)
        return tuple(ragged_program.to_numpy(r) if isinstance(r, tf.Tensor) else r for r in outputs)

    return told


RUN: dict[str, Callable[[Enable], Any]] = {
    "crashes": lambda _: np.array(list(CRASHES), object),
    "seconds, separate pieces": seconds_of_gradient(one_buffer=False),
    "seconds, slices of one buffer": seconds_of_gradient(one_buffer=True),
    **{
        run.__name__: run
        for run in (
            variants_that_go_through_both,
            gradient_of_some_rows,
            types_without_a_kernel_of_tensorflow,
            types_without_a_kernel_when_switched_off,
            invalid_splits_of_a_type_without_a_kernel,
            rows_are_parts_of_the_values_where_aligned,
            rows_in_another_order,
            large_gradients,
            gradients_in_a_forked_child,
        )
    },
    **{name: crash(run) for name, run in CRASHES.items()},
}
