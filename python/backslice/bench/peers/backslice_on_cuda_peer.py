"""backslice on a CUDA device, with arrays of PyTorch or CuPy; and a copy within the device's memory, in the same
process."""

import importlib.util

from package import load_package
from slices import index_of, result_shape

if importlib.util.find_spec("torch") is not None:
    import torch_on_device as on_device
else:
    import cupy_on_device as on_device
if importlib.util.find_spec("backslice") is None:  # in an environment of PyTorch's
    load_package()
import backslice as bs

seconds_of = on_device.seconds_of


def prepare(workload):
    if workload["kind"] == "copy":
        return on_device.prepare_copy(workload["bytes"])
    shape, dtype, index = tuple(workload["shape"]), workload["dtype"], index_of(workload)
    if workload["kind"] == "forward":
        x = on_device.ones(shape, dtype)
        return lambda: bs.slice(x, index)
    dy = on_device.ones(result_shape(workload), dtype)
    if workload["kind"] == "gradient":
        return lambda: bs.slice_grad(dy, shape, index)
    if workload["kind"] == "many":
        slices = [((slice(None), t), dy + 0) for t in range(workload["slices"])]
        return lambda: bs.multi_slice_grad(shape, slices)
    return None


def describe(workload):
    """Return the library's description of the gradient of one slice, which is the schedule that runs."""
    if workload["kind"] != "gradient":
        return {}
    selection = bs.Selection.from_index(tuple(workload["shape"]), index_of(workload))
    cost = selection.cost(workload["dtype"], device="cuda")
    return {"strategy": cost["strategy"], "pieces": cost["pieces"], "plan": cost["plan"]}
