"""Ragged tensors to and from awkward, Arrow and SciPy's CSR, without copies."""

import doctest
import re
from collections.abc import Callable
from typing import Any

import awkward as ak
import backslice as bs
import backslice.arrow
import backslice.awkward
import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from backslice.arrow import from_arrow, to_arrow
from backslice.awkward import from_awkward, to_awkward
from backslice.ragged import from_list
from backslice.scipy import csr_from_ragged, ragged_from_csr

NESTED = [[[1.0, 2.0], []], [], [[3.0], [4.0, 5.0, 6.0]]]


@pytest.mark.parametrize("rows", [NESTED, [[1.0], [], [2.0, 3.0]], [[], []]])
def test_awkward(rows: list) -> None:
    rt = from_list(rows, float)
    array = to_awkward(rt)
    assert ak.to_list(array) == rows
    back = from_awkward(array)
    assert back == rt
    assert not rt.values.size or (
        np.shares_memory(np.asarray(ak.flatten(array, axis=None)), rt.values) or rt.ragged_rank > 1
    )
    assert not rt.values.size or np.shares_memory(back.values, rt.values)


def test_awkward_that_was_sliced() -> None:
    array = ak.Array([[1, 2], [3], [], [4, 5, 6]])
    assert from_awkward(array[1:]).to_list() == [[3], [], [4, 5, 6]]
    assert from_awkward(array[[3, 0]]).to_list() == [[4, 5, 6], [1, 2]]
    with pytest.raises(bs.DTypeError, match="expected numbers"):
        from_awkward(ak.Array([[{"x": 1}]]))


@pytest.mark.parametrize("rows", [[["a", "bc"], []], [[b"\xff"], [b""]], [[["é"], []], [], [["x", "y"]]]])
def test_strings_stay_strings(rows: list) -> None:
    rt = from_list(rows, object)
    assert from_awkward(ak.Array(rows)) == rt and ak.to_list(to_awkward(rt)) == rows
    assert from_awkward(ak.Array(rows)[1:]).to_list() == rows[1:]
    assert to_arrow(rt).to_pylist() == rows and from_arrow(to_arrow(rt)) == rt


@pytest.mark.parametrize(
    "name", ["bfloat16", "float8_e4m3fn", "int4", "uint2", "qint8", "qint32", ">f8", ">i2", ">c16"]
)
@pytest.mark.parametrize("convert", [to_awkward, to_arrow])
def test_dtypes_that_neighbours_do_not_have(name: str, convert: Callable[[bs.RaggedTensor], Any]) -> None:
    """The code in the error message works, and loses nothing."""
    quantised = {"qint8": np.dtype([("qint8", "i1")]), "qint32": np.dtype([("qint32", "i4")])}
    dtype = quantised.get(name) or np.dtype(getattr(ml_dtypes, name, name))
    values = (np.arange(3) + (1e-9 if name == ">f8" else 0)).astype(dtype[0] if dtype.names else dtype).view(dtype)
    rt = bs.RaggedTensor(values, [0, 1, 3])
    with pytest.raises(bs.UnimplementedError, match=re.escape(str(rt.dtype))) as refusal:
        convert(rt)
    advice = str(refusal.value).partition("for example ")[2]
    converted = eval(advice, {"rt": rt, "RaggedTensor": bs.RaggedTensor})
    plain = values.view(dtype[0]) if dtype.names else values
    assert np.array_equal(converted.values.astype(plain.dtype), plain)
    if name != ">c16":  # Arrow has no complex numbers
        assert len(convert(converted)) == 2


def test_complex_numbers_are_two_arrays_in_arrow() -> None:
    rt = bs.RaggedTensor(np.array([1 + 2j, 3, 4j]), [0, 1, 3])
    with pytest.raises(
        bs.UnimplementedError, match=r"rt\.values\.real and rt\.values\.imag, each in its own RaggedTensor"
    ):
        to_arrow(rt)
    assert to_arrow(bs.RaggedTensor(rt.values.imag, rt.nested_row_splits)).to_pylist() == [[2], [0, 4]]


@pytest.mark.parametrize("splits", ["int32", "int64"])
def test_arrow(splits: str) -> None:
    deep = from_list(NESTED)
    rt = bs.RaggedTensor(deep.values, [s.astype(splits) for s in deep.nested_row_splits])
    array = to_arrow(rt)
    assert isinstance(array, pa.ListArray if splits == "int32" else pa.LargeListArray)
    assert array.to_pylist() == NESTED
    back = from_arrow(array)
    assert back == rt and back.nested_row_splits[0].dtype == splits
    assert np.shares_memory(back.values, rt.values)


def test_arrow_slices_and_nulls() -> None:
    array = pa.array([[1, 2], [3], [], [4, 5, 6]])
    assert from_arrow(array.slice(1, 2)).to_list() == [[3], []]
    assert from_arrow(array.slice(1)).to_list() == [[3], [], [4, 5, 6]]
    with pytest.raises(bs.InvalidArgumentError, match=r"nulls.*, 1 of them; fill or drop them first"):
        from_arrow(pa.array([[1], None]))
    with pytest.raises(bs.InvalidArgumentError, match=r"nulls.*, 1 of them; fill or drop them first"):
        from_arrow(pa.array([[1, None]]))
    with pytest.raises(bs.DTypeError, match="ListArray"):
        from_arrow(pa.array([1, 2]))


def test_csr() -> None:
    a = scipy.sparse.csr_array(np.array([[1.0, 0, 2], [0, 0, 0], [0, 3, 0]]))
    rt = ragged_from_csr(a)
    assert rt.to_list() == [[1, 2], [], [3]]
    assert np.shares_memory(rt.values, a.data)
    a.indptr[-1] = 2**30  # does not change the tensor's splits
    assert rt[::-1].to_list() == [[3], [], [1, 2]]
    a.indptr[-1] = 3
    back = csr_from_ragged(rt, a.indices, a.shape)
    assert np.array_equal(back.toarray(), a.toarray())
    with pytest.raises(bs.DTypeError, match="csr"):
        ragged_from_csr(a.tocoo())


def test_arrow_lists_of_every_kind() -> None:
    chunks = pa.chunked_array([[[1, 2], []], [[3]]])
    assert from_arrow(chunks).to_list() == [[1, 2], [], [3]]
    assert np.shares_memory(from_arrow(chunks[:2]).values, chunks.chunk(0).values.to_numpy())
    assert from_arrow(pa.chunked_array([], pa.list_(pa.int8()))).to_list() == []
    fixed = pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int32(), 2))
    assert from_arrow(fixed[1:]).to_list() == [[3, 4], [5, 6]] and from_arrow(fixed).values.shape == (6,)
    inner = from_arrow(pa.array([[[1, 2]], [], [[3, 4], [5, 6]]], pa.list_(pa.list_(pa.int32(), 2))))
    assert (
        inner.ragged_rank == 1 and inner.values.shape == (3, 2) and inner.nested_row_splits[0].tolist() == [0, 1, 1, 3]
    )
    outer = from_arrow(pa.array([[[1], [2, 3]], [[], [4]]], pa.list_(pa.list_(pa.int32()), 2)))
    assert outer.ragged_rank == 2 and outer.to_list() == [[[1], [2, 3]], [[], [4]]]
    assert from_arrow(pa.array([[], []], pa.list_(pa.int32(), 0))).to_list() == [[], []]
    with pytest.raises(bs.InvalidArgumentError, match="has nulls at depth 0, 1 of them"):
        from_arrow(pa.array([[1, 2], None], pa.list_(pa.int32(), 2)))
    with pytest.raises(bs.DTypeError, match="expected an array of lists, such as a ListArray, got Int64Array"):
        from_arrow(pa.array([1]))


@pytest.mark.parametrize("kind", ["ListViewArray", "LargeListViewArray"])
def test_arrow_list_views(kind: str) -> None:
    views = getattr(pa, kind).from_arrays([3, 0, 1, 0], [2, 0, 2, 1], pa.array([1, 2, 3, 4, 5]))
    assert from_arrow(views).to_list() == views.to_pylist() == [[4, 5], [], [2, 3], [1]]
    assert from_arrow(views[1:3]).to_list() == [[], [2, 3]]
    splits = from_arrow(views).nested_row_splits[0]
    assert splits.dtype == (np.int32 if kind == "ListViewArray" else np.int64)


def test_awkward_lists_of_every_kind() -> None:
    regular = ak.to_regular(ak.Array([[1, 2], [3, 4]]))
    assert from_awkward(regular).to_list() == [[1, 2], [3, 4]] and from_awkward(regular).ragged_rank == 1
    inner = ak.Array(
        ak.contents.ListOffsetArray(
            ak.index.Index64(np.array([0, 1, 3])), ak.contents.RegularArray(ak.contents.NumpyArray(np.arange(6)), 2)
        )
    )
    assert from_awkward(inner).values.shape == (3, 2) and from_awkward(inner).to_list() == [[[0, 1]], [[2, 3], [4, 5]]]
    assert np.shares_memory(from_awkward(inner).values, inner.layout.content.content.data)
    outer = ak.to_regular(ak.Array([[[1], [2, 3]], [[], [4]]]), axis=1)
    assert from_awkward(outer).to_list() == [[[1], [2, 3]], [[], [4]]]
    assert from_awkward(ak.Array(np.arange(6).reshape(3, 2))).to_list() == [[0, 1], [2, 3], [4, 5]]
    assert from_awkward(ak.Array([[], []])).to_list() == [[], []]
    assert from_awkward(ak.Array([])).to_list() == []


def test_missing_values_of_awkward_are_refused() -> None:
    with pytest.raises(bs.DTypeError, match=r"is of type IndexedOptionArray, .*; ak.fill_none replaces missing"):
        from_awkward(ak.Array([[1, None]]))


def test_awkward_offsets_of_several_types() -> None:
    for outer_type, inner_type, expected in [
        (ak.index.Index32, ak.index.Index32, np.int32),
        (ak.index.IndexU32, ak.index.Index32, np.int64),
        (ak.index.Index32, ak.index.Index64, np.int64),
        (ak.index.IndexU32, ak.index.IndexU32, np.int64),
    ]:
        inner = ak.contents.ListOffsetArray(
            inner_type(np.array([0, 2, 3], inner_type._expected_dtype)), ak.contents.NumpyArray(np.arange(3))
        )
        array = ak.Array(
            ak.contents.ListOffsetArray(outer_type(np.array([0, 0, 2], outer_type._expected_dtype)), inner)
        )
        rt = from_awkward(array)
        assert rt.to_list() == array.to_list() == [[], [[0, 1], [2]]]
        assert all(splits.dtype == expected for splits in rt.nested_row_splits)
        assert np.shares_memory(rt.values, inner.content.data)


@pytest.mark.parametrize("module", [backslice.awkward, backslice.arrow], ids=lambda module: module.__name__)
def test_examples_of_docstrings_run(module: Any) -> None:
    assert doctest.testmod(module).failed == 0
