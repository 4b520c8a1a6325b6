"""Truncated back-propagation through time, with a TensorArray.

A small recurrent network learns to add up. The sequence is cut into windows.
Within one, the states go through a TensorArray and the gradient through its
gradient array, which sums the gradients that a state gets from the loss and
the next step. At the border of a window the gradient stops: the state is
carried over, the gradient is not. Finite differences with that state held
fixed check the gradients; then the network is trained.
"""

import backslice as bs
import numpy as np

STEPS, WINDOW, SIZE = 60, 6, 12


def run_window(weights, inputs, first_state):
    """Return the states of one window, before and after each step."""
    states = bs.TensorArray(
        len(inputs) + 1,
        "float64",
        (SIZE,),
        clear_after_read=False,
        name="states",
    )
    states.write(0, first_state)
    for t, x in enumerate(inputs):
        states.write(
            t + 1, np.tanh(weights["w"] * x + weights["u"] @ states.read(t))
        )
    return states


def loss_of(weights, states, targets):
    return 0.5 * np.sum((states.stack()[1:] @ weights["o"] - targets) ** 2)


def window_gradients(weights, inputs, targets, first_state):
    states = run_window(weights, inputs, first_state)
    h = states.stack()
    errors = h[1:] @ weights["o"] - targets
    gradient = states.grad("loss")
    for t, error in enumerate(errors):
        gradient.write(t + 1, error * weights["o"])
    found = {"w": 0.0, "u": 0.0, "o": errors @ h[1:]}
    for t in reversed(range(len(inputs))):
        da = gradient.read(t + 1) * (1 - h[t + 1] ** 2)
        found["w"] = found["w"] + da * inputs[t]
        found["u"] = found["u"] + np.outer(da, h[t])
        if t:  # the window's first state gets no gradient
            gradient.write(t, da @ weights["u"])
    return loss_of(weights, states, targets), found, h[-1].copy()


def largest_difference(weights, inputs, targets, first_state):
    """Return the gradient by finite differences, over all weights."""
    _, found, _ = window_gradients(weights, inputs, targets, first_state)
    worst = 0.0
    for name, array in weights.items():
        for at in np.ndindex(*array.shape):
            losses = []
            for step in (1e-6, -1e-6):
                moved = array.copy()
                moved[at] += step
                changed = {**weights, name: moved}
                states = run_window(changed, inputs, first_state)
                losses.append(loss_of(changed, states, targets))
            slope = (losses[0] - losses[1]) / 2e-6
            worst = max(worst, abs(found[name][at] - slope))
    return worst


def main():
    random = np.random.default_rng(0)
    weights = {
        "w": random.normal(size=SIZE),
        "u": random.normal(size=(SIZE, SIZE)) / SIZE,
        "o": random.normal(size=SIZE) / SIZE,
    }
    worst = largest_difference(
        weights,
        random.normal(size=WINDOW),
        random.normal(size=WINDOW),
        np.full(SIZE, 0.1),
    )
    print(f"largest difference from finite differences: {worst:.1e}")
    assert worst < 1e-6

    history = []
    for _ in range(300):
        inputs = random.choice([-0.1, 0.1], size=STEPS)
        targets = np.cumsum(inputs)
        state, total = np.zeros(SIZE), 0.0
        for begin in range(0, STEPS, WINDOW):
            part = slice(begin, begin + WINDOW)
            loss, found, state = window_gradients(
                weights, inputs[part], targets[part], state
            )
            total += loss
            weights = {
                name: array - 0.02 * found[name]
                for name, array in weights.items()
            }
        history.append(total)
    before, after = np.mean(history[:20]), np.mean(history[-20:])
    print(f"loss of a running sum: {before:.2f} before, {after:.2f} after")
    assert after < before / 2


main()
