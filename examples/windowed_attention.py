"""The gradient of windowed attention: hundreds of overlapping slices.

Position t reads the keys and values of a window around it. The gradient with
respect to all keys is the sum of the gradients of all those windows. One by
one, each would cost a whole tensor; with `multi_slice_grad` all of them take
one pass.
"""

import backslice as bs
import numpy as np

LENGTH, SIZE, REACH = 200, 8, 5


def window(t):
    return slice(max(0, t - REACH), min(LENGTH, t + REACH + 1))


def softmax(scores):
    e = np.exp(scores - scores.max())
    return e / e.sum()


def attend(queries, keys, values):
    return np.stack(
        [
            softmax(keys[window(t)] @ queries[t]) @ values[window(t)]
            for t in range(LENGTH)
        ]
    )


def attend_backward(queries, keys, values, dy):
    """Return the gradients with respect to queries, keys and values."""
    dqueries = np.empty_like(queries)
    key_pieces, value_pieces = [], []
    for t in range(LENGTH):
        k, v = keys[window(t)], values[window(t)]
        weights = softmax(k @ queries[t])
        dweights = v @ dy[t]
        dscores = weights * (dweights - weights @ dweights)
        dqueries[t] = dscores @ k
        key_pieces.append((window(t), np.outer(dscores, queries[t])))
        value_pieces.append((window(t), np.outer(weights, dy[t])))
    return (
        dqueries,
        bs.multi_slice_grad(keys.shape, key_pieces),
        bs.multi_slice_grad(values.shape, value_pieces),
    )


def main():
    random = np.random.default_rng(0)
    inputs = [random.normal(size=(LENGTH, SIZE)) for _ in range(3)]
    dy = random.normal(size=(LENGTH, SIZE))
    gradients = attend_backward(*inputs, dy)

    worst = 0.0
    for which, gradient in enumerate(gradients):
        for _ in range(20):
            at = (random.integers(LENGTH), random.integers(SIZE))
            losses = []
            for step in (1e-6, -1e-6):
                moved = [array.copy() for array in inputs]
                moved[which][at] += step
                losses.append(np.sum(dy * attend(*moved)))
            slope = (losses[0] - losses[1]) / 2e-6
            worst = max(worst, abs(gradient[at] - slope))
    print(f"{LENGTH} windows of {2 * REACH + 1}")
    print(f"largest difference from finite differences: {worst:.1e}")
    assert worst < 1e-6


main()
