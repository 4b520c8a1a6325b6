"""Placements against what PyTorch's views say: which element of a tensor each element of a slice is."""

import random
from typing import Any

import torch
from backslice.torch.kernels import OPERATIONS
from backslice.torch.placement import (
    MAX_BOXES,
    Placement,
    boxes,
    compose,
    identity,
    is_supported,
    of_unfold,
    strided_view,
    walks_along_axes,
)


def a_step(rng: random.Random, x: Any) -> tuple[Any, Placement]:
    """A random slice of a tensor, and where it lies."""
    shape, dim = list(x.shape), rng.randrange(x.dim())
    extent = shape[dim]
    kind = rng.choice(["select", "slice", "unfold", "diagonal"] if x.dim() > 1 else ["slice", "unfold"])
    if kind == "select":
        index = rng.randrange(-extent, extent)
        return x.select(dim, index), OPERATIONS["select_backward"].place(shape, dim, index)
    if kind == "slice":
        start, step = rng.randrange(-extent, extent), rng.randrange(1, 4)
        y = x[(slice(None),) * dim + (slice(start, None, step),)]
        return y, OPERATIONS["slice_backward"].place(shape, dim, start, 2**63 - 1, step)
    if kind == "unfold":
        size, step = rng.randrange(1, extent + 1), rng.randrange(1, 4)
        return x.unfold(dim, size, step), OPERATIONS["unfold_backward"].place(shape, dim, size, step)
    other = (dim + rng.randrange(1, x.dim())) % x.dim()
    offset = rng.randrange(-shape[dim] + 1, shape[other])
    return x.diagonal(offset, dim, other), OPERATIONS["diagonal_backward"].place(shape, offset, dim, other)


def test_chains_of_slices_are_one_placement() -> None:
    rng = random.Random(0)
    supported = 0
    for _ in range(3000):
        x = torch.arange(120).reshape(rng.choice([(120,), (4, 30), (5, 4, 6), (2, 3, 4, 5)]))
        y, placement = x, identity(x.dim())
        for _ in range(rng.randrange(1, 5)):
            if y.dim() == 0 or y.numel() == 0:
                break
            y, step = a_step(rng, y)
            placement = compose(placement, step)
        offset, strides = strided_view(placement, x.stride())
        assert torch.equal(torch.as_strided(x, y.shape, strides, offset), y)
        if y.numel() and walks_along_axes(placement):
            supported += 1
            assert_boxes_are(x, y, placement)
    assert supported > 1000


def assert_boxes_are(x: Any, y: Any, placement: Placement) -> None:
    covered = torch.zeros_like(y)
    for box in boxes(placement, y.shape):
        part = y.numpy()[(*box.part, ...)].transpose(box.order)
        assert torch.equal(torch.from_numpy(part.copy()), x[box.index])
        covered.numpy()[(*box.part, ...)] += 1
    assert covered.eq(1).all()


def test_too_many_windows_are_not_supported() -> None:
    few, many = of_unfold(1, 0, 1), of_unfold(1, 0, 1)
    assert is_supported(few, (10_000, MAX_BOXES)) and not is_supported(many, (10_000, MAX_BOXES + 1))


def test_windows_along_a_diagonal_are_not_supported() -> None:
    diagonal = OPERATIONS["diagonal_backward"].place((5, 5), 0, 0, 1)
    assert is_supported(diagonal, (5,))
    assert not is_supported(compose(diagonal, of_unfold(1, 0, 1)), (4, 2))
