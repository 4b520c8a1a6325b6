"""Who is given an ordinary tensor in the middle of a backward pass: code that may look at memory.

A gradient that has not been computed goes to the next node of the graph. PyTorch's own nodes read it by operations,
which compute it, or pass it on. Custom functions, written in Python or C++, may do anything with it, and what
`torch.autograd.grad` returns as well. So the nodes that a gradient can come to are looked at, once per pass, and those
are asked to take an ordinary tensor, by a hook that is gone when the pass ends.
"""

from typing import Any

import torch

_KNOWN = frozenset(kind for kind in vars(torch._C._functions).values() if isinstance(kind, type))
_LEAF = torch._C._functions.AccumulateGrad

# Nodes that never pass on what they are given, so that nobody behind them sees it. Not all of them: the usual ones,
# which keep the search short.
_COMPUTING = frozenset(
    getattr(torch._C._functions, name)
    for name in (
        "BmmBackward0", "CatBackward0", "ConvolutionBackward0", "CosBackward0", "DivBackward0", "EmbeddingBackward0",
        "ExpBackward0", "GeluBackward0", "IndexSelectBackward0", "LogBackward0", "LogSoftmaxBackward0", "MmBackward0",
        "MulBackward0", "NativeBatchNormBackward0", "NativeLayerNormBackward0", "PermuteBackward0", "PowBackward0",
        "ReluBackward0", "SigmoidBackward0", "SiluBackward0", "SinBackward0", "SoftmaxBackward0", "SplitBackward0",
        "StackBackward0", "TanhBackward0", "TBackward0", "TransposeBackward0", "UnbindBackward0", "UnsafeViewBackward0",
        "UnsqueezeBackward0", "ViewBackward0",
    )
    if hasattr(torch._C._functions, name)
)  # fmt: skip


def _ordinary(gradient: Any) -> Any:
    return gradient.ordinary() if hasattr(type(gradient), "ordinary") else gradient


def _all_ordinary(gradients: Any) -> Any:
    return tuple(map(_ordinary, gradients))


class Receivers:
    """Those of one backward pass."""

    def __init__(self, results: Any) -> None:
        """`results` are the tensors whose gradients the pass returns."""
        tensors = [tensor for tensor in results if isinstance(tensor, torch.Tensor)]
        self._leaves = {id(tensor): tensor for tensor in tensors if tensor.grad_fn is None}
        self._inner = {tensor.grad_fn: tensor for tensor in tensors if tensor.grad_fn is not None}
        self._seen: set[Any] = set()
        self._hooks: list[Any] = []

    def prepare(self, node: Any) -> None:
        """For a gradient that a node is about to pass on."""
        if node is None or node in self._seen:
            return
        self._seen.add(node)
        waiting = [receiver for receiver, _ in node.next_functions]
        while waiting:
            node = waiting.pop()
            if node is not None and node not in self._seen:
                self._seen.add(node)
                waiting += self._look_at(node)

    def _look_at(self, node: Any) -> list[Any]:
        """Hooks to a node if it needs that; returns those to which it may pass on what it is given."""
        kind = type(node)
        if kind is _LEAF:
            self._watch(self._leaves.get(id(node.variable)))
            return []
        if kind not in _KNOWN:
            self._hooks.append(node.register_prehook(_all_ordinary))
            return []
        self._watch(self._inner.get(node))
        return [] if kind in _COMPUTING else [receiver for receiver, _ in node.next_functions]

    def _watch(self, tensor: Any) -> None:
        if tensor is not None:
            self._hooks.append(tensor.register_hook(_ordinary))

    def forget(self) -> None:
        """Leaves the graph as it was."""
        hooks, self._hooks = self._hooks, []
        for hook in hooks:
            hook.remove()
        self._seen.clear()
