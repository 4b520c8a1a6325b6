"""The gradient of overlapping windows over a large image, with Dask.

A score looks at windows of an image that overlap by half. Backwards, every
pixel receives what its windows send. `multi_slice_grad` gives each chunk of
the gradient the windows that meet it, and writes it once.
"""

import sys

import dask.array as da
import numpy as np
from backslice.dask import multi_slice_grad

SIZE = int(sys.argv[1]) if len(sys.argv) > 1 else 64
WINDOW, CHUNK = 16, max(24, SIZE // 8)
STARTS = range(0, SIZE - WINDOW + 1, WINDOW // 2)
WINDOWS = [
    np.s_[i : i + WINDOW, j : j + WINDOW] for i in STARTS for j in STARTS
]


def score(image):
    """Half the squares of all windows, each weighted by a taper."""
    return sum(0.5 * (TAPER * image[at] ** 2).sum() for at in WINDOWS)


def gradient(image):
    pieces = [(at, TAPER * image[at]) for at in WINDOWS]
    return multi_slice_grad(image.shape, pieces, chunks=image.chunks)


TAPER = np.outer(np.hanning(WINDOW), np.hanning(WINDOW))


def main():
    image = da.random.default_rng(0).normal(size=(SIZE, SIZE), chunks=CHUNK)
    lazy = gradient(image)
    layer = lazy.dask.layers[lazy.name]
    print(f"{len(WINDOWS)} windows meet chunks in {layer.meeting_pairs} pairs")
    # the score is of second degree: <gradient, image> is twice the score
    dx, x = lazy.compute(), image.compute()
    gap = abs(np.vdot(dx, x) - 2 * score(x)) / abs(2 * score(x))
    print(f"gradient and score agree to {gap:.0e}")
    assert gap < 1e-12


main()
