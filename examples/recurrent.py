"""A recurrent loop through a TensorArray, and backwards through its gradients.

The states h[t+1] = tanh(W x[t] + U h[t]) go through a TensorArray. Two losses
look at them: half the squares of all states, and the sum of the last one.
Backwards, each loss has its own gradient source. A third source carries both
at once: its elements have an axis of two losses before the axis of the states.
Finite differences check them all.
"""

import backslice as bs
import numpy as np

STEPS, SIZE = 6, 4
random = np.random.default_rng(0)
inputs = random.normal(size=(STEPS, SIZE))
weights = {name: random.normal(size=(SIZE, SIZE)) / 2 for name in "WU"}


def forward(weights):
    states = bs.TensorArray(
        STEPS + 1, "float64", (SIZE,), clear_after_read=False, name="states"
    )
    states.write(0, np.zeros(SIZE))
    for t in range(STEPS):
        a = weights["W"] @ inputs[t] + weights["U"] @ states.read(t)
        states.write(t + 1, np.tanh(a))
    return states


def losses(weights):
    h = forward(weights).stack()
    return np.array([0.5 * np.sum(h**2), np.sum(h[-1])])


def backward(weights, states, gradient):
    """Return the gradients of the weights from the gradients of the states.

    The states' gradients may have leading axes.
    """
    h = states.stack()
    found = {"W": 0, "U": 0}
    for t in reversed(range(STEPS)):
        da = gradient.read(t + 1) * (1 - h[t + 1] ** 2)
        found["W"] = found["W"] + da[..., :, None] * inputs[t]
        found["U"] = found["U"] + da[..., :, None] * h[t]
        # added to the loss's gradient
        gradient.write(t, da @ weights["U"])
    return found


def moved(name, at, step):
    """Return the weights with one element changed."""
    matrix = weights[name].copy()
    matrix[at] += step
    return {**weights, name: matrix}


def main():
    states = forward(weights)
    h = states.stack()
    square, last = states.grad("square"), states.grad("last")
    square.unstack(h)  # the gradient of stack is unstack
    last.write(STEPS, np.ones(SIZE))  # unwritten states read as zeros
    both = states.grad_with_shape("both", [2])
    for t in range(STEPS + 1):
        both.write(t, np.stack([h[t], np.zeros(SIZE)]))
    both.write(STEPS, np.stack([np.zeros(SIZE), np.ones(SIZE)]))

    results = [backward(weights, states, g) for g in (square, last, both)]
    worst = 0.0
    for name, matrix in weights.items():
        for at in np.ndindex(*matrix.shape):
            above, below = (losses(moved(name, at, e)) for e in (1e-6, -1e-6))
            expected = (above - below) / 2e-6
            one_by_one = np.array([results[0][name][at], results[1][name][at]])
            together = results[2][name][(slice(None), *at)]
            for found in (one_by_one, together):
                worst = max(worst, np.abs(found - expected).max())
    print(f"largest difference from finite differences: {worst:.1e}")
    assert worst < 1e-6


main()
