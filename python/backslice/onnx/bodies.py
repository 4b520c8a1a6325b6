"""Graphs inside a model: the bodies of If, Loop and Scan, and the model's functions."""

from collections.abc import Iterator
from typing import Any

STANDARD = ("", "ai.onnx")  # the domain of ONNX's own operators, under both of its names


def bodies_of(node: Any) -> Iterator[Any]:
    """Return the graphs that a node runs."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def graphs_in(graph: Any) -> Iterator[Any]:
    """Return a graph, or a function, and all bodies inside it."""
    yield graph
    for node in graph.node:
        for body in bodies_of(node):
            yield from graphs_in(body)


def is_slice(node: Any) -> bool:
    return node.op_type == "Slice" and node.domain in STANDARD


def inner_slices(model: Any) -> int:
    """Return how many Slice nodes are inside bodies and functions, which :func:`slice_nodes` ignores."""
    inside = [body for node in model.graph.node for body in bodies_of(node)]
    graphs = [graph for outermost in [*inside, *model.functions] for graph in graphs_in(outermost)]
    return sum(is_slice(node) for graph in graphs for node in graph.node)
