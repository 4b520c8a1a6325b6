"""Indices of ragged tensors and their gradients compared with the live TensorFlow."""

import os
from typing import Any

import backslice as bs
import numpy as np
from cases import Cases, rotate
from compare import Comparison
from numpy.typing import NDArray
from peer import Peer

COUNT = int(os.environ.get("BACKSLICE_ORACLE_CASES", "15000")) // 15
DTYPES = ["float32", "float64", "float16", "bfloat16", "complex64"]
AT_ONCE = 50  # a request to TensorFlow takes longer than its answer


class Indices(Cases):
    def ragged(self, rank: int, dtype: str, inner: tuple[int, ...]) -> dict[str, NDArray[Any]]:
        splits_dtype, arrays, count = "int32" if self.chance(0.5) else "int64", {}, self.pick(0, 5)
        for level in range(rank):
            lengths = self.random.integers(0, 4, count)
            arrays[f"splits {level}"] = np.concatenate([[0], np.cumsum(lengths)]).astype(splits_dtype)
            count = int(lengths.sum())
        return arrays | {"values": self.elements(dtype, (count, *inner))}

    def bound(self) -> int | None:
        return None if self.chance(0.4) else self.pick(-5, 5)

    def item(self) -> Any:
        if self.chance(0.25):
            return self.pick(-4, 4)
        if self.chance(0.3):
            return slice(None)
        return slice(self.bound(), self.bound(), self.pick(-3, 3) if self.chance(0.6) else None)

    def index(self, axes: int) -> tuple[Any, ...]:
        """Return an index, mostly with as many items as axes, sometimes with one too many."""
        items: list[Any] = []
        for _ in range(self.pick(0, axes + (1 if self.chance(0.1) else 0))):
            if self.chance(0.12):
                items.append(None)
            items.append(self.item())
        if self.chance(0.25):
            items.insert(self.pick(0, len(items)), ...)
        if self.chance(0.1):
            items.append(None)
        return tuple(items)


def ours(arrays: dict[str, NDArray[Any]], rank: int, index: tuple[Any, ...]) -> tuple[NDArray[Any], ...]:
    rt = bs.RaggedTensor(arrays["values"], [arrays[f"splits {k}"] for k in range(rank)])
    taken = rt[index]
    is_ragged = isinstance(taken, bs.RaggedTensor)
    values, splits = (taken.values, taken.nested_row_splits) if is_ragged else (np.asarray(taken), ())
    dy = np.arange(1, values.size + 1).astype(values.dtype).reshape(values.shape)
    return (*map(np.asarray, splits), values, rt.slice_grad(index, dy))


def compare(tensorflow: Peer, seed: int, count: int) -> Comparison:
    cases, comparison, dtypes = Indices(seed=seed), Comparison(), rotate(DTYPES)
    for _ in range(count // AT_ONCE):
        rank, inner = cases.pick(1, 3), tuple(cases.pick(0, 3) for _ in range(cases.pick(0, 2)))
        arrays = cases.ragged(rank, next(dtypes), inner)
        indices = [cases.index(rank + 1 + len(inner)) for _ in range(AT_ONCE)]
        theirs = tensorflow.call("ragged indices", arrays, rank=rank, indices=indices)
        for index, reply in zip(indices, tensorflow.replies(theirs), strict=True):
            comparison.add(
                (rank, index, arrays),
                lambda: ours(arrays, rank, index),  # noqa: B023
                reply,
                lambda _: "peer takes a step of zero where no row is left" if has_zero_step(index) else None,  # noqa: B023
            )
    return comparison


def has_zero_step(index: tuple[Any, ...]) -> bool:
    return any(isinstance(item, slice) and item.step == 0 for item in index)


def test_indices_and_their_gradients(tensorflow: Peer) -> None:
    comparison = compare(tensorflow, 41, COUNT)
    comparison.report("ragged indices")
    assert comparison.counts["equal"] > COUNT * 0.3 and comparison.counts["both refuse"] > COUNT * 0.1
