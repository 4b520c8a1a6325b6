"""multi_slice and slice, against TensorFlow's own slices and their gradients."""

from collections.abc import Callable
from typing import Any

import backslice as bs
import backslice.tensorflow as bst
import numpy as np
import pytest
import tensorflow as tf

# What multi_slice takes, and what TensorFlow or NumPy take for it.
INDICES = {
    "rows": (np.s_[1:3], np.s_[1:3]),
    "a column": (np.s_[:, 2], np.s_[:, 2]),
    "an integer": (-1, -1),
    "a NumPy integer": (np.int32(2), 2),
    "reversed": (np.s_[..., ::-2], np.s_[..., ::-2]),
    "new axes": (np.s_[None, 1, ..., None], np.s_[None, 1, ..., None]),
    "a text": ("1:, ..., -1", np.s_[1:, ..., -1]),
    "an empty index": ((), ()),
    "nothing": (np.s_[3:1], np.s_[3:1]),
    "far past the end": (np.s_[-(10**30) : 10**30], np.s_[:]),
    "past the end": (np.s_[-99:99, 4:99], np.s_[-99:99, 4:99]),
    "a Selection": (bs.Selection.from_index((4, 5, 6), np.s_[::2, 1:4, 3]), np.s_[::2, 1:4, 3]),
}
X = np.random.default_rng(1).normal(size=(4, 5, 6))


def squares(slices: list[tf.Tensor]) -> tf.Tensor:
    return tf.add_n([tf.reduce_sum(y * y * (i + 1)) for i, y in enumerate(slices)])


def gradient(x: tf.Tensor, slicer: Callable[[tf.Tensor], list[tf.Tensor]]) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = squares(slicer(x))
    return tape.gradient(loss, x)


@pytest.mark.parametrize("name", INDICES)
def test_one_slice(name: str) -> None:
    index, same = INDICES[name]
    x = tf.constant(X)
    assert np.array_equal(bst.slice(x, index), X[same])
    dx = gradient(x, lambda x: [bst.slice(x, index)])
    assert np.array_equal(dx, gradient(x, lambda x: [x[same]]))


def test_all_of_them_at_once() -> None:
    x = tf.Variable(X)
    slices = bst.multi_slice(x, [index for index, _ in INDICES.values()])
    for y, (_, same) in zip(slices, INDICES.values(), strict=True):
        assert np.array_equal(y, X[same])
    ours = gradient(x, lambda x: bst.multi_slice(x, [index for index, _ in INDICES.values()]))
    theirs = gradient(x, lambda x: [x[same] for _, same in INDICES.values()])
    np.testing.assert_allclose(ours, theirs, rtol=1e-14)  # sums in another order


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_every_type_with_a_gradient(dtype: str) -> None:
    x = tf.cast(tf.constant(X * 8), dtype)
    indices = [np.s_[:, 0], np.s_[:, 1], np.s_[:, 4]]
    ours = gradient(x, lambda x: bst.multi_slice(x, indices))
    theirs = gradient(x, lambda x: [x[i] for i in indices])
    assert ours.dtype == dtype and np.array_equal(ours, theirs)


def test_overlapping_slices_add_up() -> None:
    x = tf.constant(X)
    dx = gradient(x, lambda x: bst.multi_slice(x, [np.s_[0:3], np.s_[1:4]]))
    np.testing.assert_allclose(dx[1], 2 * X[1] + 4 * X[1])


def test_slices_that_the_loss_does_not_use() -> None:
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(bst.multi_slice(x, [np.s_[0], np.s_[1], np.s_[2]])[1])
    dx = tape.gradient(loss, x).numpy()
    assert np.all(dx[1] == 1) and dx.sum() == X[1].size


def test_functions_know_the_shapes_that_can_be_known() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 5, 6]), tf.TensorSpec([], tf.int32)])
    def slices(x: tf.Tensor, t: tf.Tensor) -> list[tf.Tensor]:
        return bst.multi_slice(x, [np.s_[:, 2], np.s_[1:3], np.s_[:, 1:4], (slice(None), t), np.s_[..., None]])

    shapes = [y.shape.as_list() for y in slices.get_concrete_function().outputs]
    assert shapes == [[None, 6], [None, 5, 6], [None, 3, 6], [None, 6], [None, 5, 6, 1]]
    assert np.array_equal(slices(tf.constant(X, tf.float32), 3)[3], X[:, 3].astype("f4"))


@pytest.mark.parametrize("shape", [[None, None, None], None], ids=["unknown extents", "unknown rank"])
def test_gradients_in_functions_of_unknown_shape(shape: Any) -> None:
    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float64), tf.TensorSpec([], tf.int64)])
    def dx(x: tf.Tensor, t: tf.Tensor) -> tf.Tensor:
        return gradient(x, lambda x: bst.multi_slice(x, [np.s_[:, 2], (slice(None), t), slice(t, None)]))

    expected = gradient(tf.constant(X), lambda x: [x[:, 2], x[:, 1], x[1:]])
    np.testing.assert_allclose(dx(X, 1), expected, rtol=1e-14)


def test_loops_with_an_index_per_step() -> None:
    @tf.function
    def dx(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.constant(0.0, tf.float64)
            for t in tf.range(4):
                first, second = bst.multi_slice(x, [(slice(None), t), (slice(None), t + 1)])
                loss += tf.reduce_sum(first * second)
        return tape.gradient(loss, x)

    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.add_n([tf.reduce_sum(x[:, t] * x[:, t + 1]) for t in range(4)])
    np.testing.assert_allclose(dx(x), tape.gradient(loss, x), rtol=1e-14)


def test_second_and_third_derivatives() -> None:
    def derivative(slicer: Any, order: int, x: tf.Tensor) -> tf.Tensor:
        if order == 0:
            return tf.add_n([tf.reduce_sum(y**4) for y in slicer(x)])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(derivative(slicer, order - 1, x) ** 2)
        return tape.gradient(y, x)

    indices, x = [np.s_[1:3], np.s_[:, 2], np.s_[..., ::2]], tf.constant(X)
    for order in (1, 2, 3):
        ours = derivative(lambda x: bst.multi_slice(x, indices), order, x)
        theirs = derivative(lambda x: [x[i] for i in indices], order, x)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_forward_mode() -> None:
    x, v = tf.constant(X), tf.constant(X[::-1].copy())
    with tf.autodiff.ForwardAccumulator(x, v) as accumulator:
        first, second = bst.multi_slice(x, [np.s_[:, 2], np.s_[1:]])
    assert np.array_equal(accumulator.jvp(first), v[:, 2]) and np.array_equal(accumulator.jvp(second), v[1:])


def test_512_slices_of_a_tensor_where_tensorflow_runs_out_of_memory() -> None:
    x = tf.Variable(tf.ones([64, 512, 1024]))
    with tf.GradientTape() as tape:
        steps = bst.multi_slice(x, [(slice(None), t) for t in range(512)])
    dys = [tf.fill([64, 1024], float(t)) for t in range(512)]
    dx = tape.gradient(steps, x, output_gradients=dys)
    assert np.array_equal(tf.reduce_max(dx, axis=[0, 2]), np.arange(512.0))
    assert np.array_equal(tf.reduce_min(dx, axis=[0, 2]), np.arange(512.0))


def test_shared_rows_do_not_follow_a_variable_that_changes() -> None:
    x = tf.Variable(tf.ones([64, 64]))
    rows = bst.slice(x, np.s_[16:32])
    x.assign_add(tf.ones([64, 64]))
    x[20].assign(tf.zeros([64]))
    assert np.all(rows.numpy() == 1)


def test_shared_rows_are_not_written_to() -> None:
    @tf.function
    def summed(x: tf.Tensor) -> tf.Tensor:
        rows = bst.slice(x, np.s_[16:32])
        return -tf.exp(rows + 1) * 2  # each may write into its input where nobody else reads it

    x = tf.ones([64, 64])
    summed(x)
    tf.negative(tf.exp(bst.slice(x, np.s_[16:32])))
    assert np.all(x.numpy() == 1)


def test_shared_rows_outlive_what_they_are_rows_of() -> None:
    rows = [bst.slice(tf.fill([64, 64], float(i)), np.s_[16:32]) for i in range(50)]
    assert [float(tf.reduce_max(r)) for r in rows] == [float(i) for i in range(50)]


def test_jacobians_and_vectorized_maps() -> None:
    x = tf.constant(X[:2, :3, 0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, second = bst.multi_slice(x, [np.s_[:, 0], np.s_[:, 2]])
        y = first * second
    jacobian = tape.jacobian(y, x).numpy()
    assert jacobian[1, 1].tolist() == [x[1, 2], 0, x[1, 0]] and not jacobian[0, 1].any()
    columns = tf.vectorized_map(lambda row: bst.slice(row, np.s_[1:]), x)
    assert np.array_equal(columns, x[:, 1:])


def test_no_slices() -> None:
    assert bst.multi_slice(tf.ones([3]), []) == []


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        ([0, 1], TypeError, r"index\[0\] is \[0, 1\], expected an integer"),
        (np.s_[0, np.array([True, False])], TypeError, r"index\[1\]"),
        (True, TypeError, r"index\[0\] is True"),
        (np.s_[1.5:], TypeError, r"index\[0\].start is 1.5"),
        (tf.constant([1, 2]), TypeError, "shape .2,."),
        (bs.Selection.from_index((2,), "0"), ValueError, r"shape \(2,\), but x has shape \(4, 5, 6\)"),
        (9, tf.errors.InvalidArgumentError, "slice 1 of 2: slice index 9 of dimension 0 out of bounds"),
        (np.s_[0, 0, 0, 0], tf.errors.InvalidArgumentError, "slice 1 of 2: Index out of range"),
        (np.s_[::0], tf.errors.InvalidArgumentError, "must be non-zero"),
    ],
    ids=str,
)
def test_wrong_indices(index: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        bst.multi_slice(tf.constant(X), [0, index])


@pytest.mark.parametrize("name", INDICES)
def test_gradients_as_functions(name: str) -> None:
    index, same = INDICES[name]
    dy = tf.constant(X[same])
    expected = np.zeros_like(X)
    expected[same] = X[same]
    assert np.array_equal(bst.slice_grad(dy, X.shape, index), expected)
    assert np.array_equal(bst.slice_grad(dy, tf.constant(X.shape), index), expected)


def test_the_gradient_of_many_slices_as_a_function() -> None:
    dx = bst.multi_slice_grad([4], [("0:2", tf.ones(2)), (slice(1, 3), [1.0, 1.0])])
    assert dx.numpy().tolist() == [1, 2, 1, 0]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec(None)])
    def of_unknown_shape(shape: tf.Tensor, dy: tf.Tensor) -> tf.Tensor:
        return bst.slice_grad(dy, shape, np.s_[..., 1])

    assert of_unknown_shape([2, 2], [3.0, 4.0]).numpy().tolist() == [[0, 3], [0, 4]]
    with pytest.raises(ValueError, match="slices is empty"):
        bst.multi_slice_grad([4], [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        bst.slice_grad(tf.ones(3), [4], "1:3")
