"""The rules for out=."""

import backslice as bs
import numpy as np
import pytest


def test_out_is_filled_and_returned():
    out = np.full((4, 4), 9.0)
    assert bs.slice_grad(np.ones((2, 4)), (4, 4), "1:3", out=out) is out
    assert out[1:3].all() and not out[0].any() and not out[3].any()


@pytest.mark.parametrize("view", [np.s_[::2, ::3], np.s_[::-1, ::-1], np.s_[1:, 5:]], ids=str)
def test_out_may_have_any_strides(view):
    base = np.full((9, 30), 7.0)
    out = base[view]
    dy = np.random.default_rng(0).random((out.shape[0] - 1, out.shape[1] - 2))
    before = base.copy()
    bs.slice_grad(dy, out.shape, "1:, 1:-1", out=out)
    before[view] = 0
    before[view][1:, 1:-1] = dy
    assert np.array_equal(base, before)


def test_out_may_be_unaligned():
    out = np.ones(4 * 8 + 1, np.uint8)[1:].view(np.float64)
    bs.slice_grad(np.array([1.0, 2.0]), (4,), "1:3", out=out)
    assert out.tolist() == [0, 1, 2, 0]
    bs.slice_grad(np.array([1.0, 2.0]), (4,), "1:3", out=out, accumulate=True)
    assert out.tolist() == [0, 2, 4, 0]


def refused(out, message, dy=None, error=bs.InvalidArgumentError, **more):
    before = out.copy()
    with pytest.raises(error, match=message):
        bs.slice_grad(np.ones(2) if dy is None else dy, (4,), "1:3", out=out, **more)
    assert np.array_equal(out, before)


def test_out_of_another_shape_or_dtype_is_refused():
    refused(np.ones(5), r"shape of out was \[5\] instead of \[4\]")
    refused(np.ones((4, 1)), "rank 2, expected 1")
    refused(np.ones(4, "f4"), "out has dtype float32, expected float64, that of dy", error=bs.DTypeError)
    refused(np.ones(4, ">f8"), "out has dtype >f8", error=bs.DTypeError)


def test_read_only_out_is_refused():
    out = np.ones(4)
    out.flags.writeable = False
    refused(out, "out is read-only")


def test_out_that_overlaps_itself_is_refused():
    refused(np.lib.stride_tricks.as_strided(np.ones(4), (4,), (0,)), "out overlaps itself")
    refused(np.lib.stride_tricks.as_strided(np.ones(4), (4,), (4,)), "out overlaps itself")


@pytest.mark.parametrize("accumulate", [False, True])
def test_out_that_shares_memory_with_dy_is_refused(accumulate):
    memory = np.ones(6)
    refused(memory[:4], "out shares memory with dy", dy=memory[3:5], accumulate=accumulate)
    refused(memory[:4], "out shares memory with dy", dy=memory[1:3], accumulate=accumulate)
    bs.slice_grad(memory[4:], (4,), "1:3", out=memory[:4], accumulate=accumulate)


def test_overlap_is_decided_as_numpy_does():
    random = np.random.default_rng(0)
    memory = np.zeros(60)
    decisions = set()
    for _ in range(2000):
        a, b = (random.integers(0, 20) for _ in range(2))
        out = memory[a :: random.integers(1, 6)][: random.integers(1, 6)]
        dy = memory[b :: random.integers(1, 6)][: len(out)]
        if len(dy) != len(out):
            continue
        shares = np.shares_memory(out, dy)
        decisions.add(shares)
        try:
            bs.slice_grad(dy, out.shape, ":", out=out)
            assert not shares
        except bs.InvalidArgumentError:
            assert shares
    assert decisions == {True, False}


def test_forward_follows_the_same_rules():
    x = np.arange(4.0)
    out = np.zeros(2)
    assert bs.slice(x, "1:3", out=out) is out and out.tolist() == [1, 2]
    assert bs.strided_slice(x, [0], [2], [1], out=out) is out and out.tolist() == [0, 1]
    assert bs.onnx_slice(x, [2], [4], out=out) is out and out.tolist() == [2, 3]
    with pytest.raises(bs.InvalidArgumentError, match="out shares memory with x"):
        bs.slice(x, "1:3", out=x[:2])


def test_object_out_keeps_its_references_right():
    import sys

    old, new = "old element, quite long", "new element, quite long"
    out = np.array([old, old, old, None], object)
    counts = sys.getrefcount(old), sys.getrefcount(new)
    dy = np.array([new, new], object)
    bs.slice_grad(dy, (4,), "1:3", out=out)
    assert out.tolist() == ["", new, new, ""]
    assert sys.getrefcount(old) == counts[0] - 3
    assert sys.getrefcount(new) == counts[1] + 4
    with pytest.raises(bs.InvalidArgumentError):
        bs.slice_grad(dy, (4,), "1:4", out=out)
    assert sys.getrefcount(new) == counts[1] + 4
    del out, dy
    assert sys.getrefcount(new) == counts[1]
