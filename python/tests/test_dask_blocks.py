"""The blocks that tasks get: arrays, scalars, and blocks that differ from their Dask array's declaration."""

import backslice as bs
import dask
import dask.array as da
import numpy as np
import pytest
from backslice.dask import multi_slice_grad, slice_grad


@pytest.mark.parametrize("dtype", ["S5", "U5", ">f4", "f4", "bool"])
@pytest.mark.parametrize("shape", [(1,), (3,)])
def test_a_scalar_dy_keeps_its_dtype(dtype, shape):
    dy = np.array(1).astype(dtype)
    computed = slice_grad(da.from_array(dy), shape, 0, chunks=1).compute()
    expected = bs.slice_grad(dy, shape, 0)
    assert computed.dtype == expected.dtype == dtype and np.array_equal(computed, expected)


def test_blocks_of_rank_0_may_be_scalars():
    """Return arrays with scalar blocks, as of reductions and delayed functions."""
    three = da.from_delayed(dask.delayed(3.0), (), dtype=float)
    total = da.ones(10, chunks=5).sum()
    assert slice_grad(three, (4,), 1, chunks=2).compute().tolist() == [0, 3, 0, 0]
    assert slice_grad(total, (), (), onto=three).compute() == 13
    assert multi_slice_grad((), [((), three), ((), total), ((), three)]).compute() == 16
    whole = da.from_delayed(dask.delayed(3), (), dtype="f4")
    assert slice_grad(whole, (2,), 1).compute().dtype == "f4"
    with pytest.raises(bs.DTypeError, match="a block of dy has dtype float64, expected int64"):
        slice_grad(da.from_delayed(dask.delayed(3.5), (), dtype=int), (4,), 1).compute()


def lying(block):
    """Two blocks that are declared as three numbers of float64 each."""
    return da.map_blocks(lambda: block, chunks=((3, 3),), dtype=float, meta=np.empty(0))


ONTO = da.ones(8, chunks=4)
CALLS = {
    "several pieces": lambda dy: slice_grad(dy, (8,), "1:7", chunks=4),
    "one piece": lambda dy: slice_grad(dy, (14,), "1:13:2", chunks=7),
    "a part": lambda dy: slice_grad(dy, (6,), ":", chunks=((2, 1, 3),))[:2],
    "several slices": lambda dy: multi_slice_grad((8,), [("1:7", dy), ("2:8", dy)], chunks=4),
    "onto": lambda dy: slice_grad(dy, (8,), "1:7", onto=ONTO),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("block", "error", "text"),
    [
        (np.ones(1), bs.InvalidArgumentError, r"a block of dy has shape \(1,\), expected float64 of shape \(3,\)"),
        (np.ones(4), bs.InvalidArgumentError, r"a block of dy has shape \(4,\), expected float64 of shape \(3,\)"),
        (np.ones(3, "f4"), bs.DTypeError, r"a block of dy has dtype float32, expected float64 of shape \(3,\)"),
        (7.0, bs.InvalidArgumentError, r"a block of dy has shape \(\), expected float64 of shape \(3,\)"),
    ],
    ids=["short", "long", "float32", "scalar"],
)
def test_a_block_that_is_not_what_dy_declares_is_refused(call, block, error, text):
    with pytest.raises(error, match=text):
        CALLS[call](lying(block)).compute()


def test_a_block_that_is_not_what_onto_declares_is_refused():
    with pytest.raises(bs.DTypeError, match="a block of onto has dtype float32, expected float64"):
        slice_grad(da.ones(6), (6,), ":", onto=lying(np.ones(3, "f4"))).compute()
