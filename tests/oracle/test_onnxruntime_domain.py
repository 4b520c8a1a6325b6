"""The operators of domain backslice in ONNX Runtime's sessions, compared with the same operations in Python."""

import os
from typing import Any

import backslice as bs
import numpy as np
import pytest
from cases import Cases, rotate
from compare import Comparison, equal_bits
from numpy.typing import NDArray
from peer import Peer
from sparse_cases import SparseCases
from test_onnxruntime_operators import gradient, texts

COUNT = int(os.environ.get("BACKSLICE_ORACLE_CASES", "15000")) // 15
DTYPES = ["float32", "int64", "uint8", "float64", "float16", "bool"]
ADDABLE = ["float32", "int64", "uint8", "float64", "float16"]


@pytest.fixture(autouse=True)
def nothing_crashes(onnxruntime_with_backslice: Peer) -> Any:
    yield
    assert onnxruntime_with_backslice.crashes == 0


def test_strided_slice_grad_with_masks(onnxruntime_with_backslice: Peer) -> None:
    cases, comparison, dtypes = Cases(seed=41), Comparison(), rotate(DTYPES)
    for _ in range(COUNT):
        spec = cases.tensorflow()
        try:
            dy_shape = bs.Selection.from_tf(spec.shape, **spec.integers, **spec.masks).result_shape
        except bs.Error:
            dy_shape = (1,)
        dy = cases.elements(next(dtypes), cases.wrong_shape(dy_shape) if cases.chance(0.03) else dy_shape)
        shape = np.array(spec.shape, spec.integers["begin"].dtype)
        arrays = {"shape": shape, **spec.integers, "dy": dy}
        reply = onnxruntime_with_backslice.call("strided_slice_grad", arrays, **spec.masks)
        masks = spec.masks
        comparison.add(spec, lambda a=arrays, masks=masks: bs.strided_slice_grad(**a, **masks), reply)
    comparison.report("StridedSliceGrad in a session")
    assert comparison.counts["equal"] > COUNT * 0.5 and comparison.counts["both refuse"] > 0


def test_slice_grad_accumulate(onnxruntime_with_backslice: Peer) -> None:
    cases, comparison, dtypes = Cases(seed=42), Comparison(), rotate(ADDABLE)
    for _ in range(COUNT):
        spec, dtype = cases.onnx(), next(dtypes)
        dy, dx = gradient(cases, spec, dtype), cases.elements(dtype, spec.shape)
        if dtype.startswith("float"):  # sums of NaNs have arbitrary bits
            dy, dx = (np.asarray(np.nan_to_num(array, posinf=1, neginf=1)) for array in (dy, dx))
        arrays = {"dX": dx, "dY": dy, **spec.integers}
        reply = onnxruntime_with_backslice.call("slice_grad_accumulate", arrays, are_constant=cases.chance(0.2))
        comparison.add(spec, lambda dx=dx, dy=dy, integers=spec.integers: added(dx, dy, integers), reply)
    comparison.report("SliceGradAccumulate in a session")
    assert comparison.counts["equal"] > COUNT * 0.5 and comparison.counts["both refuse"] > 0


def added(dx: NDArray[Any], dy: NDArray[Any], integers: dict[str, Any]) -> NDArray[Any]:
    result = dx.copy()
    bs.onnx_slice_grad(dy, dx.shape, **integers, out=result, accumulate=True)
    return result


@pytest.mark.parametrize(("name", "element"), [("bool", True), ("string", "a")])
def test_types_that_cannot_be_added_are_refused(onnxruntime_with_backslice: Peer, name: str, element: Any) -> None:
    two = np.array([element] * 2, object if name == "string" else bool)
    arrays = {"dX": two, "dY": two[:1], "starts": np.array([0]), "ends": np.array([1])}
    reply = onnxruntime_with_backslice.call("slice_grad_accumulate", arrays)
    assert reply.error is not None and f"dX has dtype {name}, whose elements cannot be added" in reply.error, reply


def test_multi_slice_grad_sums_many_slices(onnxruntime_with_backslice: Peer) -> None:
    random, index = np.random.default_rng(43), rotate(["int32", "int64"])
    for count in [1, 2, 7, 40]:
        integer = next(index)
        starts = random.integers(0, 4, (count, 2)).astype(integer)
        ends = starts + random.integers(1, 5, (count, 2)).astype(integer)
        steps = random.integers(1, 3, (count, 2)).astype(integer)
        index_of = [
            tuple(slice(*row) for row in np.stack([s, e, t], 1)) for s, e, t in zip(starts, ends, steps, strict=True)
        ]
        x = np.zeros((6, 3, 6), np.int64)
        dys = [random.integers(-9, 9, x[:, :, i[0]][i[1]].shape) for i in index_of]
        dx = bs.multi_slice_grad(
            x.shape, [((i[1], slice(None), i[0]), dy) for i, dy in zip(index_of, dys, strict=True)]
        )
        arrays = {"shape": np.array(x.shape), "starts": starts, "ends": ends, "steps": steps}
        arrays["axes"] = np.array([2, 0], integer)
        arrays |= {f"dY{i}": dy for i, dy in enumerate(dys)}
        reply = onnxruntime_with_backslice.call("multi_slice_grad", arrays)
        assert reply.array is not None and np.array_equal(reply.array, dx), reply


FORMS = ["left out", "one list for all", "one row per slice"]


@pytest.mark.parametrize("steps", FORMS)
@pytest.mark.parametrize("axes", FORMS)
def test_multi_slice_grad_takes_axes_and_steps_in_every_form(
    onnxruntime_with_backslice: Peer, axes: str, steps: str
) -> None:
    cases, dtypes, shape = Cases(seed=46), rotate(ADDABLE), (4, 3, 5)
    for _ in range(COUNT // 50):
        count, n, index, dtype = (
            cases.pick(1, 6),
            cases.pick(1, 3),
            "int64" if cases.chance(0.5) else "int32",
            next(dtypes),
        )
        lists = {"starts": cases.random.integers(-6, 7, (count, n)), "ends": cases.random.integers(-6, 7, (count, n))}
        if axes != "left out":
            lists["axes"] = np.array([cases.random.permutation(3)[:n] - 3 * cases.chance(0.3) for _ in range(count)])
        if steps != "left out":
            lists["steps"] = cases.random.choice([-3, -2, -1, 1, 2], (count, n))
        for name, form in [("axes", axes), ("steps", steps)]:
            if form == "one list for all":
                lists[name] = lists[name][0]
        lists = {name: values.astype(index) for name, values in lists.items()}
        rows = [{name: v if v.ndim == 1 else v[i] for name, v in lists.items()} for i in range(count)]
        selections = [bs.Selection.from_onnx(shape, **row) for row in rows]
        dys = [np.asarray(cases.random.integers(0, 9, s.result_shape)).astype(dtype) for s in selections]
        dx = bs.multi_slice_grad(shape, list(zip(selections, dys, strict=True)))
        arrays = {"shape": np.array(shape), **lists} | {f"dY{i}": dy for i, dy in enumerate(dys)}
        reply = onnxruntime_with_backslice.call("multi_slice_grad", arrays, are_constant=cases.chance(0.2))
        assert reply.array is not None and equal_bits(reply.array, dx), (arrays, reply)


@pytest.mark.parametrize("elements", [[True, False, True, True], list("abcd")])
def test_multi_slice_grad_joins_what_cannot_be_added(onnxruntime_with_backslice: Peer, elements: list[Any]) -> None:
    """Return the elements that no two slices have in common."""
    given = np.array(elements, object if isinstance(elements[0], str) else bool)
    arrays = {"shape": np.array([6]), "starts": np.array([[5], [0]]), "ends": np.array([[2], [2]])}
    arrays |= {"steps": np.array([[-2], [1]]), "dY0": given[:2], "dY1": given[2:]}
    reply = onnxruntime_with_backslice.call("multi_slice_grad", arrays)
    zero = type(elements[0])()
    expected = [elements[2], elements[3], zero, elements[1], zero, elements[0]]
    assert reply.array is not None and reply.array.tolist() == expected, reply


def test_multi_slice_grad_refuses_rows_that_disagree(onnxruntime_with_backslice: Peer) -> None:
    good: dict[str, Any] = {"shape": np.array([4]), "starts": np.array([[0], [1]]), "ends": np.array([[2], [3]])}
    good |= {"dY0": np.float32([1, 2]), "dY1": np.float32([3, 4])}
    for change, words in [
        ({"starts": np.array([[0]])}, "starts has shape [1,1], expected [2, sliced axes]"),
        ({"ends": np.array([2, 3])}, "ends has shape [2]"),
        ({"steps": np.array([1, 1])}, "steps has 2 entries, starts has 1"),
        ({"dY1": np.float32([3])}, "dY[1] has 1 elements"),
    ]:
        reply = onnxruntime_with_backslice.call("multi_slice_grad", good | change)
        assert reply.error is not None and words in reply.error, reply
    for name, element in [("bool", True), ("string", "a")]:  # the names in ONNX; the slices overlap
        two = np.array([element] * 2, object if name == "string" else bool)
        reply = onnxruntime_with_backslice.call("multi_slice_grad", good | {"dY0": two, "dY1": two})
        assert reply.error is not None and f"elements of dtype {name} cannot be added" in reply.error, reply


@pytest.mark.parametrize("order", ["in_order", "any"])
def test_sparse_slice_grad(onnxruntime_with_backslice: Peer, order: str) -> None:
    random = np.random.default_rng(44)
    for integer in ["int32", "int64"]:
        indices = random.integers(0, 5, (20, 3)).astype(integer)
        y, _, _ = bs.sparse_slice(indices, np.zeros(20), [5, 5, 5], [1, 0, 1], [3, 4, 3])
        grad = random.normal(size=(len(y), 2)).astype(np.float32)
        start = np.array([1, 0, 1], integer)
        arrays = {"grad": grad, "input_indices": indices, "input_start": start, "output_indices": y.astype(integer)}
        reply = onnxruntime_with_backslice.call("sparse_slice_grad", arrays, order=order)
        assert reply.array is not None, reply
        assert np.array_equal(reply.array, bs.sparse_slice_grad(grad, indices, start, y, order=order))


def test_ragged_gradient_puts_zeros_for_missing_rows(onnxruntime_with_backslice: Peer) -> None:
    splits, pieces = np.array([0, 2, 2, 5, 6]), [np.float32([1, 2]), np.float32([]), np.float32([6])]
    arrays = {"row_splits": splits, "dense_values_shape": np.array([6])}
    arrays |= {f"piece{i}": piece for i, piece in enumerate(pieces)}
    for integer in ["int32", "int64"]:
        arrays["row_splits"] = splits.astype(integer)
        reply = onnxruntime_with_backslice.call("ragged_gradient", arrays, missing=[2])
        assert reply.array is not None and reply.array.tolist() == [1, 2, 0, 0, 0, 6], reply


def with_empty_texts(array: NDArray[Any]) -> NDArray[Any]:
    """Return zeros; ONNX Runtime's zero of strings is ""."""
    return np.array([v or "" for v in array.flat] + [None], object)[:-1].reshape(array.shape)


def test_random_sparse_gradients_of_every_dtype(onnxruntime_with_backslice: Peer) -> None:
    cases, comparison, dtypes = SparseCases(seed=47), Comparison(), rotate([*DTYPES, "object"])
    for _ in range(COUNT):
        dtype, order = next(dtypes), "any" if cases.chance(0.5) else "in_order"
        given, _ = cases.gradient_arguments(dtype)
        if dtype == "object":
            given["backprop_val_grad"] = texts(given["backprop_val_grad"])
        arrays = {"grad" if name == "backprop_val_grad" else name: array for name, array in given.items()}
        reply = onnxruntime_with_backslice.call("sparse_slice_grad", arrays, order=order)
        comparison.add(given, lambda given=given, order=order: sparse_gradient(given, order), reply)
    comparison.report("SparseSliceGrad in a session")
    assert comparison.counts["equal"] > COUNT * 0.5 and comparison.counts["both refuse"] > 0


def sparse_gradient(given: dict[str, Any], order: str) -> NDArray[Any]:
    grad = given["backprop_val_grad"]
    if grad.dtype != object:
        return bs.sparse_slice_grad(**given, order=order)
    numbers = np.arange(1, len(grad) + 1)  # strings have no gradient in Python, but move like numbers
    places = bs.sparse_slice_grad(**given | {"backprop_val_grad": numbers}, order=order)
    return np.array(["", *grad], object)[places]


def test_random_ragged_gradients_of_every_dtype(onnxruntime_with_backslice: Peer) -> None:
    cases, comparison, dtypes = Cases(seed=48), Comparison(), rotate([*DTYPES, "object"])
    for _ in range(COUNT):
        dtype, row_shape = next(dtypes), cases.shape(2)
        lengths = [cases.pick(0, 4) for _ in range(cases.pick(1, 6))]
        splits = np.cumsum([0, *lengths]).astype("int32" if cases.chance(0.5) else "int64")
        is_missing = [cases.chance(0.3) for _ in lengths[1:]] + [False]
        pieces: list[Any] = [
            None if gone else cases.elements(dtype, (n, *row_shape))
            for n, gone in zip(lengths, is_missing, strict=True)
        ]
        if dtype == "object":
            pieces = [None if piece is None else texts(piece) for piece in pieces]
        shape = np.array([splits[-1] + cases.chance(0.05), *row_shape], np.int64)
        missing = [row for row, gone in enumerate(is_missing) if gone]
        arrays = {"row_splits": splits, "dense_values_shape": shape}
        arrays |= {f"piece{i}": piece for i, piece in enumerate(piece for piece in pieces if piece is not None)}
        attributes = {"missing": missing} if missing else {}
        reply = onnxruntime_with_backslice.call("ragged_gradient", arrays, **attributes)
        comparison.add(arrays, lambda p=pieces, r=splits, s=shape: ragged_gradient(p, r, s), reply)
    comparison.report("RaggedGradient in a session")
    assert comparison.counts["equal"] > COUNT * 0.5 and comparison.counts["both refuse"] > 0


def ragged_gradient(pieces: list[Any], splits: NDArray[Any], shape: NDArray[Any]) -> NDArray[Any]:
    grad = bs.ragged_tensor_to_variant_gradient(bs.VariantArray(pieces), [splits], shape)
    return with_empty_texts(grad) if grad.dtype == object else grad


def test_messages_of_ragged_gradient_name_rows(onnxruntime_with_backslice: Peer) -> None:
    """Count all rows, including rows without a piece."""
    arrays = {"row_splits": np.array([0, 1, 2]), "dense_values_shape": np.array([2]), "piece0": np.float32([1, 2, 3])}
    reply = onnxruntime_with_backslice.call("ragged_gradient", arrays, missing=[0])
    assert reply.error is not None and "piece 1 has 3 elements, but" in reply.error, reply


REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "a mask of another type": (
        "strided_slice_grad",
        {k: np.array([1]) for k in ("shape", "begin", "end", "strides")} | {"dy": np.float32([1])},
        {"begin_mask": 1.5},
        "begin_mask",
    ),
    "an order that is none": (
        "sparse_slice_grad",
        {"grad": np.float32([1]), "input_indices": np.array([[1]]), "input_start": np.array([0])}
        | {"output_indices": np.array([[1]])},
        {"order": "backwards"},
        'order is "backwards"',
    ),
    "a missing row that is none": (
        "ragged_gradient",
        {"row_splits": np.array([0, 1]), "dense_values_shape": np.array([1]), "piece0": np.float32([1])},
        {"missing": [5]},
        "missing has 5",
    ),
    "splits that decrease": (
        "ragged_gradient",
        {"row_splits": np.array([0, 3, 1]), "dense_values_shape": np.array([1]), "piece0": np.float32([1])},
        {"missing": [1]},
        "row_splits",
    ),
    "a list of another type": (
        "ragged_gradient",
        {"row_splits": np.array([0, 1]), "dense_values_shape": np.array([1]), "piece0": np.float32([1])},
        {"missing": [1.5]},
        "attribute missing is empty or has another type, expected a list of integers",
    ),
    "an integer in place of a list": (
        "ragged_gradient",
        {"row_splits": np.array([0, 1]), "dense_values_shape": np.array([1]), "piece0": np.float32([1])},
        {"missing": 1},
        "expected a list of integers",
    ),
    "a mask that is not a number": (
        "strided_slice_grad",
        {k: np.array([1]) for k in ("shape", "begin", "end", "strides")} | {"dy": np.float32([1])},
        {"begin_mask": float("nan")},
        "expected an integer",
    ),
    "a mask of more than 32 bits": (
        "strided_slice_grad",
        {k: np.array([1]) for k in ("shape", "begin", "end", "strides")} | {"dy": np.float32([1])},
        {"begin_mask": 2**40},
        "begin_mask is 1099511627776, expected a number of 32 bits",
    ),
    "an order with a zero in it": (
        "sparse_slice_grad",
        {"grad": np.float32([1]), "input_indices": np.array([[1]]), "input_start": np.array([0])}
        | {"output_indices": np.array([[1]])},
        {"order": b"any\0x"},
        'order is "any',
    ),
    "splits that are no list": (
        "ragged_gradient",
        {"row_splits": np.array(0), "dense_values_shape": np.array([1]), "piece0": np.float32([1])},
        {},
        "row_splits has shape [], expected a list",
    ),
    "one gradient in place of two": (
        "slice_grad_accumulate",
        {"starts": np.array([0]), "ends": np.array([1]), "axes": np.array([0]), "steps": np.array([1])}
        | {"dX": np.float32([1])},
        {},
        "the node has 5 inputs, expected 6",
    ),
    "indices that are no matrix": (
        "sparse_slice_grad",
        {"grad": np.float32([1]), "input_indices": np.array([1]), "input_start": np.array([0])}
        | {"output_indices": np.array([[1]])},
        {},
        "input_indices",
    ),
}


GAP = np.zeros(0, np.float32)  # stands for an input with an empty name
GAPS = {
    "slice_grad_accumulate": {"starts": np.array([0]), "ends": np.array([1]), "gap": GAP, "dY": np.float32([1])},
    "multi_slice_grad": {"shape": np.array([3]), "starts": np.array([[0]] * 2), "ends": np.array([[1]] * 2)}
    | {"gap": GAP, "dY1": np.float32([1])},
    "ragged_gradient": {"row_splits": np.array([0, 1, 1]), "dense_values_shape": np.array([1]), "gap": GAP}
    | {"piece1": np.float32([1])},
}


FIRST_OF_VARIADIC = {"slice_grad_accumulate": "dX", "multi_slice_grad": "dY[0]", "ragged_gradient": "pieces[0]"}


@pytest.mark.parametrize("op", GAPS)
def test_an_empty_name_in_a_variadic_input_is_refused(onnxruntime_with_backslice: Peer, op: str) -> None:
    reply = onnxruntime_with_backslice.call(op, GAPS[op])
    version = onnxruntime_with_backslice.call("version", {}).array
    assert reply.error is not None  # recent versions refuse it themselves
    words = f"{FIRST_OF_VARIADIC[op]} is left out, but it is not optional"
    assert version is None or tuple(version) >= (1, 18) or words in reply.error, reply.error


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_a_status_with_our_message(onnxruntime_with_backslice: Peer, name: str) -> None:
    op, arrays, attributes, words = REFUSED[name]
    reply = onnxruntime_with_backslice.call(op, arrays, **attributes)
    assert reply.error is not None and words in reply.error, reply
