"""Compiles functions with the pass over graphs, through AOTAutograd and its own ATen operations."""

import random
from collections.abc import Callable
from typing import Any

import backslice.torch as bt
import torch
from functorch.compile import aot_function, make_boxed_func, min_cut_rematerialization_partition
from programs import small
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


def loop(seed: int) -> tuple[Callable[[Any], Any], tuple[int, ...]]:
    """Return a random program of slices of one tensor and of writes into another, and the shape of its argument."""
    rng = random.Random(seed)
    shape = tuple(rng.randrange(2, 7) for _ in range(rng.randrange(1, 4)))
    axis, steps = rng.randrange(len(shape)), rng.randrange(2, 10)
    width, stride = rng.randrange(1, 3), rng.randrange(1, 3)
    is_irregular, is_written, into_zeros = rng.random() < 0.3, rng.random() < 0.6, rng.random() < 0.5
    order = rng.sample(range(len(shape)), len(shape))
    other = rng.randrange(len(shape))

    def index(t: int) -> tuple[Any, ...]:
        if is_irregular:
            return tuple(any_index(random.Random(seed * 1000 + t * 10 + a), shape[a]) for a in range(len(shape)))
        at = t * stride % shape[axis]
        items: list[Any] = [slice(None)] * len(shape)
        if other != axis:
            items[other] = slice(1, None, width)
        items[axis] = at if width == 1 else slice(at, at + width)
        return tuple(items)

    def run(x: Any) -> Any:
        y = x.permute(order).contiguous().permute([order.index(a) for a in range(len(shape))]) if seed % 3 else x
        out = torch.zeros_like(y) if into_zeros else y * 2
        total = (y * y).sum() if seed % 2 else 0.0
        for t in range(steps):
            part = y[index(t)]
            part = (
                part.relu() * (t + 1)
                if t % 4
                else part.transpose(0, -1).mul(t + 1).transpose(0, -1)
                if part.dim()
                else part
            )
            if is_written:
                out[index(t + seed % 2)] = part if part.shape == out[index(t + seed % 2)].shape else part.sum()
            else:
                total = total + (part * part).sum()
            if seed % 7 == 0 and t == 3:
                total = total + (out * 2).sum()
            if seed % 5 == 0:
                total = total + (out[index(t)] * t).sum()
        return total + (out * out).sum()

    return run, shape


def any_index(rng: random.Random, extent: int) -> Any:
    start = rng.randrange(extent)
    stop = rng.randrange(start, extent + 1)
    return rng.choice([slice(start, stop, rng.randrange(1, 3)), start, slice(start - extent, None), slice(None)])


def recurrence(seed: int) -> tuple[Callable[[Any], Any], tuple[int, ...]]:
    """Return a random loop over products of the steps of one tensor with matrices, and the shape of its argument."""
    rng = random.Random(seed)
    rows, steps, inner, outer = rng.randrange(2, 5), rng.randrange(2, 10), rng.randrange(2, 5), rng.randrange(2, 5)
    axis = rng.randrange(2)
    shape = (steps, rows, inner) if axis == 0 else (rows, steps, inner)
    kinds = [
        rng.choice(("product", "product", "bias", "linear", "other", "viewed")) for _ in range(rng.randrange(1, 4))
    ]
    order = rng.choice([list(range(steps)), list(range(steps))[::-1], rng.sample(range(steps), steps)])
    order = rng.choice([order, order, order[1:], order + order[:2]])
    is_written, is_shared = rng.random() < 0.5, rng.random() < 0.5

    def product(kind: str, part: Any, w: Any) -> Any:
        if kind == "bias":
            return torch.addmm(w[0], part, w)
        if kind == "linear":
            return torch.nn.functional.linear(part, w.t(), w[1])
        if kind == "viewed":
            return (part @ w).reshape(outer, rows).reshape(rows, outer)
        return (part * 2 if kind == "other" else part) @ w

    def run(x: Any) -> Any:
        numbers = x.flatten().repeat(3)
        ws = [small(numbers[i : i + inner * outer].reshape(inner, outer)) for i in range(len(kinds))]
        h = torch.zeros(rows, outer, dtype=x.dtype)
        out, total = torch.zeros(rows, len(order), outer, dtype=x.dtype), 0.0
        for at, t in enumerate(order):
            part = x.select(axis, t)
            for i, (kind, w) in enumerate(zip(kinds, ws, strict=True)):
                made = product(kind, part if is_shared else x.select(axis, t), w)
                h = (made * (i + 1) - h).remainder(7)
            if is_written:
                out[:, at] = h
            else:
                total = total + (h * (at + 1)).sum()
        return total + (out * out).sum()

    return run, shape
