"""Runs in TensorFlow's environment: inputs that abort TensorFlow's own kernels, or make them access memory out of
bounds."""

import contextlib
import resource
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from ragged_program import missing

ops = tf.raw_ops
CRASHES: dict[str, Callable[[], Any]] = {}
HUGE = [2**31 - 1] * 2


def hidden(value: Any, dtype: Any = None) -> Any:
    """Return a value that is unknown while the graph is built."""
    return tf.compat.v1.placeholder_with_default(tf.constant(value, dtype), shape=None)


def array(size: Any = 2, shape: Any = None, **options: Any) -> tuple[Any, Any]:
    return ops.TensorArrayV3(size=size, dtype=tf.float32, element_shape=tf.TensorShape(shape), **options)


@contextlib.contextmanager
def little_memory() -> Iterator[None]:
    """Limit memory, so that a machine with much of it refuses the same inputs as others."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as numbers:
        used = int(numbers.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**33, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def graph(build: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        with tf.Graph().as_default():
            outputs = build()
            config = tf.compat.v1.ConfigProto()
            # the optimiser aborts on some inputs before any kernel runs
            config.graph_options.rewrite_options.disable_meta_optimizer = True
            with tf.compat.v1.Session(config=config) as session, little_memory():
                return session.run(outputs)

    CRASHES[build.__name__] = run
    return run


def eager(run: Callable[[], Any]) -> Callable[[], Any]:
    CRASHES[run.__name__] = run
    return run


def split(lengths: Any, value: Any = np.ones((2, 3), np.float32), size: int = 2) -> Any:
    handle, flow = array(size)
    return ops.TensorArraySplitV3(handle=handle, value=value, lengths=hidden(lengths, tf.int64), flow_in=flow)


@graph
def split_into_a_negative_length() -> Any:
    return split([-1, 3])


@graph
def split_into_lengths_that_wrap_to_the_right_sum() -> Any:
    return split([2**63 - 1, 2**63 - 1, 4], size=3)


@graph
def split_into_huge_lengths_of_both_signs() -> Any:
    return split([2**40, 2 - 2**40])


def gradient(shape: Any = None, prepend: Any = None, written: Any = None, **options: Any) -> tuple[Any, Any]:
    handle, flow = array(2, shape, **options)
    if written is not None:
        value = np.ones(written, np.float32)
        flow = ops.TensorArrayWriteV3(handle=handle, index=0, value=value, flow_in=flow)
    if prepend is None:
        return ops.TensorArrayGradV3(handle=handle, flow_in=flow, source="g")
    prepend = hidden(prepend, tf.int32)
    return ops.TensorArrayGradWithShape(handle=handle, flow_in=flow, shape_to_prepend=prepend, source="g")


def concat(handle: Any, flow: Any) -> Any:
    return ops.TensorArrayConcatV3(handle=handle, flow_in=flow, dtype=tf.float32, element_shape_except0=None)


@graph
def concat_of_a_gradient() -> Any:
    return tuple(concat(*gradient([3], written=[3])))


@graph
def concat_of_a_gradient_of_unknown_shape() -> Any:
    return tuple(concat(*gradient()))


@graph
def concat_of_nothing_in_huge_rows() -> Any:
    return concat(*array(2, [0, 2**40, 2**40]))


@graph
def concat_to_too_many_empty_rows() -> Any:
    return concat(*array(4, [2**40, 2**22, 0]))


@graph
def grad_with_too_large_a_shape() -> Any:
    return gradient(prepend=HUGE, written=[5])[1]


@graph
def grad_with_a_shape_of_too_many_axes() -> Any:
    return gradient(prepend=[1] * 254, written=[3])[1]


@graph
def make_of_a_huge_size() -> Any:
    handle, flow = array(hidden(2**31 - 1))
    return ops.TensorArraySizeV3(handle=handle, flow_in=flow)


@graph
def write_to_a_huge_index() -> Any:
    handle, flow = array(0, [], dynamic_size=True)
    return ops.TensorArrayWriteV3(handle=handle, index=hidden(2**31 - 1), value=1.0, flow_in=flow)


@graph
def scatter_to_a_huge_index() -> Any:
    handle, flow = array(0, [], dynamic_size=True)
    return ops.TensorArrayScatterV3(handle=handle, indices=hidden([10**9]), value=[1.0], flow_in=flow)


@graph
def scatter_of_nothing_in_huge_rows() -> Any:
    handle, flow = array(2)
    value = tf.zeros(hidden([0, 2**40, 2**40], tf.int64))
    return ops.TensorArrayScatterV3(handle=handle, indices=hidden(np.zeros(0, np.int32)), value=value, flow_in=flow)


@graph
def read_past_the_end_of_a_gradient() -> Any:
    handle, flow = gradient([], prepend=[1])
    return ops.TensorArrayReadV3(handle=handle, index=hidden(2**31 - 1), flow_in=flow, dtype=tf.float32)


def gather(handle: Any, flow: Any, indices: Any) -> Any:
    return ops.TensorArrayGatherV3(
        handle=handle, indices=hidden(indices), flow_in=flow, dtype=tf.float32, element_shape=None
    )


@graph
def gather_past_the_end_of_a_gradient() -> Any:
    return gather(*gradient([]), [10**9])


@graph
def gather_of_too_many_axes() -> Any:
    return gather(*array(2, [1] * 254), [0, 1])


@graph
def gather_of_too_many_empty_rows() -> Any:
    return gather(*array(4, [2**40, 2**22, 0]), [0, 1, 2, 3])


@graph
def handle_without_elements() -> Any:
    handle, flow = array(2, [])
    both = ops.PlaceholderWithDefault(input=ops.Pack(values=[handle, handle], axis=0), shape=None)
    none = ops.PlaceholderWithDefault(input=both[:0], shape=None)
    return ops.TensorArrayReadV3(handle=none, index=0, flow_in=flow, dtype=tf.float32)


def piece(values: Any) -> Any:
    return ops.RaggedTensorToVariant(rt_nested_splits=[], rt_dense_values=values, batched_input=False)


def joined(pieces: list[Any], splits: Any, shape: Any, dtype: Any = tf.float32) -> Any:
    encoded = tf.stack(pieces) if pieces else tf.zeros([0], tf.variant)
    return ops.RaggedTensorToVariantGradient(
        encoded_ragged_grad=encoded, row_splits=splits, dense_values_shape=shape, Tvalues=dtype
    )


TWO = tf.constant([1.0, 2.0])


@eager
def pieces_into_a_shape_that_is_a_scalar() -> Any:
    return joined([piece(TWO), piece(TWO)], [0, 2, 4], 4)


@eager
def pieces_into_a_shape_that_is_a_matrix() -> Any:
    return joined([piece(TWO), piece(TWO)], [0, 2, 4], [[4]])


@eager
def pieces_into_a_negative_shape() -> Any:
    return joined([piece(TWO), piece(TWO)], [0, 2, 4], [-4])


@eager
def pieces_into_an_overflowing_shape() -> Any:
    return joined([piece(TWO), piece(TWO)], [0, 2, 4], [2**31 - 1] * 3)


@eager
def pieces_that_are_too_few() -> Any:
    return joined([piece(TWO), piece(TWO)], [0, 2, 4], [1000])


@eager
def pieces_that_are_too_many() -> Any:
    return joined([piece(tf.zeros([100_000])), piece(TWO)], [0, 2, 4], [4])


@eager
def one_piece_of_another_size() -> Any:
    return joined([piece(TWO)], [0, 2], [3])


@eager
def pieces_of_two_types() -> Any:
    return joined([piece(TWO), piece(tf.constant([1, 2]))], [0, 2, 4], [4])


@eager
def an_empty_piece_of_another_type() -> Any:
    return joined([piece(TWO), piece(tf.zeros([0], tf.int32))], [0, 2, 2], [2])


@eager
def missing_piece_without_splits_for_it() -> Any:
    return joined([piece(TWO), missing()], [0, 2], [4])


@eager
def missing_piece_and_a_scalar_for_splits() -> Any:
    return joined([piece(TWO), missing()], 0, [4])


@eager
def missing_piece_and_decreasing_splits() -> Any:
    return joined([missing(), missing()], [0, 2, 1], [1])


@eager
def missing_piece_and_negative_splits() -> Any:
    return joined([missing(), missing()], [-3, 2, 4], [4])


@eager
def missing_piece_and_huge_splits() -> Any:
    return joined([missing(), piece(TWO)], tf.constant([0, 2**62, 2**62 + 2]), [4])


@eager
def splits_that_are_a_matrix() -> Any:
    return joined([missing(), piece(TWO)], [[0, 2, 4]], [4])


@eager
def splits_that_are_empty() -> Any:
    return joined([missing(), piece(TWO)], tf.zeros([0], tf.int64), [4])


@eager
def missing_strings() -> Any:
    return joined([missing(), piece(tf.constant(["a" * 50]))], [0, 2, 3], [3], tf.string)


@eager
def pieces_that_are_no_ragged_tensors() -> Any:
    lists = ops.EmptyTensorList(element_shape=tf.constant(-1), max_num_elements=2, element_dtype=tf.float32)
    return joined([lists, piece(TWO)], [0, 2, 4], [4])


@eager
def missing_elements_to_decode() -> Any:
    return ops.RaggedTensorFromVariant(
        encoded_ragged=tf.stack([missing(), piece(TWO)]), input_ragged_rank=0, output_ragged_rank=1, Tvalues=tf.float32
    )


@eager
def no_rows_that_would_be_huge() -> Any:
    nothing = tf.zeros([0, 2**40, 2**40])
    dense = ops.RaggedTensorToVariant(rt_nested_splits=[], rt_dense_values=nothing, batched_input=True)
    rows = ops.RaggedTensorToVariant(rt_nested_splits=[[0, 0, 0]], rt_dense_values=nothing, batched_input=True)
    return tf.size(dense), tf.size(rows)
