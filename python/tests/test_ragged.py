"""RaggedTensor, VariantArray and the operations between them."""

import subprocess
import sys

import backslice as bs
import dtypes
import numpy as np
import pytest
from backslice.ragged import from_list
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
    # The gradient is the adjoint: <encode(x), pieces> = <x, gradient(pieces)>, with zeros for missing pieces.
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
            r"nested_row_splits\[0\]\[2\] is 1, smaller",
        ),
        (lambda: bs.RaggedTensor(np.ones(3), [0, 2]), bs.InvalidArgumentError, "is for 2 values, but there are 3"),
        (lambda: bs.RaggedTensor(np.ones(3), np.array([0.0, 3])), bs.DTypeError, "expected int64 or int32"),
        (lambda: bs.RaggedTensor(3.0, [0]), bs.InvalidArgumentError, "scalar"),
        (lambda: bs.RaggedTensor(np.ones(3), [0, 3])[1], bs.OutOfRangeError, "out of bounds for 1 row"),
        (lambda: bs.RaggedTensor(np.ones(3), [0, 3])["\ud800"], bs.InvalidArgumentError, "lone surrogates"),
        (lambda: bs.RaggedTensor(np.ones(3), [0, 3])[[0]], bs.UnimplementedError, "advanced indexing"),
        (lambda: bs.VariantArray([np.ones(2)], (2,)), bs.InvalidArgumentError, "elements has 1"),
        (lambda: bs.VariantArray(3), bs.DTypeError, "expected a list"),
        (lambda: bs.VariantArray([{}]), bs.DTypeError, "type dict"),
        (lambda: bs.ragged_tensor_to_variant(np.float64(1)), bs.InvalidArgumentError, "a scalar, which has no rows"),
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
        (lambda: bs.ragged_tensor_to_variant_gradient(ONE, [0, 2, 9], [3]), bs.InvalidArgumentError, "7 elements to piece 1"),
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


def test_missing_pieces_whose_size_overflows():
    pieces = bs.VariantArray([None, np.ones(2)])
    with pytest.raises(bs.InvalidArgumentError, match=r"piece 0 is missing.*more than"):
        bs.ragged_tensor_to_variant_gradient(pieces, [0, 1, 3], [0, 2, 2**63 - 1])


@pytest.mark.parametrize("dtype", ["S100000000", "S64", "U7", ">f8", ">i4"])
def test_missing_pieces_have_the_size_of_the_dtype(dtype):
    out = bs.ragged_tensor_to_variant_gradient(bs.VariantArray([None]), [0, 3], [3], Tvalues=dtype)
    assert out.dtype == dtype and out.strides == (out.dtype.itemsize,)
    assert np.array_equal(out, np.zeros(3, dtype))


@pytest.mark.parametrize(("kind", "zero"), [(str, ""), (bytes, b"")])
def test_strings_without_a_width(kind, zero):
    assert bs.ragged_tensor_to_variant_gradient(bs.VariantArray([None]), [0, 1], [1], kind).tolist() == [zero]
    other = np.array([b"x" if kind is str else "x"], object)
    with pytest.raises(bs.DTypeError, match="but the elements hold"):
        bs.ragged_tensor_to_variant_gradient(bs.VariantArray([other]), [0, 1], [1], kind)


def test_an_ellipsis_that_takes_all_of_the_rest():
    rt = bs.RaggedTensor(np.arange(4.0), [0, 2, 4])
    assert rt[...] == rt and rt[()] == rt and rt["..."] == rt
    assert rt[1:, ...].to_list() == [[2, 3]] and rt[0, ...].tolist() == [0, 1]


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("row", [0, 1, -1, "2", np.int32(1)])
def test_the_gradient_of_one_row(rank, row):
    values = np.arange(12.0).reshape(6, 2)
    rt = bs.RaggedTensor(values, [[0, 1, 1, 3], [0, 2, 5, 6]][2 - rank :] if rank else [])
    taken = rt[row]
    dy = np.random.default_rng(0).integers(1, 9, np.shape(getattr(taken, "values", taken))).astype(float)
    dx = rt.slice_grad(row, dy)
    assert np.sum(np.asarray(getattr(taken, "values", taken)) * dy) == np.sum(values * dx)
    assert dx.shape == values.shape and np.count_nonzero(dx) == dy.size
    if rank == 2:
        ragged = bs.RaggedTensor(dy, taken.nested_row_splits)
        assert np.array_equal(rt.slice_grad(row, ragged), dx)


@pytest.mark.parametrize(
    "grad", [np.array(["a", "b"], object), np.ones(2, "f4"), np.ones(2, ">f8"), np.array(["a", "b"])]
)
def test_gradients_have_the_dtype_of_the_values(grad):
    rt = bs.RaggedTensor(np.arange(4.0), [0, 2, 4])
    with pytest.raises(bs.DTypeError, match="expected float64, that of the values"):
        rt.slice_grad(np.s_[:1], grad)
    words = from_list([["a", "b"]])
    with pytest.raises(bs.DTypeError, match=r"strings, which have no gradient|expected object"):
        words.slice_grad(np.s_[:1], grad)


def test_repr_of_any_text_and_length():
    text = repr(from_list([["ü" * 150, "é" * 170], ["ß" * 90]]))
    assert text.startswith("RaggedTensor([['ü") and " ...], shape (2, None)" in text
    assert "10000000 values" in repr(bs.RaggedTensor(np.zeros(10**7), [0, 10**7]))
    assert "0 values" in repr(bs.RaggedTensor(np.zeros((2**40, 0), "i1"), [0, 2**40]))


def test_arrays_of_variants_are_iterated_one_element_at_a_time():
    many = bs.ragged_tensor_to_variant(np.zeros((2**62, 0), "i1"))
    assert next(iter(many)).shape == (0,)
    with pytest.raises(bs.ResourceExhaustedError, match="too many"):
        bs.ragged_tensor_from_variant(many, 0, 1)
    assert bs.VariantArray([], (0, 2**40, 2**40)).shape == (0, 2**40, 2**40)


def test_slicing_many_short_rows_needs_little_more_memory_than_the_result():
    program = """
import resource, numpy as np, backslice as bs
rt = bs.RaggedTensor(np.arange(2**20, dtype=np.float32), np.arange(2**20 + 1))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert rt[::-1].values[0] == 2**20 - 1
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert int(done.stdout) * 1024 < 100 * 2**20
