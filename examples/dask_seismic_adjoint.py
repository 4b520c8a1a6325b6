"""A seismic adjoint on an array that need not fit memory, with Dask.

A wave moves by finite differences: each step looks at the four neighbours of
every inner point, which are slices. The adjoint sends a gradient back through
every step: `multi_slice_grad` adds the gradients of the slices, chunk by
chunk. Nothing is computed before the end, and only some chunks are in memory
at once: `python dask_seismic_adjoint.py 30000` needs 7 GB per wave field.
"""

import sys

import dask
import dask.array as da
import numpy as np
from backslice.dask import multi_slice_grad, slice_grad

SIZE = int(sys.argv[1]) if len(sys.argv) > 1 else 48
CHUNK, STEPS, RATE = max(20, SIZE // 10), 3, 0.2
INNER = np.s_[1:-1, 1:-1]
NEIGHBOURS = [
    np.s_[:-2, 1:-1],
    np.s_[2:, 1:-1],
    np.s_[1:-1, :-2],
    np.s_[1:-1, 2:],
]


def accelerate(u, onto):
    """Add what the neighbours pull at the inner points."""
    pull = sum(u[at] for at in NEIGHBOURS) - 4 * u[INNER]
    return slice_grad(RATE * pull, u.shape, INNER, onto=onto)


def accelerate_adjoint(d):
    """The gradient with respect to u of what accelerate adds."""
    pull = RATE * d[INNER]
    pieces = [(INNER, -4 * pull)] + [(at, pull) for at in NEIGHBOURS]
    return multi_slice_grad(d.shape, pieces, chunks=d.chunks)


def simulate(u, before):
    for _ in range(STEPS):
        u, before = accelerate(u, onto=2 * u - before), u
    return u


def simulate_adjoint(d):
    """The gradient with respect to both wave fields at the start."""
    d_u, d_before = d, da.zeros_like(d)
    for _ in range(STEPS):
        d_u, d_before = 2 * d_u + accelerate_adjoint(d_u) + d_before, -d_u
    return d_u, d_before


def main():
    random = da.random.default_rng(0)
    fields = [random.normal(size=(SIZE, SIZE), chunks=CHUNK) for _ in range(3)]
    u, before, d = fields
    d_u, d_before = simulate_adjoint(d)
    # the adjoint identity
    sides = da.sum(simulate(u, before) * d), da.sum(u * d_u + before * d_before)
    left, right = dask.compute(*sides)
    gap = abs(left - right) / SIZE**2
    print(f"{d_u.npartitions} chunks; adjoint identity holds to {gap:.0e}")
    assert gap < 1e-12


main()
