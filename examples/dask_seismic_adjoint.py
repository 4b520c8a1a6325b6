"""A seismic adjoint on fields that do not fit memory, with Dask.

A wave moves by finite differences: each step reads the four neighbours of
every inner point, which are slices. The adjoint sends a gradient back through
every step: `multi_slice_grad` adds the gradients of the slices, chunk by
chunk. Every step is stored in files, one per band of rows, and only some
bands are in memory at once. `python dask_seismic_adjoint.py 30000` has wave
fields of 7 GB in bands of 8 MB, and stores six of them. A second number sets
the number of rows in a band.
"""

import sys
import tempfile

import dask.array as da
import numpy as np
from backslice.dask import multi_slice_grad, slice_grad

SIZE = int(sys.argv[1]) if len(sys.argv) > 1 else 48
BAND = max(1, min(SIZE // 6, 2**20 // SIZE))  # rows; at most 8 MB of them
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else BAND
STEPS, RATE = 3, 0.2
INNER = np.s_[1:-1, 1:-1]
NEIGHBOURS = [
    np.s_[:-2, 1:-1],
    np.s_[2:, 1:-1],
    np.s_[1:-1, :-2],
    np.s_[1:-1, 2:],
]


def accelerate(u, onto):
    """Add the forces of the neighbours at the inner points."""
    pull = sum(u[at] for at in NEIGHBOURS) - 4 * u[INNER]
    return slice_grad(RATE * pull, u.shape, INNER, onto=onto)


def accelerate_adjoint(d):
    """Return the gradient of `accelerate` with respect to u."""
    pull = RATE * d[INNER]
    pieces = [(INNER, -4 * pull)] + [(at, pull) for at in NEIGHBOURS]
    return multi_slice_grad(d.shape, pieces, chunks=d.chunks)


def simulate(u, before, folder):
    for step in range(STEPS):
        after = accelerate(u, onto=2 * u - before)
        u, before = stored(after, f"{folder}/u{step}"), u
    return u


def simulate_adjoint(d, folder):
    """Return the gradient with respect to both wave fields at the start."""
    d_u, d_before = d, da.zeros_like(d)
    for step in range(STEPS):
        d_after = 2 * d_u + accelerate_adjoint(d_u) + d_before
        d_u, d_before = stored(d_after, f"{folder}/d{step}"), -d_u
    return d_u, d_before


def stored(field, path):
    """Compute a field into files, band by band, and read it when needed."""
    da.to_npy_stack(path, field)
    return da.from_npy_stack(path, mmap_mode=None)


def main():
    random = da.random.default_rng(0)
    fields = [
        random.normal(size=(SIZE, SIZE), chunks=(ROWS, SIZE)) for _ in range(3)
    ]
    u, before, d = fields
    with tempfile.TemporaryDirectory() as folder:
        d_u, d_before = simulate_adjoint(d, folder)
        # the adjoint identity
        left = da.sum(simulate(u, before, folder) * d).compute()
        right = da.sum(u * d_u + before * d_before).compute()
    gap = abs(left - right) / SIZE**2
    print(f"{d_u.npartitions} bands; adjoint identity holds to {gap:.0e}")
    assert gap < 1e-12


main()
