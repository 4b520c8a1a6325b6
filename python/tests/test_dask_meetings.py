"""The chunks that meet, compared with a test of every element."""

import backslice as bs
import numpy as np
import pytest
from backslice.dask.meetings import Meeting, bounds, walk
from backslice.dask.pieces import Slice, grid
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import shapes_and_indices


@st.composite
def chunkings(draw, shape):
    """Chunks of any size, including single elements and empty ones."""
    result = []
    for extent in shape:
        cuts = sorted(draw(st.lists(st.integers(0, extent), max_size=4)))
        result.append(tuple(int(n) for n in np.diff([0, *cuts, extent])))
    return tuple(result)


@st.composite
def chunked_slices(draw, max_rank=3):
    shape, index = draw(shapes_and_indices(max_rank))
    selection = bs.Selection.from_index(shape, index)
    return selection, draw(chunkings(shape)), draw(chunkings(selection.result_shape))


def box(chunks, block):
    starts = [sum(axis[:i]) for axis, i in zip(chunks, block, strict=True)]
    return tuple(slice(a, a + axis[i]) for a, axis, i in zip(starts, chunks, block, strict=True))


def elements(selection, dx_chunks, dy_chunks):
    """Return, per pair of chunks, the elements of dy that move between them, found one by one."""
    dy = np.arange(1, 1 + int(np.prod(selection.result_shape))).reshape(selection.result_shape)
    dx = bs.slice_grad(dy, selection.shape, selection)
    pairs = {}
    for block in np.ndindex(*map(len, dx_chunks)):
        for dy_block in np.ndindex(*map(len, dy_chunks)):
            common = np.intersect1d(dx[box(dx_chunks, block)], dy[box(dy_chunks, dy_block)])
            if common[common > 0].size:
                pairs[block, dy_block] = common[common > 0].tolist()
    return dy, dx, pairs


@settings(max_examples=150, deadline=None)
@given(chunked_slices())
def test_the_pairs_found_are_those_with_common_elements(case):
    selection, dx_chunks, dy_chunks = case
    dy, dx, expected = elements(*case)
    taken = Slice(selection, grid(dx_chunks), grid(dy_chunks))
    found = {}
    for block in taken.blocks():
        out = np.zeros_like(dx[box(dx_chunks, block)])
        boxes = np.zeros_like(out)
        for dy_block, place in zip(taken.dy_blocks(block), taken.places(block), strict=True):
            part = dy[box(dy_chunks, dy_block)][place.source]
            assert place.dy_shape == dy[box(dy_chunks, dy_block)].shape
            assert (block, dy_block) not in found
            found[block, dy_block] = sorted(part.ravel().tolist())
            out[place.target] = part
            assert np.array_equal(out[place.box][place.target_in_box], part)
            boxes[place.box] += 1
        assert np.array_equal(out, dx[box(dx_chunks, block)])
        assert (boxes == 1).all()
    assert found == expected
    assert taken.meeting_pairs == len(expected)


def test_one_axis():
    met = walk((1, 2, 4), bounds((4, 6)), bounds((3, 1)))
    assert met == {
        0: [Meeting(0, slice(1, 4, 2), slice(0, 2, 1), 3, slice(0, 4))],
        1: [
            Meeting(0, slice(1, 2, 2), slice(2, 3, 1), 3, slice(0, 3)),
            Meeting(1, slice(3, 4, 2), slice(0, 1, 1), 1, slice(3, 6)),
        ],
    }


@pytest.mark.parametrize("step", [1, -1, 10**6, -(10**6)])
def test_the_walk_visits_meetings_alone(step):
    """10 of a million chunks, without visiting the others."""
    extent = 10**7
    start = 0 if step > 0 else extent - 1
    met = walk((start, step, 10), bounds((10,) * (extent // 10)), bounds((10,)))
    assert sum(map(len, met.values())) == (10 if abs(step) > 1 else 1)
    assert {m.dy_chunk for chunk in met.values() for m in chunk} == {0}
