"""Random programs of slices, sums, products, updates in place and reshapes, made of small whole numbers.

All sums are exact, so gradients are equal in whichever order they are added.
"""

import math
import random
from collections.abc import Callable
from typing import Any

import torch


def tensor(rng: random.Random, shape: tuple[int, ...], dtype: torch.dtype = torch.float64) -> Any:
    """Return a constant, also while a program is traced."""
    numbers = [rng.randrange(-3, 4) for _ in range(math.prod(shape))]
    return torch.tensor(numbers).reshape(shape).to(dtype)


def small(y: Any) -> Any:
    return y.remainder(5.0) - 2 if y.dtype.is_floating_point else y


def cut(rng: random.Random, x: Any) -> Any:
    """One of PyTorch's ways to take a part of a tensor."""
    if x.dim() == 0:
        return x
    dim = rng.randrange(x.dim())
    extent = x.shape[dim]
    if extent == 0:
        return x
    ways: list[Callable[[], Any]] = [
        lambda: x.select(dim, rng.randrange(-extent, extent)),
        lambda: x.narrow(dim, (start := rng.randrange(extent)), rng.randrange(extent - start + 1)),
        lambda: x[(slice(None),) * dim + (slice(rng.randrange(-extent, extent), None, rng.randrange(1, 4)),)],
        lambda: x[(..., rng.randrange(x.shape[-1]))] if x.shape[-1] else x,
        lambda: x[(slice(rng.randrange(extent + 2), rng.randrange(extent + 2)),)],
        lambda: x.unfold(dim, (size := rng.randrange(1, min(extent, 4) + 1)), rng.randrange(1, size + 2)),
        lambda: x.diff(dim=dim) if extent > 1 else x,
        lambda: rng.choice(x.tensor_split(rng.randrange(1, 4), dim)),
        lambda: rng.choice(x.split(rng.randrange(1, extent + 1), dim)),
        lambda: rng.choice(x.unbind(dim)),
        lambda: rng.choice(x.chunk(2, dim)),
    ]
    if x.dim() > 1:
        other = (dim + rng.randrange(1, x.dim())) % x.dim()
        ways.append(lambda: x.diagonal(rng.randrange(-1, 2), dim, other))
    return rng.choice(ways)()


def reshaped(rng: random.Random, x: Any) -> Any:
    ways: list[Callable[[], Any]] = [
        lambda: x.reshape(-1),
        lambda: x.unsqueeze(rng.randrange(x.dim() + 1)),
        lambda: x.squeeze(),
        lambda: x.transpose(0, -1) if x.dim() else x,
        lambda: x.permute(rng.sample(range(x.dim()), x.dim())),
        lambda: x.flip(0) if x.dim() else x,
        lambda: x.roll(1),
        lambda: x.contiguous(),
        lambda: x.clone(),
        lambda: x.expand(2, *x.shape),
        lambda: torch.cat([x, x]) if x.dim() else x,
        lambda: torch.stack([x, x], -1),
    ]
    return rng.choice(ways)()


def combined(rng: random.Random, x: Any, y: Any) -> Any:
    ways: list[Callable[[], Any]] = [lambda: x + y.sum(), lambda: x * small(y).sum().clamp(-2, 2), lambda: x - y.sum()]
    if x.shape == y.shape:
        ways += [lambda: x + y, lambda: x - y, lambda: torch.where(x > 0, x, y), lambda: x.maximum(y)] * 2
    return rng.choice(ways)()


def updated(rng: random.Random, x: Any) -> Any:
    """A copy that is changed in place, through a view of it too."""
    y = x.clone()
    part = cut(rng, y)
    if part.is_leaf or part._base is None or torch._debug_has_internal_overlap(part) != 0:
        return y
    try:
        changes = [
            lambda: part.mul_(2),
            lambda: part.add_(1),
            lambda: part.zero_(),
            lambda: part.copy_(part.detach() * 3),
        ]
        rng.choice(changes)()
    except RuntimeError:  # a view of a function that returns several must not be changed
        return x
    return y


def program(seed: int, length: int = 14, look: Callable[[Any], Any] = lambda y: y) -> Callable[[Any], Any]:
    """A function from a tensor to a scalar: the same steps whenever it runs. `look` is shown every value."""

    def run(x: Any) -> Any:
        rng = random.Random(seed)
        values = [x]
        for _ in range(length):
            y = rng.choice(values[-4:] + values[:2])
            step = rng.random()
            if step < 0.6:
                y = cut(rng, y)
            elif step < 0.75:
                y = reshaped(rng, y)
            elif step < 0.85:
                y = updated(rng, y)
            else:
                y = combined(rng, y, rng.choice(values))
            if y.numel() <= 4000:
                values.append(look(y))
        used = rng.sample(values, min(len(values), 6))
        total = sum((y * small(tensor(rng, tuple(y.shape), y.dtype))).sum() for y in used)
        return total + sum((cut(rng, x) * 2).sum() for _ in range(4))

    return run


def gradient(f: Callable[[Any], Any], x: Any) -> Any:
    x = x.detach().clone().requires_grad_()
    f(x).backward()
    return x.grad
