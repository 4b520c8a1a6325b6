"""The gradient of overlapping windows over a large image, with Dask.

A score reads windows of an image that overlap by half. In the backward pass,
every pixel receives the gradients of its windows. `multi_slice_grad` gives
each chunk of the gradient the windows that meet it, and writes it once.
Image, windows and gradient are made and summed up chunk by chunk, so only
some chunks are in memory at once. `python dask_tiled_windows.py 30000` has an
image of 7 GB. A second number sets the rows and columns of a chunk.
"""

import sys

import dask.array as da
import numpy as np
from backslice.dask import multi_slice_grad

SIZE = int(sys.argv[1]) if len(sys.argv) > 1 else 64
WINDOW = max(2, SIZE // 4)
CHUNK = int(sys.argv[2]) if len(sys.argv) > 2 else min(WINDOW // 2, 1000)
STARTS = range(0, SIZE - WINDOW + 1, WINDOW // 2)
WINDOWS = [
    np.s_[i : i + WINDOW, j : j + WINDOW] for i in STARTS for j in STARTS
]
EDGE = da.from_array(np.hamming(WINDOW), chunks=CHUNK)
TAPER = EDGE[:, None] * EDGE


def score(image):
    """Return half the squares of all windows, each weighted by a taper."""
    return sum(0.5 * (TAPER * image[at] ** 2).sum() for at in WINDOWS)


def gradient(image):
    pieces = [(at, TAPER * image[at]) for at in WINDOWS]
    return multi_slice_grad(image.shape, pieces, chunks=image.chunks)


def main():
    image = da.random.default_rng(0).normal(size=(SIZE, SIZE), chunks=CHUNK)
    dx = gradient(image)
    layer = dx.dask.layers[dx.name]
    print(f"{len(WINDOWS)} windows meet chunks in {layer.meeting_pairs} pairs")
    # the score is quadratic: <gradient, image> is twice the score
    product, twice = (dx * image).sum().compute(), 2 * score(image).compute()
    gap = abs(product - twice) / abs(twice)
    print(f"gradient and score agree to {gap:.0e}")
    assert gap < 1e-12


main()
