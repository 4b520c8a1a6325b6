"""Runs in TensorFlow's environment: tests of the compiled kernels together with TensorFlow's own."""

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


def variants_that_go_through_both() -> tuple[Any, ...]:
    """Encode with our kernel, add and zero with TensorFlow's, and decode with ours."""
    values, splits = tf.random.stateless_normal([7], [1, 2]), tf.constant([0, 2, 2, 7], tf.int64)
    encoded = encode([splits], values)
    rows = tf.unstack(encoded, 3)  # TensorFlow adds only scalar variants
    twice = tf.stack([ops.AddN(inputs=[row, row]) for row in rows])
    zeros = tf.stack([ops.ZerosLike(x=row) for row in rows])
    decoded = decode(twice, 1, tf.float32)
    results = [*decoded.output_nested_splits, decoded.output_dense_values]
    results += [join(zeros, splits, [7]), join(encoded, splits, [7])]
    return (values.numpy(), *(result.numpy() for result in results))


def gradient_of_some_rows() -> Any:
    """Computed by hand: the sum of squares over rows 0 and 2."""
    values, splits = tf.Variable([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), tf.constant([0, 2, 2, 5, 6], tf.int64)

    @tf.function
    def gradient() -> Any:
        with tf.GradientTape() as tape:
            rows = decode(encode([splits], values)[0:3:2], 1, tf.float32)
            loss = tf.reduce_sum(rows.output_dense_values**2)
        return tape.gradient(loss, values)

    return gradient().numpy()


def types_without_a_kernel_of_tensorflow() -> tuple[Any, ...]:
    splits = tf.constant([0, 2, 2, 3], tf.int64)
    results = []
    for dtype in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        values = tf.constant(np.array([1, 2, 3], dtype))
        encoded = encode([splits], values)
        results += [decode(encoded, 1, values.dtype).output_dense_values, join(encoded, splits, [3], values.dtype)]
    return tuple(result.numpy().astype(np.float32) for result in results)


def invalid_splits_of_a_type_without_a_kernel() -> Any:
    return encode([tf.constant([0, 2, 1], tf.int64)], tf.constant(np.array([1], ml_dtypes.int4)))


def gradients_of_one_element() -> tuple[Any, ...]:
    """Compute gradients of a ragged tensor without rows, of one that no result depends on, and of another."""
    splits = tf.constant([0, 2, 5], tf.int64)
    without_rows = join(encode([tf.zeros([1], tf.int64)], tf.zeros([0]), batched=False), tf.zeros([1], tf.int64), [0])
    given = join(encode([splits], tf.ones([5]), batched=False), splits, [5])
    return tuple(dx.numpy() for dx in (without_rows, join(ragged_program.missing(), splits, [5]), given))


def rows_are_parts_of_the_values_where_aligned() -> Any:
    """Encoding and decoding copies nothing: the memory is the same."""
    values = tf.random.stateless_normal([96, 16], [1, 2])
    encoded = encode([tf.constant([0, 1, 40, 40, 96], tf.int64)], values)
    back = decode(encoded, 1, tf.float32).output_dense_values
    address = [np.asarray(memoryview(t)).__array_interface__["data"][0] for t in (values, back)]
    return np.array([np.array_equal(values, back), address[0] == address[1]])


def library_of_the_kernels() -> Any:
    from backslice.tensorflow import compiling  # other peers import this module without it

    return np.array([str(compiling.build(progress=False))], object)


def calls_of_a_round_trip() -> Any:
    """The calls of three ops that status() counts."""
    import backslice.tensorflow as bst

    names = ("RaggedTensorToVariant", "RaggedTensorFromVariant", "RaggedTensorToVariantGradient")
    before = [bst.status()[name].calls for name in names]
    decode(encode([tf.constant([0, 2, 3], tf.int64)], tf.ones([3])), 1, tf.float32)
    return np.array([bst.status()[name].calls for name in names]) - before


def rows_in_another_order() -> Any:
    """Several thousand rows that share memory: reversed, reshaped, with a hole, repeated, and one that outlives the
    others."""
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


def pieces(row: int = 48, count: int = 100_000) -> tuple[Any, Any, list[int]]:
    """Make rows of so many floats, each in memory of its own."""
    rows = [tf.fill([row], float(i)) for i in range(count)]
    encoded = tf.stack([encode([], values, batched=False) for values in rows])
    return encoded, tf.range(0, count * row + 1, row, dtype=tf.int64), [count * row]


def encoded_rows(row: int = 48, count: int = 100_000) -> tuple[Any, Any, list[int]]:
    """Make the same rows by encoding all at once."""
    splits = tf.range(0, count * row + 1, row, dtype=tf.int64)
    return encode([splits], tf.repeat(tf.range(float(count)), row)), splits, [count * row]


def large_gradients() -> Any:
    """Test short and long rows."""
    return np.concatenate([large_gradients_of(*size) for size in ((48, 20_000), (48_000, 100))])


def large_gradients_of(row: int, count: int) -> Any:
    """Two allocations that are alive together, and one in memory that an earlier one has freed."""
    arguments = pieces(row, count)
    values = np.repeat(np.arange(count, dtype=np.float32), row)
    first, second = join(*arguments), join(*arguments)
    right = [np.array_equal(first, values), np.array_equal(second, values)]
    del second
    third = join(*arguments)
    return np.array([*right, np.array_equal(third, values), np.array_equal(first, values)])


def gradients_in_a_forked_child() -> Any:
    """Free rows in one block, and copied rows, after TensorFlow's threads have ended."""
    statuses = []
    for make in (encoded_rows, pieces):
        encoded, splits, shape = make(48, 20_000)
        shape = tf.constant(shape)
        wanted = join(encoded, splits, shape).numpy()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if np.array_equal(join(encoded, splits, shape).numpy(), wanted) else 1)
        statuses.append(os.waitpid(child, 0)[1])
    return np.array(statuses)


def seconds_of_gradient(make: Callable[[], Any]) -> Callable[[], Any]:
    """Return the best time of many calls."""

    def measure() -> Any:
        arguments = make()
        best = np.inf
        for _ in range(75):
            start = time.perf_counter()
            join(*arguments)
            best = min(best, time.perf_counter() - start)
        return np.array(best)

    return measure


def crash(run: Callable[[], Any]) -> Callable[[], Any]:
    def told() -> Any:
        result = run()
        outputs = result if isinstance(result, tuple | list) else (result,)
        return tuple(ragged_program.to_numpy(r) if isinstance(r, tf.Tensor) else r for r in outputs)

    return told


RUN: dict[str, Callable[[], Any]] = {
    "crashes": lambda: np.array(list(CRASHES), object),
    "seconds, separate pieces": seconds_of_gradient(pieces),
    "seconds, rows encoded at once": seconds_of_gradient(encoded_rows),
    **{
        run.__name__: run
        for run in (
            variants_that_go_through_both,
            gradient_of_some_rows,
            types_without_a_kernel_of_tensorflow,
            invalid_splits_of_a_type_without_a_kernel,
            gradients_of_one_element,
            rows_are_parts_of_the_values_where_aligned,
            library_of_the_kernels,
            calls_of_a_round_trip,
            rows_in_another_order,
            large_gradients,
            gradients_in_a_forked_child,
        )
    },
    **{name: crash(run) for name, run in CRASHES.items()},
}
