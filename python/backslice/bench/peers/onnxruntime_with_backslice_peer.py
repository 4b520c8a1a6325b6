"""The stock ONNX Runtime with backslice's operators: the same SliceGrad as the training wheel's, many slices in one."""

from pathlib import Path

import numpy as np
import onnxruntime_peer
from slices import result_shape

LIBRARY = Path(__file__).parents[2] / "onnxruntime" / "libbackslice_onnxruntime.so"


def prepare(workload):
    if workload["kind"] == "many":
        return prepare_many(workload)
    if workload["kind"] != "gradient":
        return None
    inputs = onnxruntime_peer.inputs_of(workload)
    return onnxruntime_peer.runner("SliceGrad", "com.microsoft", inputs, workload, str(LIBRARY))


def prepare_many(workload):
    """The slices x[:, t]."""
    count = workload["slices"]
    starts = np.arange(count).reshape(count, 1)
    inputs = {"shape": np.array(workload["shape"]), "starts": starts, "ends": starts + 1}
    inputs |= {"axes": np.array([1]), "steps": np.array([1])}
    inputs |= {f"dY{t}": np.ones(result_shape(workload), workload["dtype"]) for t in range(count)}
    return onnxruntime_peer.runner("MultiSliceGrad", "backslice", inputs, workload, str(LIBRARY))
