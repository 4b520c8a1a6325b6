"""RaggedTensorToVariant, RaggedTensorFromVariant and RaggedTensorToVariantGradient compared with the live
TensorFlow."""

import os
from typing import Any

import backslice as bs
import numpy as np
from cases import Cases, rotate
from compare import Comparison
from numpy.typing import NDArray
from peer import Peer

COUNT = int(os.environ.get("BACKSLICE_ORACLE_CASES", "15000")) // 15
DTYPES = ["float32", "int64", "float16", "bfloat16", "complex64", "uint8", "bool", "object", "float64", "int16"]


class Ragged(Cases):
    def ragged(self, rank: int, dtype: str, splits_dtype: str, inner: tuple[int, ...]) -> dict[str, NDArray[Any]]:
        """Return splits that are mostly valid."""
        arrays, count = {}, self.pick(0, 5)
        for level in range(rank):
            lengths = self.random.integers(0, 4, count)
            splits = np.concatenate([[0], np.cumsum(lengths)]).astype(splits_dtype)
            if self.chance(0.03):
                splits[self.pick(0, len(splits) - 1)] += self.pick(-2, 2)
            arrays[f"splits {level}"] = splits
            count = int(lengths.sum())
        arrays["values"] = self.elements(dtype, (max(count + (1 if self.chance(0.02) else 0), 0), *inner))
        return arrays


def ours(arrays: dict[str, NDArray[Any]], prefix: str, rank: int) -> bs.RaggedTensor:
    return bs.RaggedTensor(arrays[f"{prefix} values"], [arrays[f"{prefix} splits {k}"] for k in range(rank)])


def test_round_trips(tensorflow: Peer) -> None:
    cases, comparison, dtypes = Ragged(seed=31), Comparison(), rotate(DTYPES)
    for _ in range(COUNT):
        rank, dtype = cases.pick(0, 4), next(dtypes)
        batched = cases.chance(0.8)
        inner = tuple(cases.pick(0, 3) for _ in range(cases.pick(0, 2)))
        parts = cases.ragged(rank, dtype, "int32" if cases.chance(0.5) else "int64", inner)
        arrays = {f"x {name}": array for name, array in parts.items()}
        input_rank, output_rank = (rank - 1, rank) if batched else (rank, rank)
        if rank == 0 and batched:
            input_rank, output_rank = 0, cases.pick(0, 1)
        if cases.chance(0.2):
            input_rank = -1
        if cases.chance(0.05):
            output_rank += cases.pick(0, 1)
        options = {
            "what": "round trip",
            "rank": rank,
            "batched": batched,
            "input_rank": input_rank,
            "output_rank": output_rank,
        }
        theirs = tensorflow.call("ragged", arrays, options=options)

        def run(arrays=arrays, rank=rank, batched=batched, input_rank=input_rank, output_rank=output_rank):  # type: ignore[no-untyped-def]
            encoded = bs.ragged_tensor_to_variant(ours(arrays, "x", rank), batched)
            values = arrays["x values"]
            splits = arrays["x splits 0"].dtype if rank else np.int64
            result = bs.ragged_tensor_from_variant(encoded, input_rank, output_rank, values.dtype, splits)
            dense = np.asarray(result.values)
            if values.dtype == object and dense.size == 0:
                dense = dense.astype(object)
            return (*map(np.asarray, result.nested_row_splits), dense)

        comparison.add((options, arrays), run, theirs)
    comparison.report("ragged round trips")
    assert comparison.counts["equal"] > COUNT * 0.6 and comparison.counts["both refuse"] > COUNT / 50


def test_gradients(tensorflow: Peer) -> None:
    """Only sizes that add up are compared. For others TensorFlow's result is undefined, and backslice refuses them."""
    cases, comparison, dtypes = Ragged(seed=32), Comparison(), rotate([d for d in DTYPES if d != "object"])
    for _ in range(COUNT):
        dtype, inner = next(dtypes), tuple(cases.pick(1, 3) for _ in range(cases.pick(0, 2)))
        lengths = cases.random.integers(0, 4, cases.pick(2, 6))
        splits = np.concatenate([[0], np.cumsum(lengths)]).astype("int32" if cases.chance(0.5) else "int64")
        arrays: dict[str, NDArray[Any]] = {
            "row_splits": splits,
            "shape": np.array([splits[-1], *inner], np.int32),
        }
        pieces: list[int | None] = []
        for k, length in enumerate(lengths):
            if cases.chance(0.3):
                pieces.append(None)
                continue
            rank = cases.pick(0, 2)
            for level in range(rank):  # rows of one item each, whatever the piece's rank
                arrays[f"p{k} splits {level}"] = np.arange(length + 1)
            arrays[f"p{k} values"] = cases.elements(dtype, (int(length), *inner))
            pieces.append(rank)
        options = {"what": "gradient", "pieces": pieces, "dtype": dtype}
        theirs = tensorflow.call("ragged", arrays, options=options)

        def run(arrays=arrays, pieces=pieces, dtype=dtype):  # type: ignore[no-untyped-def]
            elements = [None if rank is None else ours(arrays, f"p{k}", rank) for k, rank in enumerate(pieces)]
            kind = next(
                (arrays[f"p{k} values"].dtype for k, r in enumerate(pieces) if r is not None),
                cases.elements(dtype, (1,)).dtype,
            )
            return np.asarray(
                bs.ragged_tensor_to_variant_gradient(
                    bs.VariantArray(elements), arrays["row_splits"], arrays["shape"], kind
                )
            )

        comparison.add((options, arrays), run, theirs)
    comparison.report("ragged gradients")
    assert comparison.counts["equal"] > COUNT * 0.8
