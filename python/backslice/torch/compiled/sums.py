"""Sums of gradients of slices in a graph: each becomes one call of `backslice::multi_slice_grad`.

A sum is a tree of operations that place elements among zeros and of additions, all of whose inner nodes are used once.
Its leaves are added in the order in which the graph adds them, from the left: the first one that meets an element is
copied, and later ones are added to the running sum.
"""

from collections import Counter
from typing import Any

from ...placement import leaves
from . import symbols
from .calls import call_on_slices
from .facts import UnprovedError, reason_of, value_of
from .placing import RULES, SOURCES, Parts

FEWEST = 8  # slices of one tensor; PyTorch's compilers compute a few at a time as well


def fuse_sums(graph: Any, left: Counter[str]) -> int:
    """Replace the sums in a graph, and return how many gradients of slices they had; count the others by reason."""
    parts = _found_parts(graph, left)
    table = symbols.Table(graph)
    taken = 0
    for root in [node for node in parts if not _is_inner(node, parts)]:
        terms = _terms(root, parts)
        placed = sum(placement is not None for placement, _ in terms)
        try:
            if placed < FEWEST:
                raise UnprovedError(f"fewer than {FEWEST} slices in one sum")
            call_on_slices(graph, root, None, terms, table)
            taken += placed
        except Exception as error:
            left[reason_of(error)] += placed
    _erase(graph, parts)
    return taken


def _found_parts(graph: Any, left: Counter[str]) -> dict[Any, Parts]:
    """Return the parts of all nodes with zeros in them, in the order of the graph."""
    found: dict[Any, Parts] = {}
    for node in graph.nodes:
        rule = RULES.get(node.target) if node.op == "call_function" else None
        if rule is None or not (node.target in SOURCES or any(source in found for source in node.all_input_nodes)):
            continue
        try:
            parts = rule(node)
            if parts is not None and _has_one_dtype(node, parts):
                found[node] = parts
        except Exception as error:
            left[reason_of(error)] += 1
    return found


def _has_one_dtype(node: Any, parts: Parts) -> bool:
    own = value_of(node)
    others = [value_of(part) for _, part in parts]
    return all(other.dtype is own.dtype and other.device == own.device for other in others)


def _is_inner(node: Any, parts: dict[Any, Parts]) -> bool:
    """Return whether its only use is as a part of a sum: `x + x` uses it twice."""
    if len(node.users) != 1:
        return False
    (user,) = node.users
    return user in parts and sum(part is node for _, part in parts[user]) == 1


def _terms(root: Any, parts: dict[Any, Parts]) -> Parts:
    def inside(_: Any, node: Any) -> Parts | None:
        return parts[node] if node is root or (node in parts and _is_inner(node, parts)) else None

    return leaves(root, inside)


def _erase(graph: Any, parts: dict[Any, Parts]) -> None:
    """Erase the nodes of sums that nothing uses any more, and the zeros below them."""
    for node in reversed(list(parts)):
        if not node.users:
            inputs = list(node.all_input_nodes)
            graph.erase_node(node)
            for zeros in inputs:
                if not zeros.users and zeros.op == "call_function" and zeros not in parts and not zeros.is_impure():
                    graph.erase_node(zeros)
