"""backslice onnx: the slices of a model, and what their gradients cost."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

import backslice as bs

from ..dialects import index_text
from ..errors import InvalidArgumentError
from ..picture.terminal import for_terminal, terminal
from ..units import human_bytes


def facts(path: Path) -> dict[str, Any]:
    """Everything that is known of the slices before the model runs, for programs."""
    return {"model": str(path), "slices": [_facts(node) for node in _slices(path)]}


def _slices(path: Path) -> list[Any]:
    try:
        from ..onnx.package import onnx
        from ..onnx.slices import slice_nodes
    except ImportError as error:
        raise InvalidArgumentError(str(error)) from error
    try:
        model = onnx.load(str(path), load_external_data=False)
    except OSError:
        raise
    except Exception as error:  # protocol buffers have errors of their own, which depend on how they are installed
        raise InvalidArgumentError(f"{path} is no ONNX model: {error}") from error
    if not model.HasField("graph"):  # any empty file
        raise InvalidArgumentError(f"{path} is no ONNX model: it has no graph")
    return slice_nodes(model)


def _facts(node: Any) -> dict[str, Any]:
    told = {
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
        return told if selection is None else {**told, "selection": selection, "cost": _cost(selection, told["dtype"])}
    except bs.Error as error:
        return {**told, "error": str(error)}


def _dtype(elem_type: int) -> str | None:
    from ..onnx.package import onnx

    try:
        return str(onnx.helper.tensor_dtype_to_np_dtype(elem_type))
    except KeyError:  # not told, or newer than the package
        return None


def _cost(selection: bs.Selection, dtype: str | None) -> dict[str, Any] | None:
    return None if dtype is None else dict(selection.cost(dtype))


def for_json(told: dict[str, Any]) -> dict[str, Any]:
    """The same, with the index in place of the selection."""

    def plain(name: str, value: Any) -> tuple[str, Any]:
        return ("index", index_text(value)) if name == "selection" else (name, value)

    return {**told, "slices": [dict(plain(*item) for item in one.items()) for one in told["slices"]]}


def show(told: dict[str, Any], console: Console) -> None:
    count = len(told["slices"])
    console.print(Text(f"{told['model']}: {count} slice{'' if count == 1 else 's'}", "bold"), soft_wrap=True)
    for one in told["slices"]:
        console.print()
        console.print(Text.assemble((_printable(one["name"]), "bold"), ": ", _formula(one)), soft_wrap=True)
        if "selection" in one:
            drawing = for_terminal(one["selection"], console.width, 12)
            console.print(terminal(drawing, console))
        console.print(Text(_in_words(one)), soft_wrap=True)


def _formula(one: dict[str, Any]) -> str:
    index = index_text(one["selection"]).removeprefix("x") if "selection" in one else "[...]"
    return f"{_printable(one['output'])} = {_printable(one['data'])}{index}, {_extents(one)}"


def _printable(name: str) -> str:
    return name if name.isprintable() else ascii(name)


def _extents(one: dict[str, Any]) -> str:
    if one["shape"] is None:
        return "of unknown shape"
    return "of shape [" + ", ".join("?" if n is None else str(n) for n in one["shape"]) + "]"


def _in_words(one: dict[str, Any]) -> str:
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
