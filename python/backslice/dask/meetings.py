"""Which chunks of dy meet which chunks of dx along one axis: arithmetic alone, without Dask and without trying pairs.

>>> walk((1, 2, 4), dx=bounds((4, 6)), dy=bounds((3, 1)))  # chunk 0 of dx has elements 1 and 3, chunk 1 has 5 and 7
{0: [Meeting(dy_chunk=0, target=slice(1, 4, 2), source=slice(0, 2, 1), box=slice(0, 4))],
 1: [Meeting(dy_chunk=0, target=slice(1, 2, 2), source=slice(2, 3, 1), box=slice(0, 3)),
     Meeting(dy_chunk=1, target=slice(3, 4, 2), source=slice(0, 1, 1), box=slice(3, 6))]}
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate, pairwise
from typing import NamedTuple

Bounds = list[int]  # where the chunks of an axis begin, and where the last one ends


class Meeting(NamedTuple):
    """What one chunk of dx takes from one chunk of dy."""

    dy_chunk: int
    target: int | slice  # in the chunk of dx; an int where the slice drops the axis
    source: slice  # in the chunk of dy
    box: slice = slice(None)  # around the target: the boxes of the meetings of a chunk of dx are that chunk

    @property
    def target_in_box(self) -> int | slice:
        if isinstance(self.target, int):
            return self.target
        return _run(self.target.start - self.box.start, self.target.step, self.source.stop - self.source.start)


Meetings = dict[int, list[Meeting]]  # per chunk of dx that has any


class View(NamedTuple):
    """A chunk of dx that is a part of a chunk of dy."""

    dy_chunk: int
    source: slice
    whole: bool  # all of the chunk of dy


def bounds(sizes: Iterable[int]) -> Bounds:
    """Of chunks of these sizes."""
    return [0, *accumulate(sizes)]


def walk(taken: tuple[int, int, int], dx: Bounds, dy: Bounds) -> Meetings:
    """The meetings along an axis of which the slice takes (start, step, count), from one to the next."""
    start, step, count = taken
    met: Meetings = {}
    done = 0
    while done < count:
        position = start + done * step
        i, j = bisect_right(dx, position) - 1, bisect_right(dy, done) - 1
        room = dx[i + 1] - 1 - position if step > 0 else position - dx[i]
        end = min(done + room // abs(step) + 1, dy[j + 1], count)
        target = _run(position - dx[i], step, end - done)
        met.setdefault(i, []).append(Meeting(j, target, slice(done - dy[j], end - dy[j], 1)))
        done = end
    return {i: _boxed(found, step, dx[i + 1] - dx[i]) for i, found in met.items()}


def _boxed(found: list[Meeting], step: int, size: int) -> list[Meeting]:
    """Meetings of a chunk of `size`, which they divide: each has it from its first element to the next one's."""
    ascending = found if step > 0 else found[::-1]
    cuts = [0, *map(_lowest, ascending[1:]), size]
    boxed = [m._replace(box=slice(lo, hi)) for m, (lo, hi) in zip(ascending, pairwise(cuts), strict=True)]
    return boxed if step > 0 else boxed[::-1]


def _lowest(meeting: Meeting) -> int:
    target, count = meeting.target, meeting.source.stop - meeting.source.start
    assert isinstance(target, slice)
    return int(min(target.start, target.start + (count - 1) * target.step))


def _run(start: int, step: int, count: int) -> slice:
    """`count` positions from `start` on."""
    last = start + (count - 1) * step
    stop = last + (1 if step > 0 else -1)
    return slice(start, stop if stop >= 0 else None, step)


def dropped(position: int, dx: Bounds) -> Meetings:
    """The one meeting along an axis that an integer index drops."""
    i = bisect_right(dx, position) - 1
    return {i: [Meeting(0, position - dx[i], slice(0, 1, 1))]}


def new(dy: Bounds) -> Meeting:
    """What is taken along a new axis: the one element that dy has there."""
    ((meeting,),) = walk((0, 1, 1), [0, 1], dy).values()
    return meeting


def cuts(axis: Meetings) -> dict[int, int]:
    """A number per chunk of dx, equal where the meetings differ in nothing but the chunks of dy."""
    numbers: dict[str, int] = {}
    texts = {i: str([m[1:] for m in met]) for i, met in axis.items()}
    return {i: numbers.setdefault(text, len(numbers)) for i, text in texts.items()}


def views(axis: Meetings, dx: Bounds, dy: Bounds) -> dict[int, View]:
    """The chunks of dx that one chunk of dy covers."""
    found = {}
    for i, meetings in axis.items():
        (j, target, source, _), size = meetings[0], dx[i + 1] - dx[i]
        if source.stop - source.start == size and isinstance(target, slice):
            backwards = size > 1 and target.step < 0
            whole = size == dy[j + 1] - dy[j] and not backwards
            found[i] = View(j, _run(source.stop - 1, -1, size) if backwards else source, whole)
    return found
