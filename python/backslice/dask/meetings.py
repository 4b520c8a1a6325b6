"""The chunks of dy that meet chunks of dx along one axis: pure arithmetic, without Dask and without testing pairs.

>>> walk((1, 2, 4), dx=bounds((4, 6)), dy=bounds((3, 1)))  # chunk 0 of dx has elements 1 and 3, chunk 1 has 5 and 7
{0: [Meeting(dy_chunk=0, target=slice(1, 4, 2), source=slice(0, 2, 1), dy_size=3, box=slice(0, 4))],
 1: [Meeting(dy_chunk=0, target=slice(1, 2, 2), source=slice(2, 3, 1), dy_size=3, box=slice(0, 3)),
     Meeting(dy_chunk=1, target=slice(3, 4, 2), source=slice(0, 1, 1), dy_size=1, box=slice(3, 6))]}
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate, pairwise
from typing import NamedTuple

Bounds = list[int]  # the beginnings of the chunks of an axis, and the end of the last one


class Meeting(NamedTuple):
    """The elements of one chunk of dy that one chunk of dx needs."""

    dy_chunk: int
    target: int | slice  # in the chunk of dx; an int if the slice drops the axis
    source: slice  # in the chunk of dy
    dy_size: int  # size of the chunk of dy
    box: slice = slice(None)  # contains the target; the boxes of all meetings divide the chunk

    @property
    def target_in_box(self) -> int | slice:
        if isinstance(self.target, int):
            return self.target
        return _run(self.target.start - self.box.start, self.target.step, self.source.stop - self.source.start)


Meetings = dict[int, list[Meeting]]  # per chunk of dx with meetings


class View(NamedTuple):
    """A chunk of dx that is part of a chunk of dy."""

    dy_chunk: int
    source: slice
    dy_size: int
    whole: bool  # it is the whole chunk of dy


def bounds(sizes: Iterable[int]) -> Bounds:
    """Return the bounds of chunks of these sizes."""
    return [0, *accumulate(sizes)]


def walk(taken: tuple[int, int, int], dx: Bounds, dy: Bounds) -> Meetings:
    """Walk from one meeting to the next along an axis of which the slice selects (start, step, count)."""
    start, step, count = taken
    met: Meetings = {}
    done = 0
    while done < count:
        position = start + done * step
        i, j = bisect_right(dx, position) - 1, bisect_right(dy, done) - 1
        room = dx[i + 1] - 1 - position if step > 0 else position - dx[i]
        end = min(done + room // abs(step) + 1, dy[j + 1], count)
        target = _run(position - dx[i], step, end - done)
        met.setdefault(i, []).append(Meeting(j, target, slice(done - dy[j], end - dy[j], 1), dy[j + 1] - dy[j]))
        done = end
    return {i: _boxed(found, step, dx[i + 1] - dx[i]) for i, found in met.items()}


def _boxed(found: list[Meeting], step: int, size: int) -> list[Meeting]:
    """Add the boxes that divide a chunk of `size` among its meetings. Each box reaches from a meeting's first element
    to the next one's."""
    ascending = found if step > 0 else found[::-1]
    cuts = [0, *map(_lowest, ascending[1:]), size]
    boxed = [m._replace(box=slice(lo, hi)) for m, (lo, hi) in zip(ascending, pairwise(cuts), strict=True)]
    return boxed if step > 0 else boxed[::-1]


def _lowest(meeting: Meeting) -> int:
    target, count = meeting.target, meeting.source.stop - meeting.source.start
    assert isinstance(target, slice)
    return int(min(target.start, target.start + (count - 1) * target.step))


def _run(start: int, step: int, count: int) -> slice:
    """Return `count` positions from `start` on as a slice."""
    last = start + (count - 1) * step
    stop = last + (1 if step > 0 else -1)
    return slice(start, stop if stop >= 0 else None, step)


def dropped(position: int, dx: Bounds) -> Meetings:
    """Return the one meeting along an axis that an integer index drops."""
    i = bisect_right(dx, position) - 1
    return {i: [Meeting(0, position - dx[i], slice(0, 1, 1), 1)]}


def new(dy: Bounds) -> Meeting:
    """Return the meeting along a new axis, on which dy has one element."""
    ((meeting,),) = walk((0, 1, 1), [0, 1], dy).values()
    return meeting


def cuts(axis: Meetings) -> dict[int, int]:
    """Return a number per chunk of dx, equal if the meetings differ only in the chunks of dy."""
    numbers: dict[str, int] = {}
    texts = {i: str([m[1:] for m in met]) for i, met in axis.items()}
    return {i: numbers.setdefault(text, len(numbers)) for i, text in texts.items()}


def views(axis: Meetings, dx: Bounds) -> dict[int, View]:
    """Return the chunks of dx that one chunk of dy covers."""
    found = {}
    for i, meetings in axis.items():
        (j, target, source, dy_size, _), size = meetings[0], dx[i + 1] - dx[i]
        if source.stop - source.start == size and isinstance(target, slice):
            backwards = size > 1 and target.step < 0
            whole = size == dy_size and not backwards
            found[i] = View(j, _run(source.stop - 1, -1, size) if backwards else source, dy_size, whole)
    return found
