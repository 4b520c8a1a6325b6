"""tests/conformance/*.json through the C interface: its results, and the codes and messages of refusals."""

import ctypes
from contextlib import suppress
from ctypes import byref

import numpy as np
import pytest
from c_interface import CError, Handle, ints, load, new, shape_from, structs, text, view, views
from test_conformance import cases

OVERWRITE = 0
ORDERS = {"in_order": 0, "any": 1}


def result_or_expected_error(case, call):
    """Return the result of the call, or None if it failed as expected."""
    if "error" not in case:
        return call()
    with pytest.raises(CError) as caught:
        call()
    assert load().backslice_code_name(caught.value.code).decode() == case["error"]["code"]
    for part in case["error"]["message"]:
        assert part in str(caught.value)
    return None


def into_memory_of_the_caller(all_cases):
    """Return cases without failing allocations: here the caller allocates."""
    return [case for case in all_cases if case.get("error", {}).get("code") != "ResourceExhausted"]


def room_for(shape, dtype):
    """Return memory for a result, and its view. Refused shapes get a view without such memory."""
    if all(0 <= extent < 1000 for extent in shape):
        out = np.full(shape, 99, dtype)
        return out, view(out)
    if min(shape) < 0:
        return room_for([0], dtype)
    out, extents = np.full(1, 99, dtype), ints(shape)
    target = view(out)
    target.rank, target.shape, target.strides, target.extents = len(shape), extents.data, None, extents
    return out, target


def tf_slice(args):
    lists = {name: ints(args[name]) for name in ("begin", "end", "strides")}
    return new("tf_slice", **lists, **{name: mask for name, mask in args.items() if name.endswith("mask")}), lists


def onnx_slice(args):
    lists = {name: ints(args.get(name)) for name in ("starts", "ends", "axes", "steps")}
    return new("onnx_slice", **lists), lists


def selection_of(shape, index):
    return Handle(load().backslice_selection_from_index, ints(shape), text(index))


def run_dialect(op, spec, array, shape):
    """Slices and gradients in TensorFlow's or ONNX's arguments: first the shape, then the memory of that shape."""
    lib = load()
    name = op.removesuffix("_grad")
    is_grad = op.endswith("_grad")
    sliced = shape_from(getattr(lib, f"backslice_{name}_shape"), ints(shape if is_grad else array.shape), byref(spec))
    out, target = room_for(shape if is_grad else sliced, array.dtype)
    given = view(array)
    into = getattr(lib, f"backslice_{op}_into")
    if not is_grad:
        into(byref(given), byref(spec), byref(target), None)
    elif name == "strided_slice":
        into(ints(shape), byref(spec), byref(given), byref(target), OVERWRITE, None)
    else:
        into(byref(given), ints(shape), byref(spec), byref(target), OVERWRITE, None)
    return out


def run_selection(op, index, array, shape):
    lib = load()
    selection = selection_of(array.shape if shape is None else shape, index)
    sliced = shape_from(lib.backslice_selection_result_shape, selection)
    out, target = room_for(sliced if shape is None else shape, array.dtype)
    given = view(array)
    write = [] if op == "slice" else [OVERWRITE]
    getattr(lib, f"backslice_{op}_into")(selection, byref(given), byref(target), *write, None)
    return out


def run_dense(case, dtype):
    array = np.array(case["input"]["values"], dtype).reshape(case["input"]["shape"])
    op, args, shape = case["op"], case["args"], case.get("shape")
    if op.startswith("strided_slice"):
        spec, _lists = tf_slice(args)
        return run_dialect(op, spec, array, shape)
    if op.startswith("onnx_slice"):
        spec, _lists = onnx_slice(args)
        return run_dialect(op, spec, array, shape)
    return run_selection(op, args["index"], array, shape)


@pytest.mark.parametrize("dtype", ["int64", "float32", "complex128"])
@pytest.mark.parametrize("case", into_memory_of_the_caller(cases("dense_slices.json")), ids=lambda c: c["name"])
def test_dense_slices(case, dtype):
    result = result_or_expected_error(case, lambda: run_dense(case, dtype))
    if result is not None:
        assert result.shape == tuple(case["result"]["shape"])
        assert result.ravel().tolist() == case["result"]["values"]


def coo_indices(rows, columns):
    matrix = np.array(rows, "int64").reshape(len(rows), -1) if rows else np.zeros((0, 0), "int64")
    arrays = list(matrix.T) if columns else [matrix]
    made = new("coo_indices", count=len(arrays), is_columns=int(columns))
    made.memory = views(arrays)
    made.arrays = ctypes.addressof(made.memory)
    return made


def run_sparse_slice(args, values, columns):
    lib = load()
    indices, given = coo_indices(args["indices"], columns), view(values)
    count, shape = ctypes.c_int64(), (ctypes.c_int64 * 32)()
    start, size = ints(args["start"]), ints(args["size"])
    with suppress(CError):  # the next call must refuse the slice
        lib.backslice_sparse_slice_count(byref(indices), start, size, None, byref(count))
    out_indices = np.full((count.value, len(args["shape"])), 99)
    out_values = np.full(count.value, 99, values.dtype)
    targets = view(out_indices), view(out_values)
    lib.backslice_sparse_slice_into(
        byref(indices),
        byref(given),
        ints(args["shape"]),
        start,
        size,
        byref(targets[0]),
        byref(targets[1]),
        shape,
        None,
    )
    return out_indices.tolist(), out_values.tolist(), list(shape[: len(args["shape"])])


def run_sparse_gradient(case, grad, columns):
    lib, args = load(), case["args"]
    indices, given = coo_indices(args["input_indices"], columns), view(grad)
    out = np.full(len(args["input_indices"]), 99, grad.dtype)
    target = view(out)
    if case["op"] == "sparse_slice_grad_by_size":
        lib.backslice_sparse_slice_grad_by_size_into(
            byref(given), byref(indices), ints(args["start"]), ints(args["size"]), byref(target), OVERWRITE, None
        )
    else:
        output, order = coo_indices(args["output_indices"], columns), ORDERS[args.get("order", "in_order")]
        lib.backslice_sparse_slice_grad_into(
            byref(given),
            byref(indices),
            ints(args["input_start"]),
            byref(output),
            byref(target),
            order,
            OVERWRITE,
            None,
        )
    return out.tolist()


@pytest.mark.parametrize("columns", [False, True], ids=["matrix", "columns"])
@pytest.mark.parametrize("case", cases("sparse_slices.json"), ids=lambda c: c["name"])
def test_sparse_slices(case, columns):
    values = np.array(case["values"], "float32")
    if case["op"] != "sparse_slice":
        result = result_or_expected_error(case, lambda: run_sparse_gradient(case, values, columns))
        assert result is None or result == case["result"]["values"]
        return
    result = result_or_expected_error(case, lambda: run_sparse_slice(case["args"], values, columns))
    if result is not None:
        assert result == (case["result"]["indices"], case["result"]["values"], case["result"]["shape"])


def ragged(values, splits):
    lists = views([np.array(level, "int64") for level in splits])
    given = view(values)
    made = Handle(load().backslice_ragged_make, byref(given), lists, len(splits), None, None, None)
    made.memory = given
    return made


def element(piece, dtype):
    if piece is None:
        return None
    values = piece["values"] if isinstance(piece, dict) else piece
    return ragged(np.array(values, dtype), piece["splits"] if isinstance(piece, dict) else [])


def variants(pieces, dtype):
    elements = [element(piece, dtype) for piece in pieces]
    pointers = (ctypes.c_void_p * max(1, len(elements)))(*[e and e._as_parameter_.value for e in elements])
    made = Handle(load().backslice_variant_array_make, pointers, len(elements), ints([len(elements)]))
    made.memory = elements
    return made


def gradient_of_variants(case, dtype):
    encoded, (out, target) = variants(case["pieces"], dtype), room_for(case["shape"], dtype)
    splits = views([np.array(level, "int64") for level in case["row_splits"]])
    load().backslice_ragged_tensor_to_variant_gradient_into(
        encoded, splits, len(case["row_splits"]), ints(case["shape"]), byref(target), OVERWRITE, None
    )
    return out


def gradient_of_pieces(case, dtype):
    pieces, (out, target) = case["pieces"], room_for(case["shape"], dtype)
    missing = (ctypes.c_uint8 * max(1, len(pieces)))(*[piece is None for piece in pieces])
    flat = views([np.array([] if piece is None else piece, dtype) for piece in pieces])
    splits = views([np.array(level, "int64") for level in case["row_splits"]])
    load().backslice_ragged_pieces_gradient_into(
        flat, missing, len(pieces), splits, len(case["row_splits"]), ints(case["shape"]), byref(target), OVERWRITE, None
    )
    return out


def decoded_handle(case, dtype):
    """Return the splits and values of a handle."""
    lib = load()
    encoded = variants(case["pieces"], dtype)
    made = Handle(lib.backslice_ragged_tensor_from_variant, encoded, *case["ranks"], None, None)
    rank, found = ctypes.c_int32(), new("view")
    lib.backslice_ragged_rank(made, byref(rank))
    splits = []
    for level in range(rank.value):
        lib.backslice_ragged_row_splits(made, level, byref(found))
        splits.append(elements_of(found, "int64"))
    lib.backslice_ragged_values(made, byref(found))
    return splits, elements_of(found, dtype)


def elements_of(found, dtype):
    count = int(np.prod((ctypes.c_int64 * found.rank).from_address(found.shape))) if found.rank else 1
    if count == 0:
        return []
    memory = (ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(found.data)
    return np.frombuffer(memory, dtype).tolist()


def decoded_into(case, dtype):
    """Read it into our own memory, of the reported size."""
    lib = load()
    encoded, size = variants(case["pieces"], dtype), new("ragged_size")
    lib.backslice_ragged_tensor_from_variant_size(encoded, *case["ranks"], None, None, byref(size))
    splits = [np.full(size.splits[level], 99) for level in range(size.ragged_rank)]
    values = np.full(list(size.values[: size.rank]), 99, dtype)
    lists, target = views(splits), view(values)
    lib.backslice_ragged_tensor_from_variant_into(
        encoded, *case["ranks"], lists, len(splits), byref(target), None, None
    )
    return [level.tolist() for level in splits], values.ravel().tolist()


@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize("case", cases("ragged_variants.json"), ids=lambda c: c["name"])
def test_ragged_variants(case, dtype):
    if case["op"] == "gradient":
        runs = [gradient_of_variants]
        if not any(isinstance(piece, dict) for piece in case["pieces"]):  # flat pieces have no splits
            runs.append(gradient_of_pieces)
        for run in runs:
            result = result_or_expected_error(case, lambda run=run: run(case, dtype))
            if result is not None:
                assert result.ravel().tolist() == case["result"]["values"]
        return
    for run in (decoded_handle, decoded_into):
        result = result_or_expected_error(case, lambda run=run: run(case, dtype))
        if result is not None:
            assert result == (case["result"]["splits"], case["result"]["values"])


def test_structs_are_as_large_as_the_library_has_them():
    selection, values = selection_of([4], ":"), view(np.ones(4, "float32"))
    assert ctypes.sizeof(structs()["backslice_view"]) == values.struct_size
    out = np.zeros(4, "float32")
    load().backslice_slice_into(selection, byref(values), byref(view(out)), None)
    assert out.tolist() == [1, 1, 1, 1]
