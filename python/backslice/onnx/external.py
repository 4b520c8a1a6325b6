"""Constants in files beside a model."""

from pathlib import Path
from typing import Any

from ..errors import InvalidArgumentError
from .package import onnx

LONGEST_LIST = 1024  # of a slice's arguments; weights are longer


def is_external(tensor: Any) -> bool:
    """Return whether its values are in a file that has not been read."""
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def without_external_data(model: Any) -> Any:
    """Return the model with inputs in place of constants in files. onnx would look for those in the current folder."""
    external = [tensor for tensor in model.graph.initializer if is_external(tensor)]
    if not external:
        return model
    result = onnx.ModelProto()
    result.CopyFrom(model)
    inline = [tensor for tensor in model.graph.initializer if not is_external(tensor)]
    del result.graph.initializer[:]
    result.graph.initializer.extend(inline)
    present = {info.name for info in model.graph.input}
    result.graph.input.extend(declared(tensor) for tensor in external if tensor.name not in present)
    return result


def declared(tensor: Any) -> Any:
    """Return a constant as an input."""
    return onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))


def load_short_lists(model: Any, folder: Path) -> None:
    """Read the lists of integers, but no weights, from the files beside a model."""
    integers = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)
    for tensor in model.graph.initializer:
        short = len(tensor.dims) == 1 and tensor.dims[0] <= LONGEST_LIST
        if is_external(tensor) and tensor.data_type in integers and short:
            _load(tensor, folder)


def _load(tensor: Any, folder: Path) -> None:
    try:
        onnx.external_data_helper.load_external_data_for_tensor(tensor, str(folder))
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise InvalidArgumentError(
            f"the values of {tensor.name!r} are in a file beside the model, which cannot be read: {error}"
        ) from error
    tensor.data_location = onnx.TensorProto.DEFAULT
    del tensor.external_data[:]
