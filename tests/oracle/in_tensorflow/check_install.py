"""Installing and uninstalling, and what the kernels do that TensorFlow's own do not."""

import threading

import backslice.tensorflow as bst
import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf

OPS = ("StridedSliceGrad", "SparseSlice", "SparseSliceGrad")


def is_fast() -> bool:
    reasons = {bst.status()[op].reason for op in OPS}
    assert len(reasons) == 1 and {bst.status()[op].kernel for op in OPS} == {"backslice"}
    return reasons == {"installed"}


def gradient_of_rows() -> np.ndarray:
    x = tf.Variable(np.arange(12.0).reshape(4, 3))
    with tf.GradientTape() as tape:
        y = x[1:3] ** 2
    return tape.gradient(y, x).numpy()


def test_install_and_uninstall_say_so_and_give_equal_gradients() -> None:
    for _ in range(3):
        bst.install()
        assert is_fast()
        fast = gradient_of_rows()
        bst.uninstall()
        assert not is_fast()
        assert np.array_equal(gradient_of_rows(), fast) and fast[1].tolist() == [6.0, 8.0, 10.0]


def test_installing_twice_and_uninstalling_twice_are_harmless() -> None:
    bst.install()
    bst.install()
    assert is_fast()
    bst.uninstall()
    bst.uninstall()
    assert not is_fast()


def test_enabled_leaves_things_as_they_were() -> None:
    with bst.enabled():
        assert is_fast()
        with bst.enabled():
            pass
        assert is_fast()
    assert not is_fast()
    with pytest.raises(KeyError), bst.enabled():
        raise KeyError
    assert not is_fast()


def test_blocks_that_overlap_in_threads_are_all_enabled() -> None:
    first_began, second_began, first_ended = threading.Event(), threading.Event(), threading.Event()
    seen: list[bool] = []

    def first() -> None:
        with bst.enabled():
            first_began.set()
            assert second_began.wait(60)
        first_ended.set()

    def second() -> None:
        assert first_began.wait(60)
        with bst.enabled():
            second_began.set()
            assert first_ended.wait(60)
            seen.append(is_fast())

    threads = [threading.Thread(target=run) for run in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert seen == [True] and not is_fast()


def test_status_names_what_it_does_not_know() -> None:
    with pytest.raises(KeyError, match="'Slice' is none of the ops of this table: StridedSliceGrad"):
        bst.status()["Slice"]


def test_status_is_a_table_that_names_what_stays_tensorflows(installed: None) -> None:
    status = bst.status()
    assert status["StridedSlice"].kernel == "TensorFlow" and "int4" in status["StridedSlice"].reason
    assert status["StridedSlice"].version == tf.__version__
    text = str(status)
    assert all(op in text for op in OPS) and "jit_compile" in text and "GPU" in text


@pytest.mark.parametrize("rank", [9, 16, 32])
def test_rank_9_and_above(installed: None, rank: int) -> None:
    x = tf.ones([2] * 9 + [1] * (rank - 9))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[0:1] * 3
    dx = tape.gradient(y, x).numpy()
    assert np.all(dx[0] == 3) and np.all(dx[1] == 0)


def test_rank_33_is_refused(installed: None) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="33 axes; at most 32"):
        tf.raw_ops.StridedSliceGrad(shape=[1] * 33, begin=[0], end=[1], strides=[1], dy=tf.ones([1] * 33))


ALL_WITHOUT_KERNEL = {
    "int4": ml_dtypes.int4,
    "uint4": ml_dtypes.uint4,
    "qint16": np.dtype([("qint16", "i2")]),
    "quint16": np.dtype([("quint16", "u2")]),
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}


def has(dtype: str) -> bool:
    """Return whether this version of TensorFlow has the type at all: 2.16 lacks some of the float8 types."""
    try:
        return bool(tf.as_dtype(dtype))
    except TypeError:
        return False


WITHOUT_KERNEL = {name: dtype for name, dtype in ALL_WITHOUT_KERNEL.items() if has(name)}


def test_most_of_these_types_are_there() -> None:
    assert set(WITHOUT_KERNEL) >= {"int4", "uint4", "qint16", "quint16"}
    if has("float8_e4m3fnuz"):
        assert WITHOUT_KERNEL == ALL_WITHOUT_KERNEL


@pytest.mark.parametrize("dtype", WITHOUT_KERNEL)
def test_types_that_tensorflow_has_no_kernel_for(dtype: str) -> None:
    plain = np.array([1, 2, 3, 4], "u2" if dtype.endswith("t16") else "u1")
    x = tf.constant(plain.view(WITHOUT_KERNEL[dtype]), tf.as_dtype(dtype))

    def gradient() -> tf.Tensor:
        return tf.raw_ops.StridedSliceGrad(shape=[6], begin=[1], end=[5], strides=[1], dy=x)

    for switch in (bst.install, bst.uninstall):
        switch()
        assert x[1:3].numpy().view(plain.dtype).tolist() == [2, 3]
        assert gradient().numpy().view(plain.dtype).tolist() == [0, 1, 2, 3, 4, 0]
        kept = tf.raw_ops.SparseSlice(indices=[[0], [1], [2], [3]], values=x, shape=[4], start=[2], size=[9])
        assert kept.output_values.numpy().view(plain.dtype).tolist() == [3, 4]


@pytest.mark.parametrize(("dtype", "width"), [("qint8", "i1"), ("quint8", "u1"), ("qint32", "i4")])
def test_sparse_gradients_of_quantised_types(installed: None, dtype: str, width: str) -> None:
    """TensorFlow's document has them, and it has no kernels for them."""
    grad = tf.constant(np.array([5, 7], width).view([(dtype, width)]), tf.as_dtype(dtype))
    dx = tf.raw_ops.SparseSliceGrad(
        backprop_val_grad=grad, input_indices=[[0], [2], [3]], input_start=[2], output_indices=[[0], [1]]
    )
    assert dx.numpy().view(width).tolist() == [0, 5, 7]


@pytest.mark.parametrize("length", [0, 1, 22, 23, 200])
def test_strings_of_every_length(installed: None, length: int) -> None:
    texts = [b"a" * length, b"b\0" * length, bytes(length)]
    dy = tf.constant(texts)
    dx = tf.raw_ops.StridedSliceGrad(shape=[5], begin=[-1], end=[0], strides=[-2], end_mask=1, dy=dy)
    assert dx.numpy().tolist() == [texts[2], b"", texts[1], b"", texts[0]]
    joined = tf.strings.join([dx, dx])  # reads them again
    assert joined.numpy().tolist() == [text * 2 for text in dx.numpy().tolist()]
    assert tf.constant(texts)[::-1].numpy().tolist() == texts[::-1]


def test_variants_keep_tensorflows_kernel(installed: None) -> None:
    rows = tf.ragged.constant([[1.0], [2.0, 3.0]])
    encoded = tf.raw_ops.RaggedTensorToVariant(
        rt_nested_splits=rows.nested_row_splits, rt_dense_values=rows.flat_values, batched_input=True
    )
    dx = tf.raw_ops.StridedSliceGrad(shape=[4], begin=[1], end=[3], strides=[1], dy=encoded)
    assert dx.shape == [4] and dx.dtype == tf.variant


def test_results_live_on_after_their_inputs_and_kernels(installed: None) -> None:
    results = [gradient_of_rows() for _ in range(3)]
    kept = [
        tf.raw_ops.StridedSliceGrad(shape=[1 << 20], begin=[i], end=[i + 1], strides=[1], dy=tf.constant([float(i)]))
        for i in range(20)
    ]
    bst.uninstall()
    assert all(np.array_equal(result, results[0]) for result in results)
    assert [float(tf.reduce_sum(dx)) for dx in kept] == [float(i) for i in range(20)]
