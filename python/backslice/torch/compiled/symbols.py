"""The nodes of a graph that compute its symbols, for arguments of new nodes."""

from collections.abc import Sequence
from typing import Any

import torch

from .facts import UnprovedError, key


class Table:
    """Finds the node of a symbol's expression."""

    def __init__(self, graph: Any) -> None:
        self._nodes: dict[Any, Any] = {}
        self._places = {node: place for place, node in enumerate(graph.nodes)}
        for node in graph.nodes:
            value = node.meta.get("val")
            if isinstance(value, torch.SymInt):
                self._nodes.setdefault(key(value), node)

    def arguments(self, before: Any, *lists: Sequence[Any]) -> list[list[Any]]:
        """Return lists of integers and nodes. Raises if no earlier node has a symbol's value."""
        return [[self._argument(value, before) for value in values] for values in lists]

    def _argument(self, value: Any, before: Any) -> Any:
        if type(value) is int:
            return value
        found = key(value)
        if isinstance(found, int):
            return found
        if found not in self._nodes or self._places[self._nodes[found]] > self._places[before]:
            raise UnprovedError("a bound that no node of the graph has")
        return self._nodes[found]
