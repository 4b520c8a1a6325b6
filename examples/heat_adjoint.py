"""Where was it hot? The adjoint of a heat equation, from slices.

A plate cools: in each step, an inner point moves towards its four neighbours.
In NumPy that is five slices of u. In the backward pass, the gradient of each
slice goes to the slice's position, and `multi_slice_grad` adds all of them up
in one pass. So the temperature at the start is recovered from the end.
"""

import backslice as bs
import numpy as np

SIZE, STEPS, RATE = 24, 10, 0.2
INNER = np.s_[1:-1, 1:-1]
NEIGHBOURS = [
    np.s_[:-2, 1:-1],
    np.s_[2:, 1:-1],
    np.s_[1:-1, :-2],
    np.s_[1:-1, 2:],
]
# the border keeps its temperature
BORDER = [np.s_[0, :], np.s_[-1, :], np.s_[1:-1, 0], np.s_[1:-1, -1]]


def step(u):
    after = u.copy()
    after[INNER] += RATE * (sum(u[at] for at in NEIGHBOURS) - 4 * u[INNER])
    return after


def step_adjoint(d):
    """Return the gradient before a step from the gradient after it."""
    inner = d[INNER]
    pieces = [(INNER, (1 - 4 * RATE) * inner)]
    pieces += [(at, RATE * inner) for at in NEIGHBOURS]
    pieces += [(at, d[at]) for at in BORDER]
    return bs.multi_slice_grad(d.shape, pieces)


def simulate(u):
    for _ in range(STEPS):
        u = step(u)
    return u


def gradient(u, target):
    """Return half the squared distance between the end of u and the target."""
    d = simulate(u) - target
    for _ in range(STEPS):
        d = step_adjoint(d)
    return d


def main():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, SIZE, SIZE))
    # the adjoint identity: <step(a), b> = <a, step_adjoint(b)>
    gap = abs(np.vdot(step(a), b) - np.vdot(a, step_adjoint(b)))
    print(f"adjoint identity holds to {gap:.1e}")
    assert gap < 1e-12 * SIZE**2

    rows, columns = np.mgrid[:SIZE, :SIZE]
    truth = np.exp(-((rows - 8) ** 2 + (columns - 14) ** 2) / 8.0)
    target = simulate(truth)
    guess = np.zeros_like(truth)

    def loss(u):
        return 0.5 * np.sum((simulate(u) - target) ** 2)

    before = loss(guess)
    for _ in range(400):
        guess = guess - 1.0 * gradient(guess, target)
    hottest = np.unravel_index(np.argmax(guess), guess.shape)
    after, hottest = loss(guess), tuple(map(int, hottest))
    print(f"loss {before:.2e} before, {after:.2e} after; hottest at {hottest}")
    assert after < 1e-4 * before and hottest == (8, 14)


main()
