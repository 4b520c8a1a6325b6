"""Values that a concatenation holds: what comes after it in the graph reads them there.

The gradient of `h = tanh(...); out[:, t] = h` needs every `h`. Each is part of `out`, which is kept for the gradient
or takes the place of what would be: so the partitioner needs neither keep nor compute the steps again.
"""

from collections.abc import Iterator
from typing import Any

from . import sums
from .facts import aten, axis_of, value_of
from .nodes import call, is_plain, is_unsqueezed, takes_views

ALIASES = frozenset({aten.alias.default, aten.detach.default})


def read_from_concatenations(graph: Any) -> int:
    """Replace the later uses of values in concatenations, and return how many."""
    places = {node: place for place, node in enumerate(graph.nodes)}
    cats = [node for node in graph.nodes if node.target is aten.cat.default and len(node.args[0]) >= sums.FEWEST]
    return sum(_read_from(cat, places) for cat in cats if is_plain(value_of(cat)))


def _read_from(cat: Any, places: dict[Any, int]) -> int:
    axis, at, count = axis_of(cat, 1, value_of(cat).dim()), 0, 0
    last = cat  # the new nodes follow the concatenation
    seen = set()
    for piece in cat.args[0]:
        position, at = at, at + value_of(piece).shape[axis]
        if not is_unsqueezed(piece, axis):
            continue
        value = piece.args[0]
        if value in seen or not _may_be_read(value):
            continue
        seen.add(value)
        uses = [use for use in _uses(value) if places.get(use[0], 0) > places[cat] and takes_views(use[0])]
        if uses:
            with cat.graph.inserting_after(last):
                last = call(cat, aten.select.int, cat, axis, position)
            for user, alias in uses:
                user.replace_input_with(alias, last)
            count += len(uses)
    return count


def _may_be_read(value: Any) -> bool:
    """Not if its memory has another order, or if activation checkpoints decide what is kept of it."""
    return is_plain(value_of(value)) and "recompute" not in value.meta


def _uses(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each node that uses a value, and the alias by which it does."""
    remaining = [value]
    while remaining:
        node = remaining.pop()
        for user in list(node.users):
            if user.target in ALIASES:
                remaining.append(user)
            else:
                yield user, node
