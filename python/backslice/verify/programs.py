"""Random training programs for PyTorch, run without and with `backslice.torch`, and compared bit for bit.

A program mixes memory formats, views, updates in place, hooks, slices and other uses of one tensor in any order. Its
gradients are equal if their values are, but for the sign of zeros, and if their strides are, but for those of axes of
one element, which PyTorch's own rule for layouts leaves open.

>>> from backslice import verify
>>> verify.torch_programs(range(1000)).different
[]

The module imports PyTorch when it is first used.
"""

import functools
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

LARGEST = 3000  # elements of a value


@dataclass
class Report:
    """The result of :func:`torch_programs`.

    Attributes
    ----------
    programs : int
        How many programs ran.
    taken : int
        How many gradients backslice took in them. A run that takes none tests nothing.
    different : list of (int, str)
        The seeds of the programs that differ, and how.
    """

    programs: int = 0
    taken: int = 0
    different: list[tuple[int, str]] = field(default_factory=list)


def torch_programs(seeds: Iterable[int], device: str = "cpu") -> Report:
    """Run the programs of these seeds without and with backslice, even if their tensors are small.

    Parameters
    ----------
    seeds : iterable of int
        One per program. A seed always gives the same program.
    device : str, default: "cpu"
        Where PyTorch's tensors are.

    Returns
    -------
    Report
        The seeds that differ.
    """
    from ..torch import counting, enabled, kernels

    report = Report()
    with enabled(), _shipped_sizes_afterwards(kernels):
        for seed in seeds:
            kernels.switch_off()
            expected = _outcome(seed, device)
            kernels.switch_on({key: (0, 0) for key in kernels.KEYS})
            before = counting.taken.total()
            found = _outcome(seed, device)
            report.taken += counting.taken.total() - before
            report.programs += 1
            if (difference := _difference(found, expected)) is not None:
                report.different.append((seed, difference))
    return report


@contextmanager
def _shipped_sizes_afterwards(kernels: Any) -> Iterator[None]:
    try:
        yield
    finally:
        kernels.switch_on(kernels.SHIPPED)


def _outcome(seed: int, device: str) -> Any:
    program = Program(seed, device)
    try:
        return program.gradients()
    except RuntimeError as error:
        return type(error).__name__
    finally:
        program.values, program.leaves, program.seen = [], [], []  # referenced by their hooks


def _difference(found: Any, expected: Any) -> str | None:
    if isinstance(found, str) or isinstance(expected, str):
        return None if found is expected or found == expected else f"{_named(found)} instead of {_named(expected)}"
    if len(found) != len(expected):
        return f"{len(found)} gradients instead of {len(expected)}"
    for (name, a), (_, b) in zip(found, expected, strict=True):
        if (a is None) != (b is None):
            return f"{name} is {'missing' if a is None else 'not missing'}"
        if a is not None and (reason := _unequal(a, b)) is not None:
            return f"{name} {reason}"
    return None


def _named(outcome: Any) -> str:
    return outcome if isinstance(outcome, str) else "gradients"


def _unequal(a: Any, b: Any) -> str | None:
    import torch

    if type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape:
        return f"is {type(a).__name__} {a.dtype} {tuple(a.shape)}, expected {b.dtype} {tuple(b.shape)}"
    if [step for step, extent in zip(a.stride(), a.shape, strict=True) if extent != 1] != [
        step for step, extent in zip(b.stride(), b.shape, strict=True) if extent != 1
    ]:
        return f"of shape {tuple(a.shape)} has strides {a.stride()}, expected {b.stride()}"
    if torch.allclose(a, b, rtol=0, atol=0, equal_nan=True):
        return None
    return f"differs by up to {(a - b).abs().max().item():.3g}"


class Program:
    """One random program: the same steps whenever it runs."""

    def __init__(self, seed: int, device: str) -> None:
        import torch

        self.torch, self.device = torch, device
        self.rng = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.dtype = self.rng.choice([torch.float64, torch.float32, torch.float32, torch.bfloat16, torch.complex64])
        self.leaves = [self.leaf() for _ in range(self.rng.randrange(1, 3))]
        self.values: list[Any] = list(self.leaves)
        self.seen: list[tuple[str, Any]] = []  # by hooks

    def numbers(self, shape: Any) -> Any:
        return self.torch.randn(tuple(shape), dtype=self.dtype, generator=self.generator).to(self.device)

    def leaf(self) -> Any:
        shape = [self.rng.choice([1, 2, 3, 4, 5, 8]) for _ in range(self.rng.choice([1, 2, 2, 3, 3, 4, 4, 5]))]
        x = self.numbers(shape)
        kind = self.rng.random()
        if kind < 0.25 and len(shape) == 4:
            x = x.contiguous(memory_format=self.torch.channels_last)
        elif kind < 0.4:
            x = x.permute(self.rng.sample(range(len(shape)), len(shape)))
        elif kind < 0.5:
            x = self.numbers([2 * shape[0], *shape[1:]])[::2]
        elif kind < 0.55:
            x = self.numbers([1, *shape[1:]]).expand(shape)
        return x.requires_grad_()

    def gradients(self) -> list[tuple[str, Any]]:
        """Return every gradient that the program computes, with its name."""
        for _ in range(self.rng.randrange(4, 16)):
            self.step()
        retained = [y for y in self.rng.sample(self.values, min(2, len(self.values))) if y.grad_fn is not None]
        for y in retained:
            y.retain_grad()
        captured = self.backward()
        found = [(f".grad {i}", y.grad) for i, y in enumerate([*self.leaves, *retained])]
        return [*found, *captured, *self.seen]

    def backward(self) -> list[tuple[str, Any]]:
        torch, rng = self.torch, self.rng
        outputs = self.outputs()
        dys = [rng.choice([torch.ones_like, self.like, self.spread])(y) for y in outputs]
        way = rng.random()
        if way < 0.5:
            total = sum((y * dy).sum() for y, dy in zip(outputs, dys, strict=True))
            total.abs().backward()
        elif way < 0.75:
            torch.autograd.backward(outputs, dys, retain_graph=True)
            torch.autograd.backward(outputs[:2], dys[:2])  # adds to .grad
        else:
            wanted = [*self.leaves, *(y for y in self.values if y.grad_fn is not None)][: rng.randrange(1, 5)]
            found = torch.autograd.grad(outputs, wanted, dys, allow_unused=True, create_graph=way > 0.95)
            return [(f"gradient {i}", None if g is None else g.detach()) for i, g in enumerate(found)]
        return []

    def outputs(self) -> list[Any]:
        """Return values and slices of them, in any order, those of the leaves most."""
        chosen = self.rng.sample(self.values, min(len(self.values), self.rng.randrange(2, 7)))
        few = self.rng.sample(self.values, min(len(self.values), 2))
        sliced = [self.cut(self.rng.choice(few)) for _ in range(self.rng.randrange(2, 9))]
        outputs = [y for y in chosen + sliced if y.requires_grad]
        self.rng.shuffle(outputs)
        return outputs or [self.leaves[0] * 1]

    def like(self, y: Any) -> Any:
        return self.numbers(y.shape)

    def spread(self, y: Any) -> Any:
        return self.numbers([]).expand(y.shape)

    def step(self) -> None:
        y = self.rng.choice(self.values[-4:] + self.values[:2])
        kinds = [self.cut, self.cut, self.cut, self.laid_out, self.computed, self.computed, self.combined, self.updated]
        made = None
        with self.allowing_errors():
            made = self.rng.choice([*kinds, self.hooked])(y)
        if made is not None and 0 < made.numel() <= LARGEST and made.requires_grad:
            self.values.append(made)

    @contextmanager
    def allowing_errors(self) -> Iterator[None]:
        """Leave out steps that PyTorch refuses, as it does many views."""
        with suppress(RuntimeError, IndexError, ValueError, NotImplementedError, TypeError):
            yield

    def axis(self, y: Any) -> int:
        return self.rng.randrange(y.dim())

    def cut(self, y: Any) -> Any:
        """Return a part of a value, taken in one of PyTorch's ways."""
        if y.dim() == 0 or y.numel() == 0:
            return y
        rng, axis = self.rng, self.axis(y)
        extent = y.shape[axis]
        start, count = rng.randrange(extent), rng.randrange(extent + 1)
        ways: list[Callable[[], Any]] = [
            lambda: y.select(axis, start - extent * (count % 2)),
            lambda: y.narrow(axis, start, max(1, min(count, extent - start))),
            lambda: y[(slice(None),) * axis + (slice(start, None, rng.randrange(1, 4)),)],
            lambda: y[(slice(None),) * axis + (slice(start - extent, start + 2),)],
            lambda: y[..., -1],
            lambda: y[start % y.shape[0]],
            lambda: rng.choice(y.split(max(1, count), axis)),
            lambda: rng.choice(y.unbind(axis)),
            lambda: y.unfold(axis, min(2, extent), 1),
            lambda: y.diagonal(0, 0, -1) if y.dim() > 1 else y,
        ]
        part = rng.choice([*ways[:6], *ways])()
        if part.grad_fn is not None and rng.random() < 0.15:
            part.grad_fn.register_hook(rng.choice([self.keep_of_node, self.drop]))
        return part

    def laid_out(self, y: Any) -> Any:
        """Return the same values in another layout or shape."""
        torch, rng = self.torch, self.rng
        order = rng.sample(range(y.dim()), y.dim())
        ways: list[Callable[[], Any]] = [
            lambda: y.permute(order),
            lambda: y.transpose(0, -1),
            lambda: y.contiguous(),
            lambda: y.permute(order).contiguous(),
            lambda: y.contiguous(memory_format=torch.channels_last),
            lambda: y.clone(memory_format=torch.preserve_format),
            lambda: y.view(-1),
            lambda: y.reshape(-1, y.shape[-1]),
            lambda: y.flatten(),
            lambda: y.unsqueeze(rng.randrange(y.dim() + 1)),
            lambda: y.squeeze(),
            lambda: y.expand(2, *y.shape),
            lambda: y.flip(0),
            lambda: y.as_strided(y.shape, y.stride(), y.storage_offset()),
        ]
        return rng.choice(ways)()

    def computed(self, y: Any) -> Any:
        """Return a function of a value."""
        torch, rng, nn = self.torch, self.rng, self.torch.nn.functional
        ways: list[Callable[[], Any]] = [
            lambda: y * self.like(y),
            lambda: y * self.numbers(y.shape[::-1]).permute(*reversed(range(y.dim()))),
            lambda: y * 2,
            lambda: y.sin(),
            lambda: y.sum(self.axis(y), keepdim=True),
            lambda: y.cumsum(self.axis(y)),
            lambda: y.mean(),
            lambda: y @ self.numbers([y.shape[-1], 3]),
            lambda: nn.conv2d(y, self.numbers([2, y.shape[1], 1, 1])),
            lambda: nn.group_norm(y, 1),
            lambda: nn.layer_norm(y, y.shape[-1:]),
            lambda: nn.pad(y, (1, 0)),
            lambda: nn.linear(y, self.numbers([2, y.shape[-1]])),
            lambda: y.softmax(self.axis(y)),
            lambda: torch.utils.checkpoint.checkpoint(self.cut, y, use_reentrant=rng.random() < 0.5),
        ]
        return rng.choice(ways)()

    def combined(self, y: Any) -> Any:
        """Return a function of two values."""
        torch, rng = self.torch, self.rng
        other = rng.choice([z for z in self.values if z.shape == y.shape])
        ways: list[Callable[[], Any]] = [
            lambda: y + other,
            lambda: y - other,
            lambda: y * other,
            lambda: torch.cat([y, other], self.axis(y)),
            lambda: torch.stack([y, other, y]),
            lambda: y + rng.choice(self.values).sum(),
        ]
        return rng.choice(ways)()

    def updated(self, y: Any) -> Any:
        """Return a copy of which a part was changed in place."""
        copy = y.clone()
        part = self.cut(copy)
        changes = [
            lambda: part.mul_(2),
            lambda: part.add_(self.like(part)),
            lambda: part.zero_(),
            lambda: part.copy_(self.cut(y)),
        ]
        self.rng.choice(changes)()
        return copy

    def hooked(self, y: Any) -> Any:
        """Return a value whose gradient hooks see, keep or change."""
        y = y * 1 if y.grad_fn is None else y
        ways = [
            lambda: y.register_hook(functools.partial(self.keep, "seen by a hook")),
            lambda: y.register_hook(lambda g: None if g is None else g * 2),
            lambda: y.grad_fn.register_hook(self.keep_of_node),
            lambda: y.grad_fn.register_hook(lambda gs, _: tuple(None if g is None else g * 2 for g in gs)),
            lambda: y.grad_fn.register_prehook(lambda gs: tuple(None if g is None else g * 2 for g in gs)),
        ]
        self.rng.choice(ways)()
        return y

    def keep(self, name: str, gradient: Any) -> None:
        self.seen.append((name, gradient))

    def drop(self, gradients: Any, _: Any) -> Any:
        return (None,) * len(gradients)

    def keep_of_node(self, gradients: Any, _: Any) -> None:
        for gradient in gradients:
            if gradient is not None:
                self.keep("seen by a hook of a node", gradient.view_as(gradient))
