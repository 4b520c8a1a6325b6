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
    """The advice works, and loses nothing."""
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
    if name != ">c16":  # Arrow has no complex numbers at all
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
    with pytest.raises(bs.InvalidArgumentError, match="1 nulls"):
        from_arrow(pa.array([[1], None]))
    with pytest.raises(bs.InvalidArgumentError, match="1 nulls"):
        from_arrow(pa.array([[1, None]]))
    with pytest.raises(bs.DTypeError, match="ListArray"):
        from_arrow(pa.array([1, 2]))


def test_csr() -> None:
    a = scipy.sparse.csr_array(np.array([[1.0, 0, 2], [0, 0, 0], [0, 3, 0]]))
    rt = ragged_from_csr(a)
    assert rt.to_list() == [[1, 2], [], [3]]
    assert np.shares_memory(rt.values, a.data)
    a.indptr[-1] = 2**30  # no longer the tensor's splits
    assert rt[::-1].to_list() == [[3], [], [1, 2]]
    a.indptr[-1] = 3
    back = csr_from_ragged(rt, a.indices, a.shape)
    assert np.array_equal(back.toarray(), a.toarray())
    with pytest.raises(bs.DTypeError, match="csr"):
        ragged_from_csr(a.tocoo())


@pytest.mark.parametrize("module", [backslice.awkward, backslice.arrow], ids=lambda module: module.__name__)
def test_examples_of_docstrings_run(module: Any) -> None:
    assert doctest.testmod(module).failed == 0
