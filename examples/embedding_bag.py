"""A ragged embedding bag: each sentence is the mean of its words' vectors.

The words of all sentences are concatenated; splits say where each sentence
begins. The sentences are encoded one by one, and the loss uses only some of
them. The gradient joins their pieces again, with zeros for the unused
sentences. Then each word's gradient goes to its row of the table. Finite
differences check the result.
"""

import backslice as bs
import numpy as np

WORDS, SIZE = 30, 4
SENTENCES = [[3, 17, 3, 29], [], [8], [5, 6, 7, 8, 9, 10], [0, 0, 1], [2]]
LABELS = {0: 1.0, 3: -1.0, 4: 1.0, 1: 0.5}  # sentences 2 and 5 have no label


def bags(table):
    """Return one array per sentence: the vectors of its words."""
    words = np.array([word for sentence in SENTENCES for word in sentence])
    rows = bs.RaggedTensor.from_row_lengths(
        table[words], [len(sentence) for sentence in SENTENCES]
    )
    return words, rows, bs.ragged_tensor_to_variant(rows)


def score(bag, direction):
    return bag.mean(axis=0) @ direction if len(bag) else 0.0


def loss_of(table, direction):
    _, _, encoded = bags(table)
    return 0.5 * sum(
        (score(encoded[i], direction) - label) ** 2
        for i, label in LABELS.items()
    )


def gradient_of(table, direction):
    words, rows, encoded = bags(table)
    pieces = [None] * len(SENTENCES)
    for i, label in LABELS.items():
        bag = encoded[i]
        error = score(bag, direction) - label
        pieces[i] = np.broadcast_to(
            error * direction / max(len(bag), 1), bag.shape
        )
    (splits,) = rows.nested_row_splits
    dwords = bs.ragged_tensor_to_variant_gradient(
        bs.VariantArray(pieces), splits, rows.values.shape
    )
    dtable = np.zeros_like(table)
    np.add.at(dtable, words, dwords)  # a word may occur several times
    return dtable


def main():
    random = np.random.default_rng(0)
    table = random.normal(size=(WORDS, SIZE))
    direction = random.normal(size=SIZE)
    dtable = gradient_of(table, direction)
    worst = 0.0
    for at in np.ndindex(*table.shape):
        losses = []
        for step in (1e-6, -1e-6):
            moved = table.copy()
            moved[at] += step
            losses.append(loss_of(moved, direction))
        worst = max(worst, abs(dtable[at] - (losses[0] - losses[1]) / 2e-6))
    print(f"largest difference from finite differences: {worst:.1e}")
    assert worst < 1e-8
    assert not dtable[2].any()  # only in an unlabelled sentence
    assert not dtable[11].any()  # in no sentence

    before = loss_of(table, direction)
    for _ in range(500):
        table -= 0.2 * gradient_of(table, direction)
    after = loss_of(table, direction)
    print(f"loss: {before:.3f} before training, {after:.3f} after")
    assert after < 0.13  # the empty sentence keeps its error of 0.5


main()
