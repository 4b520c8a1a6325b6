"""Random slices as Python code: a report prints the computed program, and a user can paste it."""

import math
import random
from dataclasses import dataclass

import numpy as np


def random_shape(rng: random.Random, most_axes: int = 5) -> tuple[int, ...]:
    """Return small extents, sometimes 0 or none at all."""
    return tuple(0 if rng.random() < 0.03 else rng.randint(1, 6) for _ in range(rng.randint(0, most_axes)))


def random_index(rng: random.Random, shape: tuple[int, ...], steps: tuple[int, ...]) -> str:
    """Return an index in NumPy's notation, with slices of these steps, integers, new axes and an ellipsis."""
    rank = len(shape)
    first = rng.choice((rank, rng.randint(0, rank)))
    items = [_item(rng, extent, steps) for extent in shape[:first]]
    if rng.random() < 0.3:
        last = rng.randint(0, rank - first)
        items += ["...", *(_item(rng, extent, steps) for extent in shape[rank - last :])]
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        items.insert(rng.randint(0, len(items)), "None")
    return ", ".join(items) or "..."


def _item(rng: random.Random, extent: int, steps: tuple[int, ...]) -> str:
    if extent and rng.random() < 0.25:
        return str(rng.randint(-extent, extent - 1))
    bounds = [rng.choice(("", str(rng.randint(-extent - 2, extent + 2)))) for _ in range(2)]
    step = rng.choice(steps)
    return ":".join(bounds if step == 1 else [*bounds, str(step)])


def selected_shape(shape: tuple[int, ...], index: str) -> tuple[int, ...]:
    """Return the shape of the slice."""
    selected: tuple[int, ...] = np.broadcast_to(np.int8(0), shape)[eval(f"np.s_[{index},]", {"np": np})].shape
    return selected


def elements(shape: tuple[int, ...]) -> str:
    """Return code that makes an array of this shape. Its elements are small integers: sums are exact in every order."""
    return f"(np.arange({math.prod(shape)}) % 5 - 2.0).reshape({shape})"


def random_slice(rng: random.Random, steps: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    shape = random_shape(rng)
    return shape, random_index(rng, shape, steps)


def random_slices(rng: random.Random, steps: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    """Return a shape, and code for a list of pairs: a slice of that shape, and its gradient."""
    shape = random_shape(rng)
    indices = [random_index(rng, shape, steps) for _ in range(rng.randint(1, 6))]
    return shape, ", ".join(f"(np.s_[{index}], {elements(selected_shape(shape, index))})" for index in indices)


@dataclass(frozen=True)
class Taken:
    """A slice, or a slice of a slice, and code for its gradient by backslice."""

    title: str
    shape: tuple[int, ...]
    index: str  # with its brackets
    dy: str
    expected: str


def one_slice(rng: random.Random, steps: tuple[int, ...]) -> Taken:
    shape, index = random_slice(rng, steps)
    dy = f"dy = {elements(selected_shape(shape, index))}"
    return Taken("one slice", shape, f"[{index}]", dy, f"expected = bs.slice_grad(dy, {shape}, np.s_[{index}])")


def nested_slices(rng: random.Random, steps: tuple[int, ...]) -> Taken:
    shape, outer = random_slice(rng, steps)
    between = selected_shape(shape, outer)
    inner = random_index(rng, between, steps)
    dy = f"dy = {elements(selected_shape(between, inner))}"
    inner_dx = f"bs.slice_grad(dy, {between}, np.s_[{inner}])"
    expected = f"expected = bs.slice_grad({inner_dx}, {shape}, np.s_[{outer}])"
    return Taken("a slice of a slice", shape, f"[{outer}][{inner}]", dy, expected)
