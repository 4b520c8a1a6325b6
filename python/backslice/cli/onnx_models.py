"""backslice onnx: the slices of a model and the costs of their gradients."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

import backslice as bs

from ..dialects import index_text
from ..errors import InvalidArgumentError
from ..picture.terminal import for_terminal, terminal
from ..units import human_bytes

# the number of elements that ONNX packs into a byte, by the name of the type
PER_BYTE = {"int4": 2, "float4": 2, "int2": 4}


def facts(path: Path) -> dict[str, Any]:
    """Return all facts about the slices that are known before the model runs, for programs."""
    model = _model(path)
    from ..onnx.bodies import inner_slices
    from ..onnx.slices import slice_nodes

    return {
        "model": str(path),
        "slices": [_facts(node) for node in slice_nodes(model)],
        "not_listed": inner_slices(model),
    }


def _model(path: Path) -> Any:
    try:
        from ..onnx.external import load_short_lists
        from ..onnx.package import onnx
    except ImportError as error:
        raise InvalidArgumentError(str(error)) from error
    try:
        model = onnx.load(str(path), load_external_data=False)
    except OSError:
        raise
    except Exception as error:  # protocol buffers raise errors of their own, depending on the installation
        raise InvalidArgumentError(f"{path} is no ONNX model: {error}") from error
    if not model.HasField("graph"):  # parses, as any empty file does
        raise InvalidArgumentError(f"{path} is no ONNX model: it has no graph")
    load_short_lists(model, path.parent)
    return model


def _facts(node: Any) -> dict[str, Any]:
    info = {
        "name": node.name,
        "data": node.data,
        "output": node.output,
        "shape": None if node.shape is None else list(node.shape),
        "dtype": _dtype(node.elem_type),
        "constants": node.constants,
        "dynamic": sorted(name for name in node.inputs if name not in node.constants),
    }
    try:
        selection = node.selection()
        return info if selection is None else {**info, "selection": selection, "cost": _cost(selection, info["dtype"])}
    except bs.Error as error:
        return {**info, "error": str(error)}


def _dtype(elem_type: int) -> str | None:
    from ..onnx.package import onnx

    if elem_type == onnx.TensorProto.STRING:
        return "string"
    try:
        return str(onnx.helper.tensor_dtype_to_np_dtype(elem_type))
    except KeyError:  # not given, or newer than the package
        return None


def _cost(selection: bs.Selection, dtype: str | None) -> dict[str, Any] | None:
    if dtype is None:
        return None
    cost: dict[str, Any] = dict(selection.cost("object" if dtype == "string" else dtype))
    packed = next((n for bits, n in PER_BYTE.items() if bits in dtype), 1)
    return {name: -(-value // packed) if name.startswith("bytes_") else value for name, value in cost.items()}


def for_json(info: dict[str, Any]) -> dict[str, Any]:
    """Return the same facts, with the index in place of the selection."""

    def plain(name: str, value: Any) -> tuple[str, Any]:
        return ("index", index_text(value)) if name == "selection" else (name, value)

    return {**info, "slices": [dict(plain(*item) for item in one.items()) for one in info["slices"]]}


def show(info: dict[str, Any], console: Console) -> None:
    count = len(info["slices"])
    console.print(Text(f"{info['model']}: {count} slice{'' if count == 1 else 's'}", "bold"), soft_wrap=True)
    for one in info["slices"]:
        console.print()
        console.print(Text.assemble((_printable(one["name"]), "bold"), ": ", _formula(one)), soft_wrap=True)
        if "selection" in one:
            drawing = for_terminal(one["selection"], console.width, 12)
            console.print(terminal(drawing, console))
        console.print(Text(_described(one)), soft_wrap=True)
    if inner := info["not_listed"]:
        where = "inside functions and the bodies of If, Loop and Scan"
        console.print(Text(f"\nNot listed: {inner} slice{'' if inner == 1 else 's'} {where}"), soft_wrap=True)


def _formula(one: dict[str, Any]) -> str:
    index = index_text(one["selection"]).removeprefix("x") if "selection" in one else "[...]"
    return f"{_printable(one['output'])} = {_printable(one['data'])}{index}, {_extents(one)}"


def _printable(name: str) -> str:
    return name if name.isprintable() else ascii(name)


def _extents(one: dict[str, Any]) -> str:
    if one["shape"] is None:
        return "of unknown shape"
    return "of shape [" + ", ".join("?" if n is None else str(n) for n in one["shape"]) + "]"


def _described(one: dict[str, Any]) -> str:
    if "error" in one:
        return f"Refused: {one['error']}"
    if "selection" not in one:
        unknown = [
            *one["dynamic"],
            *([] if one["shape"] and None not in one["shape"] else [f"the shape of {one['data']}"]),
        ]
        return f"Known when the model runs: {', '.join(unknown)}"
    if one["cost"] is None:
        return "Gradient: the element type is not known"
    cost = one["cost"]
    moved = f"reads {human_bytes(cost['bytes_read'])}, writes {human_bytes(cost['bytes_written'])}"
    return f"Gradient ({one['dtype']}): {moved} ({cost['strategy']})"
