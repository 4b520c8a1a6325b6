"""Chains of writes into slices in a graph: each becomes one call, and reads skip the writes that they do not meet.

Without mutation, `out[:, t] = v` is a new tensor: `out` with `v` scattered into it. A loop makes a chain of such
versions, and its gradient another one, which writes zeros. A read of a version is one of the earliest version that has
the same elements there, or is the written value itself. A chain whose versions nothing else reads is written in one
pass; where writes overlap, later ones win.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...placement import Placement
from . import sums, symbols
from .calls import call_on_slices
from .facts import (
    UnprovedError,
    argument,
    aten,
    axis_of,
    first_of_slice,
    is_alike,
    is_zeros,
    keys,
    position_of,
    reason_of,
    value_of,
)
from .placing import SCATTERS, placement_of_scatter

NARROW = 4  # positions along an axis by which writes are found
Range = tuple[Any, Any, Any]  # start, step, count


@dataclass(eq=False)
class Write:
    """A version of a tensor: another one with a value in one place."""

    node: Any
    base: Any
    placement: Placement
    value: Any
    ranges: list[Range]


@dataclass(eq=False)
class Chain:
    """The versions of one tensor, each with the one before as its base, and the positions of their writes."""

    root: Any
    writes: list[Write] = field(default_factory=list)
    _at: dict[tuple[int, int], list[int]] = field(default_factory=dict)  # writes by axis and position
    _wide: dict[int, list[int]] = field(default_factory=dict)  # by axis, those with many positions on it

    def add(self, write: Write) -> None:
        number = len(self.writes)
        self.writes.append(write)
        for axis, positions in enumerate(map(_few, write.ranges)):
            if positions is None:
                self._wide.setdefault(axis, []).append(number)
            else:
                for position in positions:
                    self._at.setdefault((axis, position), []).append(number)

    def last_meeting(self, ranges: Sequence[Range], before: int) -> int:
        """Return the last of the first `before` writes that may meet a region, or -1."""
        candidates = min((self._candidates(axis, one) for axis, one in enumerate(ranges)), key=len, default=None)
        if candidates is None:  # a tensor without axes
            return before - 1
        numbers = (number for number in sorted(candidates, reverse=True) if number < before)
        return next((number for number in numbers if may_meet(self.writes[number].ranges, ranges)), -1)

    def _candidates(self, axis: int, one: Range) -> Sequence[int]:
        positions = _few(one)
        if positions is None:
            return range(len(self.writes))
        found = set(self._wide.get(axis, ()))
        for position in positions:
            found.update(self._at.get((axis, position), ()))
        return list(found)


def _few(one: Range) -> range | None:
    if not all(isinstance(number, int) for number in one) or one[2] > NARROW:
        return None
    start, step, count = one
    return range(start, start + step * count, step)


def ranges_of(placement: Placement, extents: Sequence[Any], rank: int) -> list[Range]:
    """Return the range of an array along each axis of the tensor that contains it."""
    ranges: list[Range] = [(placement.fixed.get(axis, 0), 1, 1) for axis in range(rank)]
    for axis, extent in zip(placement.axes, extents, strict=True):
        if axis is not None:
            start, step = axis[1], axis[2]
            if isinstance(step, int) and step < 0:
                start, step = start + step * (extent - 1), -step
            ranges[axis[0]] = (start, step, extent)
    return ranges


def may_meet(a: Sequence[Range], b: Sequence[Range]) -> bool:
    """Return whether two regions may share an element: always True if they do."""
    return all(_ranges_may_meet(*pair) for pair in zip(a, b, strict=True))


def _ranges_may_meet(a: Range, b: Range) -> bool:
    if not all(isinstance(number, int) for number in (*a, *b)):
        return True
    if a[2] == 0 or b[2] == 0:
        return False
    if a[0] + a[1] * (a[2] - 1) < b[0] or b[0] + b[1] * (b[2] - 1) < a[0]:
        return False
    step = math.gcd(*(one[1] for one in (a, b) if one[2] > 1))  # 0 if both have one element
    return step == 0 or bool((a[0] - b[0]) % step == 0)


class Versions:
    """Which nodes of a graph are versions, of which chain."""

    def __init__(self) -> None:
        self._chains: dict[Any, tuple[Chain, int]] = {}  # by node: its chain, and how many writes it has

    def add(self, write: Write) -> None:
        chain, count = self._chains.get(write.base) or (Chain(write.base), 0)
        if count != len(chain.writes):  # a second write to the same version begins another chain
            chain, count = Chain(write.base), 0
        chain.add(write)
        self._chains[write.node] = chain, count + 1

    def source(self, node: Any, placement: Placement, extents: Sequence[Any]) -> tuple[Any, Write | None]:
        """Return the earliest version with the same elements there, and the write that made it, if one did."""
        while node in self._chains:
            chain, count = self._chains[node]
            number = chain.last_meeting(ranges_of(placement, extents, len(value_of(node).shape)), count)
            if number >= 0:
                return chain.writes[number].node, chain.writes[number]
            node = chain.root
        return node, None

    def chains(self) -> Iterator[Chain]:
        seen: set[int] = set()
        for chain, _ in self._chains.values():
            if id(chain) not in seen:
                seen.add(id(chain))
                yield chain


def fuse_writes(graph: Any, left: Counter[str]) -> int:
    """Rewrite the chains of a graph, and return how many writes became part of one call."""
    if not any(node.target in SCATTERS for node in graph.nodes if node.op == "call_function"):
        return 0
    unused = {node for node in graph.nodes if not node.users}
    versions = _simplified(graph)
    _erase_unused(graph, unused)
    table = symbols.Table(graph)
    taken = 0
    for chain in versions.chains():
        for run in _runs(chain):
            try:
                if len(run) < max(sums.FEWEST, 2):
                    raise UnprovedError(f"fewer than {sums.FEWEST} writes in one chain")
                call_on_slices(graph, run[-1].node, _base(run), [(w.placement, w.value) for w in run], table)
                taken += len(run)
            except Exception as error:
                if len(run) > 1:
                    left[reason_of(error)] += len(run)
    _erase_unused(graph, unused)
    return taken


def _base(run: Sequence[Write]) -> Any:
    """Return the base under the writes; None if it is zeros and no writes overlap, so that their sum is the result."""
    base = run[0].base
    if not is_zeros(base):
        return base
    chain = Chain(base)
    for number, write in enumerate(run):
        if chain.last_meeting(write.ranges, number) >= 0:
            return base
        chain.add(write)
    return None


def _runs(chain: Chain) -> Iterator[list[Write]]:
    """Cut a chain after each version that something else than the next write reads."""
    run: list[Write] = []
    for write, following in zip(chain.writes, [*chain.writes[1:], None], strict=True):
        if not write.node.users:
            run = []
            continue
        run.append(write)
        if following is None or set(write.node.users) != {following.node} or not _is_base_alone(following):
            yield run
            run = []


def _is_base_alone(write: Write) -> bool:
    return write.value is not write.base


def _simplified(graph: Any) -> Versions:
    """Let reads skip writes, and let scatters take values themselves instead of copies of them."""
    versions = Versions()
    for node in list(graph.nodes):
        if node.op != "call_function":
            continue
        try:
            if node.target is aten.copy.default and _is_plain_copy(node):
                node.replace_all_uses_with(node.args[1], delete_user_cb=lambda user, n=node: _may_replace(user, n))
            elif node.target in READS:
                _read(versions, node)
            elif node.target in SCATTERS:
                versions.add(_written(versions, node))
        except UnprovedError:
            continue
    return versions


def _is_plain_copy(node: Any) -> bool:
    """Whether a copy changes neither shape nor dtype."""
    target, source = map(value_of, node.args[:2])
    return (
        keys(target.shape) == keys(source.shape)
        and bool(target.dtype is source.dtype)
        and bool(target.device == source.device)
        and target.layout is source.layout
    )


def _may_replace(user: Any, copy: Any) -> bool:
    """Return whether a user accepts a copy in place of its source: a scatter takes any strides."""
    if keys(value_of(copy).stride()) == keys(value_of(copy.args[1]).stride()):
        return user.op == "call_function" and not _sees_memory(user)
    return user.target in SCATTERS and user.args[1] is copy and user.args[0] is not copy


def _sees_memory(node: Any) -> bool:
    """Whether a node counts positions in the memory below a view."""
    return "as_strided" in str(node.target)


def _region(node: Any) -> Placement:
    tensor = value_of(node.args[0])
    shape = tensor.shape
    if node.target is aten.select.int:
        axis = axis_of(node, 1, len(shape))
        return Placement.selected(len(shape), axis, position_of(node.args[2], shape[axis]))
    axis = axis_of(node, 1, len(shape))
    step = argument(node, 4, "step", 1)
    extent = value_of(node).shape[axis]
    return Placement.sliced(
        len(shape), axis, first_of_slice(argument(node, 2, "start"), step, shape[axis], extent), step
    )


READS = frozenset({aten.select.int, aten.slice.Tensor})


def _read(versions: Versions, node: Any) -> None:
    if any(map(_sees_memory, node.users)):
        return
    base = node.args[0]
    placement, own = _region(node), value_of(node)
    found, write = versions.source(base, placement, own.shape)
    if write is not None and is_alike(write.placement, placement) and _is_same(write.value, node):
        node.replace_all_uses_with(write.value, delete_user_cb=lambda user: user.op == "call_function")
    elif write is None and found is not base and _is_same(found, base):
        node.replace_input_with(base, found)


def _is_same(a: Any, b: Any) -> bool:
    """Whether two nodes have tensors of one shape, dtype and memory format."""
    x, y = value_of(a), value_of(b)
    return (
        keys(x.shape) == keys(y.shape)
        and keys(x.stride()) == keys(y.stride())
        and x.dtype is y.dtype
        and x.device == y.device
    )


def _written(versions: Versions, node: Any) -> Write:
    """Return the write that a scatter is. One into a part of the tensor, which is put back, is one into the tensor."""
    base, value = node.args[:2]
    placement = placement_of_scatter(node)
    while value.op == "call_function" and value.target in SCATTERS and _is_part(versions, value, base, placement):
        placement, value = placement.of(placement_of_scatter(value)), value.args[1]
    dst, src = value_of(base), value_of(value)
    if dst.dtype is not src.dtype or dst.device != src.device:
        raise UnprovedError("a write of another dtype")
    return Write(node, base, placement, value, ranges_of(placement, src.shape, dst.dim()))


def _is_part(versions: Versions, scatter: Any, base: Any, placement: Placement) -> bool:
    """Return whether a scatter writes into the earlier value of the same range of the base."""
    part = scatter.args[0]
    if part.op != "call_function" or part.target not in READS or not is_alike(_region(part), placement):
        return False
    found, _ = versions.source(base, placement, value_of(part).shape)
    return part.args[0] is base or part.args[0] is found


def _erase_unused(graph: Any, before: set[Any]) -> None:
    """Erase what lost its last user, but not what had none before."""
    for node in reversed(list(graph.nodes)):
        if node.op == "call_function" and not node.users and node not in before and not node.is_impure():
            graph.erase_node(node)
