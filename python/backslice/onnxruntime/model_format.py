"""The parts of ONNX's file format, a protocol buffer, that this adapter reads and writes without the package onnx."""

from collections.abc import Iterable, Iterator
from mmap import ACCESS_READ, mmap
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from ..errors import DTypeError

Model: TypeAlias = str | PathLike[str] | bytes
MICROSOFT = "com.microsoft"
FLOAT, INT64 = 1, 7  # numbers of element types
IR_VERSION, OPSET = 8, 13


def needs_microsoft(model: Model) -> bool:
    """Return whether a model may have nodes ``com.microsoft::SliceGrad``.

    Such a model imports the domain. A model that does not is never to meet a custom operator of that domain: ONNX
    Runtime would take its version for 1000, and find none of its own operators there.
    """
    if isinstance(model, bytes):
        return _needs_microsoft(model)
    if not isinstance(model, str | PathLike):
        raise DTypeError(f"model is a {type(model).__name__}, expected a path or bytes, as InferenceSession takes them")
    path = Path(model)
    if path.stat().st_size == 0:  # it cannot be mapped
        return False
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
        return _needs_microsoft(mapped)


def _needs_microsoft(data: "bytes | mmap") -> bool:
    is_ort_format = data[4:8] == b"ORTM"  # such files import all domains of ONNX Runtime
    return (is_ort_format or MICROSOFT in imported_domains(data)) and data.find(b"SliceGrad") >= 0


def imported_domains(data: "bytes | mmap") -> set[str]:
    """Return the domains that a model imports; of a damaged model, which ONNX Runtime reports, those found so far."""
    found: set[str] = set()
    try:
        for number, begin, end in _fields(data, 0, len(data)):
            if number == 8:
                names = [data[first:last] for inner, first, last in _fields(data, begin, end) if inner == 1]
                found.update(name.decode() for name in names)
    except (IndexError, ValueError):
        pass
    return found


def _fields(data: "bytes | mmap", at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the number of each field, and where its value begins and ends."""
    while at < end:
        key, at = _read_varint(data, at)
        match key & 7:
            case 0:
                _, after = _read_varint(data, at)
            case 1:
                after = at + 8
            case 2:
                length, at = _read_varint(data, at)
                after = at + length
            case 5:
                after = at + 4
            case kind:
                raise ValueError(f"a field of kind {kind}")
        yield key >> 3, at, after
        at = after


def _read_varint(data: "bytes | mmap", at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 64, 7):
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
    raise ValueError("an integer of more than 64 bits")


def _varint(value: int) -> bytes:
    low, rest = value & 127, value >> 7
    return bytes([low]) if rest == 0 else bytes([low | 128]) + _varint(rest)


def _field(number: int, value: "int | str | bytes") -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def node(op: str, inputs: Iterable[str], output: str, domain: str = "") -> bytes:
    return b"".join(_field(1, name) for name in inputs) + _field(2, output) + _field(4, op) + _field(7, domain)


def int64_list(name: str, values: list[int]) -> bytes:
    """A constant."""
    return _field(1, len(values)) + _field(2, INT64) + b"".join(_field(7, value) for value in values) + _field(8, name)


def float_tensor(name: str, shape: list[int]) -> bytes:
    """An input or output."""
    dims = b"".join(_field(1, _field(1, extent)) for extent in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, FLOAT) + _field(2, dims)))


def model(
    nodes: list[bytes], inputs: list[bytes], outputs: list[bytes], constants: Iterable[bytes] = (), domain: str = ""
) -> bytes:
    """A model that imports ONNX's operators, and version 1 of `domain`."""
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, "graph")
    for number, entries in [(5, constants), (11, inputs), (12, outputs)]:
        graph += b"".join(_field(number, entry) for entry in entries)
    made = _field(1, IR_VERSION) + _field(7, graph) + _field(8, _field(1, "") + _field(2, OPSET))
    return made + _field(8, _field(1, domain) + _field(2, 1)) if domain else made
