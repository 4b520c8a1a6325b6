"""The tensors of a graph and their uses."""

from collections.abc import Iterable
from typing import Any

from .bodies import bodies_of
from .slices import SliceNode


def names_in(graph: Any) -> set[str]:
    """Return all names of tensors in a graph and in the bodies of its If, Loop and Scan."""
    named = {value.name for value in [*graph.input, *graph.output, *graph.initializer]}
    for node in graph.node:
        named |= {*node.input, *node.output}
        for body in bodies_of(node):
            named |= names_in(body)
    return named


def uses_outside(model: Any, slices: Iterable[SliceNode]) -> set[str]:
    """Return the tensors with other uses than these slices: another node, or an output of the model."""
    own = {node.output for node in slices}
    used = {output.name for output in model.graph.output}
    for node in model.graph.node:
        if node.output and node.output[0] in own:
            used |= set(node.input[1:])
        else:
            used |= set(node.input)
            for body in bodies_of(node):
                used |= names_in(body)
    return used
