"""Properties of every slice: agreement with NumPy, and the adjoint identity."""

import backslice as bs
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import shapes_and_indices


def random_ints(shape, seed):
    return np.random.default_rng(seed).integers(-1000, 1000, shape)


@settings(max_examples=400)
@given(shapes_and_indices(), st.integers(0, 2**32))
def test_gradient_is_the_adjoint_of_the_slice(case, seed):
    """<slice(x), g> = <x, grad(g)>, exactly, on integers."""
    shape, index = case
    x = random_ints(shape, seed)
    y = bs.slice(x, index)
    assert np.array_equal(y, x[index]) and y.shape == x[index].shape
    g = random_ints(y.shape, seed + 1)
    assert np.sum(y * g) == np.sum(x * bs.slice_grad(g, shape, index))


@settings(max_examples=400)
@given(shapes_and_indices(), st.integers(0, 2**32))
def test_gradients_agree_with_numpy_assignment(case, seed):
    shape, index = case
    dx = np.zeros(shape, int)
    g = random_ints(dx[index].shape, seed)
    dx[index] = g
    assert np.array_equal(bs.slice_grad(g, shape, index), dx)
    out = random_ints(shape, seed + 2)
    expected = out.copy()
    expected[index] += g
    assert np.array_equal(bs.slice_grad(g, shape, index, out=out, accumulate=True), expected)


@settings(max_examples=200)
@given(st.data())
def test_high_ranks_agree_with_numpy(data):
    rank = data.draw(st.integers(9, 32))
    wide = data.draw(st.sets(st.integers(0, rank - 1), max_size=9))
    shape = tuple(2 + axis % 2 if axis in wide else 1 for axis in range(rank))
    index = tuple(
        slice(data.draw(st.sampled_from([None, 0, 1, -1])), None, data.draw(st.sampled_from([None, 2, -1])))
        for _ in range(data.draw(st.integers(0, rank)))
    )
    x = np.arange(np.prod(shape)).reshape(shape)
    assert np.array_equal(bs.slice(x, index), x[index])
    dx = np.zeros(shape, int)
    dx[index] = x[index]
    assert np.array_equal(bs.slice_grad(x[index], shape, index), dx)


@given(shapes_and_indices(), st.data())
def test_text_means_what_the_index_means(case, data):
    shape, index = case
    text = ", ".join(
        "..." if item is ... else "None" if item is None
        else f"{item.start}:{item.stop}:{item.step}".replace("None", data.draw(st.sampled_from(["", " None "])))
        if isinstance(item, slice) else str(item)
        for item in index
    )  # fmt: skip
    assert bs.Selection.from_index(shape, text) == bs.Selection.from_index(shape, index)
