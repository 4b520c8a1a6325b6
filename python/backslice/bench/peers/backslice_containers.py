"""backslice on containers."""

import backslice as bs
from containers import sparse_case


def prepare_container(workload):
    bs.pool.trim()
    operation, case = workload["operation"], workload["case"]
    if operation.startswith("sparse"):
        return prepare_sparse(operation, case)
    return None


def prepare_sparse(operation, case):
    indices, values, shape, start, size, output, grad = sparse_case(case)
    if operation == "sparse_slice":
        return lambda: bs.sparse_slice(indices, values, shape, start, size)
    order = "any" if operation.endswith("any order") else "in_order"
    return lambda: bs.sparse_slice_grad(grad, indices, start, output, order=order)
