"""`compile_backend()`, which is Inductor with the pass, and `fuse_graph()`, the pass alone."""

import functools
import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from ... import __version__
from ..counting import count_left, count_taken

OP, WHERE = "multi_slice_grad", "compiled"


def fuse_graph(graph_module: Any) -> Any:
    """Replace sums of slice gradients, chains of writes into slices, and products of all slices by one call each.

    The graph is one of ATen operations without mutation, such as the joint or the backward graph that AOTAutograd
    gives to a partitioner or a compiler. Where something cannot be proved, the graph stays as it is. :func:`status`
    counts the reasons in its row ``"multi_slice_grad", "compiled"``.

    Parameters
    ----------
    graph_module : torch.fx.GraphModule
        The graph; it is changed in place, with the graphs of functions inside.

    Returns
    -------
    torch.fx.GraphModule
        The same.

    Examples
    --------
    >>> def partition(joint, inputs, **options):
    ...     return min_cut_rematerialization_partition(bt.fuse_graph(joint), inputs, **options)
    """
    for module in graph_module.modules():
        if isinstance(module, torch.fx.GraphModule) and _fused(module.graph):
            module.recompile()
    return graph_module


def _fused(graph: Any) -> bool:
    """Rewrite one graph. Every single replacement leaves it complete, so that an error leaves a valid graph."""
    left: Counter[str] = Counter()
    taken = others = 0
    try:
        from .facts import is_functional  # which imports SymPy, for a second
        from .products import fuse_products
        from .reuse import read_from_concatenations
        from .sums import fuse_sums
        from .writes import fuse_writes

        if is_functional(graph):
            taken = fuse_writes(graph, left)
            taken += fuse_sums(graph, left)
            others = fuse_products(graph) + read_from_concatenations(graph)
        else:
            left["a graph that changes tensors in place"] += 1
    except Exception as error:
        left[f"{type(error).__name__}: {error}"] += 1
    for _ in range(taken):
        count_taken(OP, WHERE)
    for reason, count in left.items():
        for _ in range(count):
            count_left(OP, WHERE, reason)
    return taken + others > 0


def compile_backend() -> Callable[..., Any]:
    """Return a backend for `torch.compile`: PyTorch's own, with the gradients of slices fused.

    It takes the modes and options of PyTorch's. Where Inductor has no place for the pass, it compiles as it does
    without it, and :func:`status` gives the reason.

    Returns
    -------
    callable
        For ``torch.compile(model, backend=...)``, always the same one.

    See Also
    --------
    fuse_graph, status

    Examples
    --------
    >>> model = torch.compile(model, backend=bt.compile_backend())
    """
    return backslice_inductor


def backslice_inductor(graph_module: Any, inputs: Any, **given: Any) -> Any:
    """Compile with Inductor. Not called `inductor`, which PyTorch's messages would confuse with its own."""
    import torch._inductor
    from torch._dynamo import lookup_backend

    mode, options = given.get("mode"), given.get("options") or {}
    patches = torch._inductor.list_mode_options(mode) if mode else {}
    patches |= {name.replace("-", "_"): value for name, value in options.items()}
    try:
        patches["joint_custom_pre_pass"] = _pass(patches.get("joint_custom_pre_pass", _configured()))
    except Exception as error:
        count_left(OP, WHERE, f"{type(error).__name__}: {error}")
    try:
        return lookup_backend("inductor")(graph_module, inputs, config_patches=patches)
    except Exception as error:  # such as of a machine without a C++ compiler
        count_left(OP, WHERE, f"Inductor: {type(error).__name__}")
        raise


def _configured() -> Any:
    from torch._inductor import config

    return config.joint_custom_pre_pass


def _pass(before: Any) -> Any:
    """Return the pass, after those that the user has configured."""
    if before is None:
        return _own_pass()
    many = list(before) if isinstance(before, list | tuple) else [before]
    return _pass_class()([*many, _own_pass()])


@functools.cache
def _own_pass() -> Any:
    return _pass_class()([])


@functools.cache
def _pass_class() -> Any:
    from torch._inductor.custom_graph_pass import CustomGraphPass
    from torch._inductor.lowering import lowerings, make_fallback

    for op in (torch.ops.backslice.multi_slice_grad.default, torch.ops.backslice.multi_slice_write.default):
        if op not in lowerings:  # so that they are called also where `implicit_fallbacks` is off
            make_fallback(op, warn=False)

    class Pass(CustomGraphPass):  # type: ignore[misc]
        """Runs other passes, or rewrites the graph itself if there are none."""

        def __init__(self, passes: list[Any]) -> None:
            self._passes = passes

        def __call__(self, graph: Any) -> None:
            for one in self._passes:
                one(graph)
            if not self._passes:
                _fused(graph)

        def uuid(self) -> Any:
            known = [one.uuid() if hasattr(one, "uuid") else None for one in self._passes]
            return None if None in known else (_version(), *known)

    return Pass


@functools.cache
def _version() -> str:
    """Return what Inductor's cache knows the pass by."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return __version__ + hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
