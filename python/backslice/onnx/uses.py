"""Which tensors a graph has, and what uses them."""

from collections.abc import Iterable, Iterator
from typing import Any

from .slices import SliceNode


def names_in(graph: Any) -> set[str]:
    """All names of tensors in a graph and in the bodies of its If, Loop and Scan."""
    named = {value.name for value in [*graph.input, *graph.output, *graph.initializer]}
    for node in graph.node:
        named |= {*node.input, *node.output}
        for body in _bodies(node):
            named |= names_in(body)
    return named


def uses_outside(model: Any, slices: Iterable[SliceNode]) -> set[str]:
    """The tensors that something else than these slices uses: another node, or whoever runs the model."""
    own = {node.output for node in slices}
    used = {output.name for output in model.graph.output}
    for node in model.graph.node:
        if node.output and node.output[0] in own:
            used |= set(node.input[1:])
        else:
            used |= set(node.input)
            for body in _bodies(node):
                used |= names_in(body)
    return used


def _bodies(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs
