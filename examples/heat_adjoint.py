"""Where was it hot? The adjoint of a heat equation, by the gradients of its stencil's slices.

A plate cools: each step, an inner point moves towards its four neighbours. In NumPy that is five slices of u.
Backwards, the gradient of each slice goes where the slice came from; `multi_slice_grad` adds the six pieces up in one
pass. With it the temperature at the start is found again from the one at the end.
"""

import backslice as bs
import numpy as np

SIZE, STEPS, RATE = 24, 10, 0.2
INNER = np.s_[1:-1, 1:-1]
NEIGHBOURS = [np.s_[:-2, 1:-1], np.s_[2:, 1:-1], np.s_[1:-1, :-2], np.s_[1:-1, 2:]]
# the border keeps its temperature
BORDER = [np.s_[0, :], np.s_[-1, :], np.s_[1:-1, 0], np.s_[1:-1, -1]]


def step(u):
    after = u.copy()
    after[INNER] += RATE * (sum(u[at] for at in NEIGHBOURS) - 4 * u[INNER])
    return after


def step_adjoint(d):
    """From the gradient after a step to the one before it: each slice's gradient goes back to where it was taken."""
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
    """Of half the squared distance between where u ends and the target."""
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
    loss = lambda u: 0.5 * np.sum((simulate(u) - target) ** 2)  # noqa: E731
    before = loss(guess)
    for _ in range(400):
        guess = guess - 1.0 * gradient(guess, target)
    hottest = np.unravel_index(np.argmax(guess), guess.shape)
    print(f"loss {before:.2e} before, {loss(guess):.2e} after; hottest at {tuple(map(int, hottest))}")
    assert loss(guess) < 1e-4 * before and hottest == (8, 14)


main()
