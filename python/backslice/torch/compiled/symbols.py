"""The nodes of a graph that compute its symbols, for arguments of new nodes."""

from collections.abc import Sequence
from typing import Any

import torch

from .facts import UnprovedError, key


class Table:
    """Finds the node of a symbol's expression."""

    def __init__(self, graph: Any) -> None:
        self._nodes: dict[Any, Any] = {}
        for node in graph.nodes:
            value = node.meta.get("val")
            if isinstance(value, torch.SymInt):
                self._nodes.setdefault(key(value), node)

    def arguments(self, *lists: Sequence[Any]) -> list[list[Any]]:
        """Return lists of integers and nodes. Raises where no node has a symbol's value."""
        return [[self._argument(value) for value in values] for values in lists]

    def _argument(self, value: Any) -> Any:
        if type(value) is int:
            return value
        found = key(value)
        if isinstance(found, int):
            return found
        if found not in self._nodes:
            raise UnprovedError("a bound that no node of the graph has")
        return self._nodes[found]
