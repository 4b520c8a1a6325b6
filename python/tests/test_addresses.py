"""Slices and gradients of memory that is given by its address, as backslice.torch gives tensors on CUDA devices."""

import random

import backslice as bs
import numpy as np
import pytest
from backslice._core import _slice_at, _slice_grads_at, _slice_grads_of

INTEGER, SLICE, NEW_AXIS = 0, 1, 2
FLOAT = np.dtype("float32")
ON_CPU = (-1, 0, FLOAT, None)


def memory(array, where=0):
    """From an address before the first element, as storages have it."""
    size = array.itemsize
    strides = tuple(stride // size for stride in array.strides)
    return array.ctypes.data - where * size, where, array.shape, strides


def random_slice(rng, shape):
    """As an index, and as entries."""
    index, entries = [], []
    for extent in shape:
        if rng.random() < 0.2:
            index.append(None)
            entries.append((NEW_AXIS, 0, 1, 1))
        if rng.random() < 0.3:
            start = rng.randrange(extent)
            index.append(start)
            entries.append((INTEGER, start, 1, 1))
            continue
        step = rng.choice([-3, -1, 1, 2])
        start = rng.randrange(extent)
        count = rng.randrange(1, len(range(start, extent if step > 0 else -1, step)) + 1)
        stop = start + count * step
        index.append(slice(start, stop if stop >= 0 else None, step))
        entries.append((SLICE, start, step, count))
    return tuple(index), tuple(entries)


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("accumulate", [False, True])
def test_sums_are_those_of_arrays(count, accumulate):
    rng, numbers = random.Random(count), np.random.default_rng(count)
    for _ in range(40):
        shape = tuple(rng.randrange(1, 6) for _ in range(rng.randrange(4)))
        out = np.array(numbers.integers(-9, 9, shape), FLOAT)
        given, expected = [], []
        for _ in range(count):
            index, entries = random_slice(rng, shape)
            dy = np.array(numbers.integers(-9, 9, np.zeros(shape)[index].shape), FLOAT, order="F")
            given.append((entries, *memory(dy, rng.randrange(5))))
            expected.append((index, dy))
        wanted = bs.multi_slice_grad(shape, expected, out=out.copy(), accumulate=accumulate)
        _slice_grads_at(given, memory(out, 3), ON_CPU, accumulate)
        assert np.array_equal(out, wanted)


def test_slices_are_those_of_arrays():
    rng, x = random.Random(0), np.arange(120, dtype=FLOAT).reshape(4, 5, 6)[:, ::-1]
    for _ in range(60):
        index, entries = random_slice(rng, x.shape)
        y = np.empty_like(x[index])
        _slice_at(memory(x), entries, memory(y), ON_CPU)
        assert np.array_equal(y, x[index])


DY, OUT = np.ones(2, FLOAT), np.zeros(4, FLOAT)
GOOD = (((SLICE, 1, 1, 2),), *memory(DY))
REFUSED = {
    "no tuple": ([list(GOOD)], "must be a tuple"),
    "too short": ([GOOD[:3]], "has 3 items, expected 5"),
    "no entry": ([((SLICE, 1, 1, 2), *GOOD[1:])], "must be a tuple"),
    "out of bounds": ([(((SLICE, 3, 1, 2),), *GOOD[1:])], "leave"),
    "negative start": ([(((SLICE, -1, 1, 2),), *GOOD[1:])], "outside"),
    "another rank": ([(((SLICE, 1, 1, 2), (SLICE, 0, 1, 1)), *GOOD[1:])], "entries"),
    "another shape": ([(((SLICE, 1, 1, 3),), *GOOD[1:])], "shape of dy was"),
    "too many axes": ([(((NEW_AXIS, 0, 1, 1),) * 40, *GOOD[1:])], "too many axes"),
    "no integer": ([(((SLICE, "1", 1, 2),), *GOOD[1:])], "expected an int"),
    "past 64 bits": ([(((SLICE, 2**70, 1, 2),), *GOOD[1:])], "64 bits"),
    "strides past memory": ([(*GOOD[:4], (2**62,))], "address space"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_makes_no_sense_is_refused(what):
    slices, message = REFUSED[what]
    with pytest.raises(bs.Error, match=message):
        _slice_grads_at(slices, memory(OUT), ON_CPU, False)
    assert not OUT.any()


def test_memory_is_checked():
    with pytest.raises(bs.InvalidArgumentError, match="shares memory"):
        _slice_grads_at([GOOD], (*memory(DY)[:2], (4,), (1,)), ON_CPU, False)
    with pytest.raises(bs.DTypeError):
        _slice_grads_at([GOOD], memory(OUT), (-1, 0, np.dtype(object), None), False)
    with pytest.raises(bs.InvalidArgumentError, match="has 3 items"):
        _slice_grads_at([GOOD], memory(OUT), ON_CPU[:3], False)
    with pytest.raises(bs.Error, match=r"CUDA|cuda"):  # there is none, or the memory is the CPU's
        _slice_grads_at([GOOD], memory(OUT), (0, 0, FLOAT, lambda size: None), False)
    assert not OUT.any()


class Tensor:
    """Of that name, but not PyTorch's."""

    __dlpack_c_exchange_api__ = object()


@pytest.mark.parametrize("dy", [DY, None, 1, Tensor()])
def test_what_does_not_tell_its_memory_to_c_is_left_alone(dy):
    slices = (((SLICE, 1, 1, 2),),)
    assert not _slice_grads_of(slices, (dy,), memory(OUT), ON_CPU, False)
    assert not _slice_grads_of(list(slices), [dy], memory(OUT), ON_CPU, False)
    with pytest.raises(bs.InvalidArgumentError, match="slices has 1 items, expected 2"):
        _slice_grads_of(slices, (dy, dy), memory(OUT), ON_CPU, False)
    assert not OUT.any()
