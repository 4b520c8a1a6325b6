"""Slices in graphs that `torch.compile` makes: sums of their gradients, and chains of writes, become single calls."""

from .backend import compile_backend, fuse_graph

__all__ = ["compile_backend", "fuse_graph"]
