"""The kernels compiled against TensorFlow, compared with its own in TensorFlow."""

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import backslice as bs
import numpy as np
import pytest
from cases import rotate
from compare import brief, equal_bits
from numpy.typing import NDArray
from peer import Peer, Reply
from test_tensorflow_ragged import Ragged
from test_tensorflow_tensor_array import Programs

COUNT = int(os.environ.get("BACKSLICE_ORACLE_CASES", "15000")) // 15
DTYPES = [
    "float32", "float64", "float16", "bfloat16", "complex64", "complex128", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "bool", "object", "qint8", "quint8", "qint16", "quint16", "qint32",
]  # fmt: skip
INVALID, EXHAUSTED = "InvalidArgumentError", "ResourceExhaustedError"

# The error, by class and words, for each input that crashes TensorFlow.
REFUSED = {
    "split_into_a_negative_length": (INVALID, r"lengths\[0\] is -1, must be >= 0"),
    "split_into_lengths_that_wrap_to_the_right_sum": (INVALID, r"more than 2\*\*63 - 1 at lengths\[1\]"),
    "split_into_huge_lengths_of_both_signs": (INVALID, r"lengths\[1\] is -1099511627774"),
    "concat_of_a_gradient_of_unknown_shape": (INVALID, "element shape is not fully defined"),
    "concat_of_nothing_in_huge_rows": (INVALID, "cannot concatenate an element of shape"),
    "concat_to_too_many_empty_rows": (INVALID, "there are too many"),
    "grad_with_too_large_a_shape": (INVALID, "shape_to_prepend does not fit before an element of shape"),
    "grad_with_a_shape_of_too_many_axes": (INVALID, "shape_to_prepend does not fit before an element of shape"),
    "make_of_a_huge_size": (EXHAUSTED, "a TensorArray of 2147483647 elements takes"),
    "write_to_a_huge_index": (EXHAUSTED, "there is not enough memory"),
    "scatter_to_a_huge_index": (EXHAUSTED, "there is not enough memory"),
    "scatter_of_nothing_in_huge_rows": (INVALID, "cannot take apart"),
    "read_past_the_end_of_a_gradient": (EXHAUSTED, "there is not enough memory"),
    "gather_past_the_end_of_a_gradient": (EXHAUSTED, "there is not enough memory"),
    "gather_of_too_many_axes": (INVALID, "cannot stack an element of shape"),
    "gather_of_too_many_empty_rows": (INVALID, "cannot stack an element of shape"),
    "handle_without_elements": (INVALID, "handle has no elements"),
    "pieces_into_a_shape_that_is_a_scalar": (INVALID, "dense_values_shape must be a vector"),
    "pieces_into_a_shape_that_is_a_matrix": (INVALID, "dense_values_shape must be a vector"),
    "pieces_into_a_negative_shape": (INVALID, "must be >= 0"),
    "pieces_into_an_overflowing_shape": (INVALID, r"more than 2\*\*63 - 1 elements"),
    "pieces_that_are_too_few": (INVALID, "pieces have 4 elements in all, but dense_values_shape .* has 1000"),
    "pieces_that_are_too_many": (INVALID, "pieces have 100002 elements in all, but dense_values_shape .* has 4"),
    "one_piece_of_another_size": (INVALID, "pieces have 2 elements in all, but dense_values_shape .* has 3"),
    "pieces_of_two_types": (INVALID, "piece 1 has dtype int32, expected float"),
    "an_empty_piece_of_another_type": (INVALID, "piece 1 has dtype int32, expected float"),
    "missing_piece_without_splits_for_it": (INVALID, "piece 1 is missing, and its size cannot be told"),
    "missing_piece_and_a_scalar_for_splits": (INVALID, "piece 1 is missing, and its size cannot be told"),
    "missing_piece_and_decreasing_splits": (INVALID, "ragged splits must be monotonically increasing"),
    "missing_piece_and_negative_splits": (INVALID, "first element of ragged splits +must be 0"),
    "missing_piece_and_huge_splits": (INVALID, "elements in all, but dense_values_shape"),
    "splits_that_are_a_matrix": (INVALID, "ragged splits must be rank 1"),
    "splits_that_are_empty": (INVALID, "ragged splits must have at least one splits"),
    "pieces_that_are_no_ragged_tensors": (INVALID, "index 0 doesn't hold a RaggedTensorVariant"),
    "missing_elements_to_decode": (INVALID, "index 0 doesn't hold a RaggedTensorVariant"),
}


@pytest.fixture(scope="module")
def compiled() -> Iterator[Peer]:
    os.environ["BACKSLICE_PACKAGES"] = str(Path(bs.__file__).parents[1])
    peer = Peer("tensorflow", "tensorflow_compiled_peer.py")
    yield peer
    peer.stop()


def called(compiled: Peer, what: str) -> Reply:
    reply = compiled.call("compiled", {}, what=what)
    assert not reply.crashed, what
    return reply


def results(compiled: Peer, what: str) -> tuple[NDArray[Any], ...]:
    reply = called(compiled, what)
    assert reply.arrays is not None, reply.error
    return reply.arrays


class Agreement:
    """Compare two TensorFlows, of which one runs our kernels: every bit of every result, every word of every error."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.differences: list[str] = []

    def add(self, what: Any, ours: Reply, theirs: Reply) -> None:
        if theirs.crashed:
            self.counts["TensorFlow crashed"] += not ours.crashed
        elif theirs.error is not None and ours.error == theirs.error:
            self.counts["refused in the same words"] += 1
        elif self.are_equal(ours.arrays, theirs.arrays):
            self.counts["equal"] += 1
        else:
            told = [reply.error or brief(reply.arrays) for reply in (ours, theirs)]
            self.differences.append(f"{what}\n  ours: {told[0]}\n  TensorFlow's: {told[1]}")

    @staticmethod
    def are_equal(a: tuple[NDArray[Any], ...] | None, b: tuple[NDArray[Any], ...] | None) -> bool:
        return a is not None and b is not None and len(a) == len(b) and all(map(equal_bits, a, b))

    def report(self, name: str) -> None:
        print(f"{name}: {dict(self.counts)}, {len(self.differences)} differences")
        assert not self.differences, "\n".join(self.differences[:5])


def test_round_trips(tensorflow: Peer, compiled: Peer) -> None:
    cases, agreement, dtypes = Ragged(seed=41), Agreement(), rotate(DTYPES)
    for _ in range(COUNT):
        rank, batched = cases.pick(0, 4), cases.chance(0.8)
        inner = tuple(cases.pick(0, 3) for _ in range(cases.pick(0, 2)))
        if cases.chance(0.2):
            inner = (16, *inner)  # aligned rows, which need not be copied
        parts = cases.ragged(rank, next(dtypes), "int32" if cases.chance(0.5) else "int64", inner)
        input_rank, output_rank = (rank - 1, rank) if batched else (rank, rank)
        if rank == 0 and batched:
            input_rank, output_rank = 0, cases.pick(0, 1)
        options = {
            "what": "round trip",
            "rank": rank,
            "batched": batched,
            "input_rank": -1 if cases.chance(0.2) else input_rank,
            "output_rank": output_rank + (cases.pick(0, 1) if cases.chance(0.05) else 0),
        }
        arrays = {f"x {name}": array for name, array in parts.items()}
        replies = [peer.call("ragged", arrays, options=options) for peer in (compiled, tensorflow)]
        agreement.add((options, arrays), *replies)
    agreement.report("ragged round trips")
    assert agreement.counts["equal"] > COUNT * 0.6 and agreement.counts["refused in the same words"] > COUNT / 50


def test_gradients(tensorflow: Peer, compiled: Peer) -> None:
    cases, agreement, dtypes = Ragged(seed=42), Agreement(), rotate([d for d in DTYPES if d != "object"])
    for _ in range(COUNT):
        dtype, inner = next(dtypes), tuple(cases.pick(1, 3) for _ in range(cases.pick(0, 2)))
        lengths = cases.random.integers(0, 4, cases.pick(2, 6))
        splits = np.concatenate([[0], np.cumsum(lengths)]).astype("int32" if cases.chance(0.5) else "int64")
        arrays: dict[str, NDArray[Any]] = {"row_splits": splits, "shape": np.array([splits[-1], *inner], np.int32)}
        pieces: list[int | None] = []
        for k, length in enumerate(lengths):
            pieces.append(None if cases.chance(0.3) else cases.pick(0, 2))
            for level in range(pieces[-1] or 0):
                arrays[f"p{k} splits {level}"] = np.arange(length + 1)
            arrays[f"p{k} values"] = cases.elements(dtype, (int(length), *inner))
        options = {"what": "gradient", "pieces": pieces, "dtype": dtype}
        replies = [peer.call("ragged", arrays, options=options) for peer in (compiled, tensorflow)]
        agreement.add((options, arrays), *replies)
    agreement.report("ragged gradients")
    assert agreement.counts["equal"] > COUNT * 0.9


def test_programs_of_tensor_arrays(tensorflow: Peer, compiled: Peer) -> None:
    programs, agreement = Programs(seed=43), Agreement()
    for _ in range(COUNT // 3):
        program, arrays = programs.program()
        replies = [peer.call("tensor array program", arrays, program=program) for peer in (compiled, tensorflow)]
        agreement.add(program, *replies)
    agreement.report("TensorArray programs")
    assert agreement.counts["equal"] > COUNT / 4


def test_every_crash_has_an_expectation(compiled: Peer) -> None:
    works = {"concat_of_a_gradient", "missing_strings", "no_rows_that_would_be_huge"}
    assert set(results(compiled, "crashes")[0]) == REFUSED.keys() | works


@pytest.mark.parametrize("name", REFUSED)
def test_what_crashes_tensorflow_is_refused(compiled: Peer, name: str) -> None:
    reply, (kind, words) = called(compiled, name), REFUSED[name]
    assert reply.error is not None, brief(reply.arrays)
    assert reply.error.startswith(f"{kind}: ") and re.search(words, reply.error), reply.error


def test_a_gradient_array_is_concatenated_as_any_other(compiled: Peer) -> None:
    value, lengths = results(compiled, "concat_of_a_gradient")
    assert value.tolist() == [0.0] * 6 and lengths.tolist() == [3, 3]


def test_missing_strings_are_empty(compiled: Peer) -> None:
    assert results(compiled, "missing_strings")[0].tolist() == [b"", b"", b"a" * 50]


def test_rows_of_nothing_may_be_huge(compiled: Peer) -> None:
    assert [int(size) for size in results(compiled, "no_rows_that_would_be_huge")] == [0, 2]


def test_variants_go_through_both(compiled: Peer) -> None:
    values, splits, doubled, zeros, joined = results(compiled, "variants_that_go_through_both")
    assert splits.tolist() == [0, 2, 2, 7] and np.array_equal(doubled, 2 * values)
    assert not zeros.any() and np.array_equal(joined, values)


def test_the_tape_runs_them(compiled: Peer) -> None:
    assert results(compiled, "gradient_of_some_rows")[0].tolist() == [2.0, 4.0, 6.0, 8.0, 10.0, 0.0]


def test_types_that_tensorflow_has_no_kernel_for(compiled: Peer) -> None:
    arrays = results(compiled, "types_without_a_kernel_of_tensorflow")
    assert len(arrays) == 8 and all(array.tolist() == [1.0, 2.0, 3.0] for array in arrays)


def test_types_that_tensorflow_has_no_kernel_for_have_its_errors(compiled: Peer) -> None:
    error = called(compiled, "invalid_splits_of_a_type_without_a_kernel").error
    assert error is not None and "ragged splits must be monotonically increasing" in error


def test_gradients_of_a_ragged_tensor_that_is_one_element(compiled: Peer) -> None:
    """Encoded without batching, all rows are one piece, however many there are."""
    without_rows, missing, given = results(compiled, "gradients_of_one_element")
    assert without_rows.shape == (0,) and missing.tolist() == [0.0] * 5 and given.tolist() == [1.0] * 5


def test_aligned_rows_are_not_copied(compiled: Peer) -> None:
    assert results(compiled, "rows_are_parts_of_the_values_where_aligned")[0].tolist() == [True, True]


def dynamic_symbols(library: str, which: str) -> set[str]:
    listed = subprocess.run(["nm", "-D", which, library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in listed.splitlines()}


def test_only_c_functions_are_called_across_the_boundary(compiled: Peer) -> None:
    """The library is compiled with TensorFlow's C++ runtime. The package's library may have another."""
    (path,) = results(compiled, "library_of_the_kernels")[0]
    called_functions = dynamic_symbols(path, "-u") & dynamic_symbols(bs.get_library(), "--defined-only")
    assert called_functions and [name for name in called_functions if not name.startswith("backslice_")] == []


def test_variants_of_the_kernels_know_their_type_by_themselves(compiled: Peer) -> None:
    """Where the library exported these functions, TensorFlow's would take their place, which hash the type's name."""
    (path,) = results(compiled, "library_of_the_kernels")[0]
    exported = dynamic_symbols(path, "--defined-only")
    assert "backslice_tensorflow_register" in exported
    assert [name for name in exported if re.match("_Z(TV|TI|TS)?NK?(10tensorflow|17backslice)", name)] == []


def test_status_counts_calls(compiled: Peer) -> None:
    assert results(compiled, "calls_of_a_round_trip")[0].tolist() == [1, 1, 0]


def test_rows_that_share_memory_are_joined_in_any_order(compiled: Peer) -> None:
    assert results(compiled, "rows_in_another_order")[0].tolist() == [True] * 8


def test_large_gradients_do_not_share_their_memory(compiled: Peer) -> None:
    assert results(compiled, "large_gradients")[0].tolist() == [True] * 8


def test_a_forked_child_joins_rows_without_tensorflows_threads(compiled: Peer) -> None:
    assert results(compiled, "gradients_in_a_forked_child")[0].tolist() == [0, 0]


@pytest.mark.skipif("BACKSLICE_SPEED_TESTS" not in os.environ, reason="make oracle-speed, on a quiet machine")
@pytest.mark.parametrize(("pieces", "least"), [("separate pieces", 5), ("rows encoded at once", 20)])
def test_the_gradient_of_100_000_rows_is_fast(tensorflow: Peer, compiled: Peer, pieces: str, least: float) -> None:
    theirs, ours = (float(results(peer, f"seconds, {pieces}")[0]) for peer in (tensorflow, compiled))
    print(f"{pieces}: TensorFlow {theirs * 1e3:.1f} ms, backslice {ours * 1e3:.2f} ms, {theirs / ours:.1f} times")
    assert theirs / ours > least
