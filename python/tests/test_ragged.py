"""RaggedTensor, VariantArray and the operations between them."""

import backslice as bs
import dtypes
import numpy as np
import pytest
from backslice.ragged import from_list, from_row_lengths
from hypothesis import given, settings
from hypothesis import strategies as st


def random_ragged(random, ragged_rank, inner=(), dtype="float64", splits_dtype="int64"):
    splits, count = [], int(random.integers(0, 6))
    for _ in range(ragged_rank):
        lengths = random.integers(0, 4, count)
        splits.append(np.concatenate([[0], np.cumsum(lengths)]).astype(splits_dtype))
        count = int(lengths.sum())
    return bs.RaggedTensor(random.integers(-9, 9, (count, *inner)).astype(dtype), splits)


seeds = st.integers(0, 2**32)


@settings(max_examples=200)
@given(seeds, st.integers(1, 4), st.sampled_from([(), (2,), (2, 3)]), st.sampled_from(["int32", "int64"]))
def test_encode_decode_and_gradient(seed, rank, inner, splits_dtype):
    random = np.random.default_rng(seed)
    rt = random_ragged(random, rank, inner, splits_dtype=splits_dtype)
    encoded = bs.ragged_tensor_to_variant(rt)
    assert len(encoded) == len(rt)
    assert [e.to_list() if rank > 1 else e.tolist() for e in encoded] == rt.to_list()
    if len(rt):
        back = bs.ragged_tensor_from_variant(encoded, rank - 1, rank)
        assert back == rt and back.nested_row_splits[0].dtype == splits_dtype
        shuffled = bs.VariantArray([encoded[i] for i in reversed(range(len(rt)))])
        assert bs.ragged_tensor_from_variant(shuffled, -1, rank, Tsplits=splits_dtype).to_list() == rt.to_list()[::-1]
    # The gradient is the adjoint: <encode(x), pieces> = <x, gradient(pieces)>, missing pieces counting as zeros.
    pieces = [
        None if random.random() < 0.3 else random.integers(-9, 9, np.shape(e.values if rank > 1 else e))
        for e in encoded
    ]
    dx = bs.ragged_tensor_to_variant_gradient(
        bs.VariantArray(pieces), list(rt.nested_row_splits), rt.values.shape, Tvalues=int
    )
    forward = sum(
        float(np.sum((e.values if rank > 1 else e) * p)) for e, p in zip(encoded, pieces, strict=True) if p is not None
    )
    assert forward == np.sum(rt.values * dx)
    # Double backward: the gradient of the gradient is the encoding again.
    again = bs.ragged_tensor_to_variant(bs.RaggedTensor(rt.values, rt.nested_row_splits))
    assert [np.asarray(getattr(e, "values", e)).tolist() for e in again] == [
        np.asarray(getattr(e, "values", e)).tolist() for e in encoded
    ]


@settings(max_examples=200)
@given(seeds, st.integers(1, 3), st.sampled_from(["1:3", "::2", "::-1", "::-2", ":", "2:2"]))
def test_row_slices_and_their_gradient(seed, rank, index):
    random = np.random.default_rng(seed)
    rt = random_ragged(random, rank)
    python_slice = slice(*(int(p) if p else None for p in index.split(":")))
    part = rt[python_slice]
    assert part.to_list() == rt.to_list()[python_slice]
    dy = random.integers(-9, 9, part.values.shape).astype(float)
    dx = rt.slice_grad(python_slice, dy)
    assert np.sum(part.values * dy) == np.sum(rt.values * dx)


@pytest.mark.parametrize("name", [n for n in dtypes.ALL if n != "float8_e8m0fnu"])
def test_every_dtype(name):
    values = dtypes.sample(name, 5)
    rt = bs.RaggedTensor(values, [0, 2, 2, 5])
    encoded = bs.ragged_tensor_to_variant(rt)
    assert dtypes.same(np.array(encoded[2]), values[2:])
    assert dtypes.same(np.array(bs.ragged_tensor_from_variant(encoded, 0, 1).values), values)
    grad = bs.ragged_tensor_to_variant_gradient(bs.VariantArray([values[3:], None, values[:3]]), [0, 2, 2, 5], [5])
    assert dtypes.same(np.array(grad), values[[3, 4, 0, 1, 2]])
    missing = bs.ragged_tensor_to_variant_gradient(bs.VariantArray([None, values[:3]]), [0, 2, 5], [5])
    assert missing.dtype == dtypes.ALL[name] and all(v == dtypes.zero(name) for v in missing[:2])


def test_neighbours_share_memory():
    values = np.arange(6.0)
    rt = bs.RaggedTensor(values, [0, 2, 2, 5, 6])
    assert np.shares_memory(rt.values, values) and not rt.values.flags.writeable
    encoded = bs.ragged_tensor_to_variant(rt)
    assert np.shares_memory(encoded[2], values)
    assert np.shares_memory(bs.ragged_tensor_from_variant(encoded, 0, 1).values, values)
    assert np.shares_memory(bs.ragged_tensor_to_variant_gradient(encoded, [0, 2, 2, 5, 6], [6]), values)
    listed = bs.VariantArray([values[0:2], values[2:2], values[2:5], values[5:6]])
    assert np.array_equal(bs.ragged_tensor_to_variant_gradient(listed, [0, 2, 2, 5, 6], [3, 2]), values.reshape(3, 2))


def test_worked_example():
    pieces = bs.VariantArray([np.array([2.0, 4]), None, np.array([6.0, 8, 10]), None])
    assert bs.ragged_tensor_to_variant_gradient(pieces, [0, 2, 2, 5, 6], [6]).tolist() == [2, 4, 6, 8, 10, 0]


ONE = bs.VariantArray([np.array([1.0, 2.0]), None])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: bs.RaggedTensor(np.ones(3), [1, 3]), bs.InvalidArgumentError, "must be 0"),
        (
            lambda: bs.RaggedTensor(np.ones(3), [0, 3, 1, 3]),
            bs.InvalidArgumentError,
            r"ragged_splits\[2\]=1 is smaller",
        ),
        (lambda: bs.RaggedTensor(np.ones(3), [0, 2]), bs.InvalidArgumentError, "is 2, but there are 3 values"),
        (lambda: bs.RaggedTensor(np.ones(3), np.array([0.0, 3])), bs.DTypeError, "expected int64 or int32"),
        (lambda: bs.RaggedTensor(3.0, [0]), bs.InvalidArgumentError, "scalar"),
        (lambda: bs.RaggedTensor(np.ones(3), [0, 3])[1], bs.OutOfRangeError, "out of bounds for 1 rows"),
        (lambda: bs.VariantArray([np.ones(2)], (2,)), bs.InvalidArgumentError, "there are 1"),
        (lambda: bs.VariantArray(3), bs.DTypeError, "expected a list"),
        (lambda: bs.VariantArray([{}]), bs.DTypeError, "type dict"),
        (lambda: bs.ragged_tensor_to_variant(np.float64(1)), bs.InvalidArgumentError, "Can't unbatch rank-0 tensor."),
        (lambda: bs.ragged_tensor_from_variant(ONE, 0, 1), bs.InvalidArgumentError, "element 1 of encoded is missing"),
        (lambda: bs.ragged_tensor_from_variant([1], 0, 1), bs.DTypeError, "expected a VariantArray"),
        (lambda: bs.ragged_tensor_to_variant_gradient(ONE, [0, 2, 3], [[3]]), bs.InvalidArgumentError, "1-D"),
        (lambda: bs.ragged_tensor_to_variant_gradient(ONE, [0, 2, 3], [-3]), bs.InvalidArgumentError, "must be >= 0"),
        (lambda: bs.ragged_tensor_to_variant_gradient(ONE, [0, 2], [2]), bs.InvalidArgumentError, "2 pieces"),
        (lambda: bs.ragged_tensor_to_variant_gradient(ONE, 0, [2]), bs.InvalidArgumentError, "scalar"),
        (
            lambda: bs.ragged_tensor_to_variant_gradient(ONE, [0, 2, 3], [4]),
            bs.InvalidArgumentError,
            "3 elements in all",
        ),
        (lambda: bs.ragged_tensor_to_variant_gradient(ONE, [0, 2, 9], [3]), bs.InvalidArgumentError, "piece 1 of 7"),
        (lambda: bs.ragged_tensor_to_variant_gradient(ONE, [0, 2, 3], [3], int), bs.DTypeError, "piece 0 has dtype"),
        (
            lambda: bs.ragged_tensor_to_variant_gradient(
                bs.VariantArray([np.ones(0, "f4"), np.ones(2)]), [0, 0, 2], [2]
            ),
            bs.DTypeError,
            "piece 1 has dtype float64, expected float32",
        ),
        (
            lambda: bs.ragged_tensor_to_variant_gradient(bs.VariantArray([None]), [0, 2], [2]),
            bs.InvalidArgumentError,
            "Tvalues",
        ),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_scalar_splits_when_nothing_is_missing():
    assert bs.ragged_tensor_to_variant_gradient(bs.VariantArray([np.array([1.0, 2.0])]), 0, [2]).tolist() == [1, 2]


def test_higher_ranks_and_gradient_of_decoding():
    rows = [np.array([1.0]), np.array([2.0, 3.0]), np.array([]), np.array([4.0])]
    encoded = bs.VariantArray(rows, (2, 2))
    assert encoded[1, 1].tolist() == [4] and encoded.reshape((4,))[3].tolist() == [4]
    decoded = bs.ragged_tensor_from_variant(encoded, 0, 2)
    assert decoded.to_list() == [[[1], [2, 3]], [[], [4]]]
    back = bs.ragged_tensor_from_variant_gradient(decoded, encoded.shape)
    assert back.shape == (2, 2) and [e.tolist() for e in back] == [r.tolist() for r in rows]
    whole = bs.ragged_tensor_to_variant(decoded, batched_input=False)
    assert whole.shape == () and bs.ragged_tensor_from_variant(whole, 2, 2) == decoded
    assert bs.ragged_tensor_from_variant(bs.VariantArray([np.ones(2), np.ones(2)]), 0, 0).values.shape == (2, 2)


def test_lists_and_lengths():
    assert from_list([[[1, 2], []], [[3]]]).to_list() == [[[1, 2], []], [[3]]]
    assert bs.RaggedTensor.from_list([[1.5], []], "float32").dtype == np.float32
    assert bs.RaggedTensor.from_row_lengths([1, 2, 3], [1, 1], [2, 1]).to_list() == [[[1, 2]], [[3]]]
    assert from_list([["a"], ["b", "c"]]).to_list() == [["a"], ["b", "c"]]
    assert from_list([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1).shape == (2, None, 2)
    assert from_row_lengths(np.arange(3), [2, 0, 1]).to_list() == [[0, 1], [], [2]]
    with pytest.raises(bs.InvalidArgumentError, match="negative"):
        from_row_lengths(np.arange(3), [4, -1])
    with pytest.raises(bs.InvalidArgumentError, match="not regular"):
        from_list([[[1, 2], [3]]], ragged_rank=1)
    with pytest.raises(TypeError):
        hash(from_list([[1]]))
    assert "2 more rows" in repr(from_list([[i] for i in range(10)]))
    assert from_list([[1], []]) == from_list([[1], []]) and from_list([[1], []]) != from_list([[], [1]])
