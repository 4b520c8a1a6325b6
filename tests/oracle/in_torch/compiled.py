"""Compiles functions with the pass over graphs, through AOTAutograd and its own ATen operations."""

from collections.abc import Callable
from typing import Any

import backslice.torch as bt
from functorch.compile import aot_function, make_boxed_func, min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch._inductor.decomposition import select_decomp_table


def partition(joint: Any, inputs: Any, **options: Any) -> Any:
    bt.fuse_graph(joint).graph.lint()
    return min_cut_rematerialization_partition(joint, inputs, **options)


def run_nodes(graph_module: Any, _: Any) -> Any:
    return make_boxed_func(bt.fuse_graph(graph_module).forward)


def plain_nodes(graph_module: Any, _: Any) -> Any:
    return make_boxed_func(graph_module.forward)


def decompositions(is_decomposed: bool) -> Any:
    return dict(select_decomp_table()) if is_decomposed else {}


def traced(function: Callable[..., Any], is_decomposed: bool = True, is_fused: bool = True) -> Any:
    """Trace a function as it is, without Dynamo."""
    table = decompositions(is_decomposed)
    if not is_fused:
        return aot_function(function, plain_nodes, plain_nodes, decompositions=table)
    return aot_function(
        function, plain_nodes, plain_nodes, partition, decompositions=table, inference_compiler=run_nodes
    )


def backend(is_decomposed: bool = True) -> Any:
    """Return a backend of `torch.compile` like "aot_eager", with the pass."""
    return aot_autograd(
        fw_compiler=plain_nodes,
        bw_compiler=plain_nodes,
        inference_compiler=run_nodes,
        partition_fn=partition,
        decompositions=decompositions(is_decomposed),
    )
