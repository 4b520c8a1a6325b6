"""The arrays that the container workloads work on, the same for every peer."""

from functools import lru_cache

import numpy as np


def prepare_by_kind(workload, **prepare):
    """Calls prepare[kind] for the kind of container that the operation's name begins with."""
    operation = workload["operation"]
    return next(make for kind, make in prepare.items() if operation.startswith(kind))(operation, workload["case"])


@lru_cache(maxsize=1)
def ragged_case(rows, length):
    """Values, splits, and an order to shuffle the rows in."""
    random = np.random.default_rng(0)
    lengths = random.integers(0, 2 * length + 1, rows)
    splits = np.concatenate([[0], np.cumsum(lengths)])
    return random.random(int(splits[-1]), dtype=np.float32), splits, random.permutation(rows)


def array_elements(count):
    return np.random.default_rng(0).random((count, 128, 256), dtype=np.float32)


def sparse_case(case):
    """Sorted entries of a sparse tensor, and the window to slice from it."""
    return make_sparse_case(case["rows"], case["rank"], case["selected"], case["share"])


@lru_cache(maxsize=1)  # the operations on one case come one after the other
def make_sparse_case(rows, rank, selected, share):
    random = np.random.default_rng(0)
    extents = [int(rows**0.5) * 10] * 2 if rank == 2 else [max(int(rows**0.25), 2) * 6] * rank
    gaps = random.integers(1, 2 * (np.prod(extents) // rows), rows)  # so that they are sorted and none is there twice
    keys = np.minimum(np.cumsum(gaps), np.prod(extents) - 1)
    indices = np.ascontiguousarray(np.stack(np.unravel_index(keys, extents), 1))
    start, size = [0] * rank, list(extents)
    if "rows" in selected:
        size[0] = extents[0] // 2
    else:
        size[-1] = max(1, int(extents[-1] * share))
    values = random.random(len(indices), dtype=np.float32)
    inside = np.all((indices >= start) & (indices < np.array(start) + size), axis=1)
    output = indices[inside]
    if "shuffled" in selected:
        indices = indices[random.permutation(len(indices))]
        output = output[random.permutation(len(output))]
    return indices, values, extents, start, size, output, np.ones(len(output), np.float32)
