"""backslice on containers."""

import threading

import backslice as bs
import numpy as np
from containers import array_elements, prepare_by_kind, ragged_case, sparse_case


def prepare_container(workload):
    bs.pool.trim()
    return prepare_by_kind(workload, sparse=prepare_sparse, array=prepare_array, ragged=prepare_ragged)


def prepare_ragged(operation, case):
    values, splits, order = ragged_case(case["rows"], case["length"])
    rt = bs.RaggedTensor(values, [splits])
    if operation == "ragged encode":  # the splits are checked here
        return lambda: bs.ragged_tensor_to_variant(bs.RaggedTensor(values, [splits]))
    encoded = bs.ragged_tensor_to_variant(rt)
    if operation == "ragged decode":
        return lambda: bs.ragged_tensor_from_variant(encoded, 0, 1)
    pieces = encoded
    if operation.endswith("half missing"):
        pieces = bs.VariantArray([encoded[i] if i % 2 else None for i in range(len(rt))])
    elif operation.endswith("all missing"):
        pieces = bs.VariantArray([None] * len(rt))
    elif operation.endswith("shuffled"):
        pieces = bs.VariantArray([encoded[int(i)] for i in order])
    elif operation.endswith("separate pieces"):
        pieces = bs.VariantArray([np.array(encoded[i]) for i in range(len(rt))])
    row_splits = np.concatenate([[0], np.cumsum(np.diff(splits)[order])]) if operation.endswith("shuffled") else splits
    shape = [len(values)]
    return lambda: bs.ragged_tensor_to_variant_gradient(pieces, row_splits, shape, "float32")


def prepare_array(operation, case):
    count = case["count"]
    elements = array_elements(count)
    if operation == "array stack":
        array = bs.TensorArray(count, "float32", (128, 256), clear_after_read=False, contiguous=True)
        array.unstack(elements)
        return array.stack
    if operation == "array aggregates":
        terms, indices = [array_elements(count) for _ in range(case["terms"])], np.arange(count)

        def aggregate():
            array = bs.TensorArray(count, "float32")
            array.scatter(indices, elements, copy=False)
            gradient = array.grad("x")
            for term in terms:
                gradient.scatter(indices, term, copy=False)
            return gradient.gather(indices)

        return aggregate
    rows = list(elements)

    def write(array, part):
        for i in part:
            array.write(i, rows[i], copy=False)

    def writes():
        write(bs.TensorArray(count, "float32"), range(count))

    def writes_by_two():
        array = bs.TensorArray(count, "float32")
        other = threading.Thread(target=write, args=(array, range(0, count, 2)))
        other.start()
        write(array, range(1, count, 2))
        other.join()

    return writes_by_two if operation.endswith("2 threads") else writes


def prepare_sparse(operation, case):
    indices, values, shape, start, size, output, grad = sparse_case(case)
    if operation == "sparse_slice":
        return lambda: bs.sparse_slice(indices, values, shape, start, size)
    order = "any" if operation.endswith("any order") else "in_order"
    return lambda: bs.sparse_slice_grad(grad, indices, start, output, order=order)
