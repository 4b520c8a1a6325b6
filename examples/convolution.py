"""The backward pass of a convolution, by hand, in NumPy.

A convolution is a sum over the positions (p, q) of its kernel. Each position
meets a slice of x as the kernel moves. So the gradient with respect to x is
the sum of the gradients of those slices, which overlap. `multi_slice_grad`
adds all of them up in one pass. Finite differences check the result.
"""

import backslice as bs
import numpy as np

STRIDE = 2


def windows(x_shape, kernel):
    """Yield each position of the kernel, and its slice of x."""
    height, width = (
        (n - k) // STRIDE + 1
        for n, k in zip(x_shape[2:], kernel.shape[2:], strict=True)
    )
    for p, q in np.ndindex(*kernel.shape[2:]):
        rows = slice(p, p + STRIDE * (height - 1) + 1, STRIDE)
        columns = slice(q, q + STRIDE * (width - 1) + 1, STRIDE)
        yield (p, q), np.s_[:, :, rows, columns]


def convolve(x, kernel):
    """Convolve x, which is [images, channels in, rows, columns].

    The kernel is [channels out, channels in, rows, columns].
    """
    return sum(
        np.einsum("ncij,oc->noij", x[at], kernel[:, :, p, q])
        for (p, q), at in windows(x.shape, kernel)
    )


def convolve_backward(x, kernel, dy):
    """Return the gradients with respect to x and the kernel."""
    dkernel = np.zeros_like(kernel)
    pieces = []
    for (p, q), at in windows(x.shape, kernel):
        dkernel[:, :, p, q] = np.einsum("noij,ncij->oc", dy, x[at])
        pieces.append((at, np.einsum("noij,oc->ncij", dy, kernel[:, :, p, q])))
    return bs.multi_slice_grad(x.shape, pieces), dkernel


def slope(loss, array, at, step=1e-6):
    """Return the change of the loss with one element."""
    moved = [array.copy(), array.copy()]
    moved[0][at] += step
    moved[1][at] -= step
    return (loss(moved[0]) - loss(moved[1])) / (2 * step)


def main():
    random = np.random.default_rng(0)
    x = random.normal(size=(2, 3, 9, 8))
    kernel = random.normal(size=(4, 3, 3, 2))
    dy = random.normal(size=convolve(x, kernel).shape)
    dx, dkernel = convolve_backward(x, kernel, dy)

    def loss_of_x(moved):
        return np.sum(dy * convolve(moved, kernel))

    def loss_of_kernel(moved):
        return np.sum(dy * convolve(x, moved))

    worst = 0.0
    for at in [tuple(random.integers(n) for n in x.shape) for _ in range(100)]:
        worst = max(worst, abs(dx[at] - slope(loss_of_x, x, at)))
    for at in np.ndindex(*kernel.shape):
        worst = max(worst, abs(dkernel[at] - slope(loss_of_kernel, kernel, at)))
    print(f"largest difference from finite differences: {worst:.1e}")
    assert worst < 1e-6


main()
