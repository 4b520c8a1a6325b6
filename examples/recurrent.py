"""Trains nothing, but could: a recurrent loop through a TensorArray, backwards through its gradients.

The states h[t+1] = tanh(W x[t] + U h[t]) go through a TensorArray. Two losses look at them: the mean square of all
states, and the sum of the last one. Backwards, each has a gradient source of its own; a third source carries both at
once, with the two losses as an axis that is prepended to the shape of the states. Finite differences check them all.
"""

import backslice as bs
import numpy as np

STEPS, SIZE = 6, 4
random = np.random.default_rng(0)
inputs = random.normal(size=(STEPS, SIZE))
weights = {name: random.normal(size=(SIZE, SIZE)) / 2 for name in "WU"}


def forward(weights):
    states = bs.TensorArray(STEPS + 1, "float64", (SIZE,), clear_after_read=False, name="states")
    states.write(0, np.zeros(SIZE))
    for t in range(STEPS):
        states.write(t + 1, np.tanh(weights["W"] @ inputs[t] + weights["U"] @ states.read(t)))
    return states


def losses(weights):
    h = forward(weights).stack()
    return np.array([0.5 * np.sum(h**2), np.sum(h[-1])])


def backward(weights, states, gradient):
    """From the gradients of the states, which may have axes in front, to those of the weights."""
    h = states.stack()
    found = {"W": 0, "U": 0}
    for t in reversed(range(STEPS)):
        da = gradient.read(t + 1) * (1 - h[t + 1] ** 2)
        found["W"] = found["W"] + da[..., :, None] * inputs[t]
        found["U"] = found["U"] + da[..., :, None] * h[t]
        gradient.write(t, da @ weights["U"])  # added to what the loss wrote there
    return found


def main():
    states = forward(weights)
    h = states.stack()
    square, last = states.grad("square"), states.grad("last")
    square.unstack(h)  # the gradient of stack is unstack
    last.write(STEPS, np.ones(SIZE))  # the states before it read as zeros
    both = states.grad_with_shape("both", [2])
    for t in range(STEPS + 1):
        both.write(t, np.stack([h[t], np.zeros(SIZE)]))
    both.write(STEPS, np.stack([np.zeros(SIZE), np.ones(SIZE)]))

    results = [backward(weights, states, g) for g in (square, last, both)]
    worst = 0.0
    for name, matrix in weights.items():
        for at in np.ndindex(*matrix.shape):
            moved = [
                {**weights, name: matrix + e * (at == np.indices(matrix.shape).T).all(-1).T} for e in (1e-6, -1e-6)
            ]
            expected = (losses(moved[0]) - losses(moved[1])) / 2e-6
            got = np.array([results[0][name][at], results[1][name][at]])
            worst = max(
                worst, np.abs(got - expected).max(), np.abs(results[2][name][(slice(None), *at)] - expected).max()
            )
    print(f"largest difference from finite differences: {worst:.1e}")
    assert worst < 1e-6


main()
