"""Runs something without and with backslice, and compares."""

from collections.abc import Callable
from typing import Any

import backslice.torch as bt
import torch
import torch.utils.dlpack
from backslice.torch import counting
from torch.utils._pytree import tree_leaves

# Others that hold a gradient.
HOLDERS: dict[str, Callable[[Any], Any]] = {
    "the gradient": lambda g: g,
    "a view": lambda g: g.view(-1),
    "an export": torch.utils.dlpack.to_dlpack,
    "its memory": lambda g: g.untyped_storage(),
    "a detached one": lambda g: g.detach(),
}


def same_both_ways(run: Callable[[], Any], is_taken: bool = True, key: str | None = None) -> Any:
    """Check that `run` returns the same without and with backslice, and that its kernels (those for `key`) ran."""
    torch.manual_seed(0)
    without = tree_leaves(run())
    torch.manual_seed(0)
    with bt.enabled():
        counting.reset()
        result = run()
        taken = sum(count for (_, where), count in counting.taken.items() if key in (None, where))
    assert_equal(tree_leaves(result), without)
    assert (taken > 0) == is_taken, (dict(counting.taken), counting.left)
    return result


def assert_equal(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        if isinstance(b, torch.Tensor):
            assert a.shape == b.shape and a.dtype == b.dtype and a.requires_grad == b.requires_grad
            assert torch.equal(a, b), (a, b)
        else:
            assert a == b


def slices_of(x: Any) -> Any:
    """A scalar that needs every kind of slice."""
    total = sum(((x[:, t] * (t + 1)) ** 2).sum() for t in range(x.shape[1]))
    inner = x[1:, ::2]
    total = total + sum((inner[:, t] ** 3).sum() for t in range(inner.shape[1]))
    total = total + (x.unfold(1, 3, 2)[:, 1] * x[:, 2, :, None]).sum() + (x.diagonal(0, 0, 1) ** 2).sum()
    return total + (x * x).sum()


def leaf(*shape: int, dtype: torch.dtype = torch.float64) -> Any:
    """A tensor of small whole numbers, whose sums are exact in any order."""
    return torch.randint(-3, 4, shape).to(dtype).requires_grad_()
