"""Tensors in safetensors files. dtypes that NumPy does not have are read as bytes and viewed."""

import json
import math
from pathlib import Path
from typing import IO, Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from . import Failure, leaving

# The dtype's name in the format, the dtype, and the bits of an element in the file.
DTYPES: list[tuple[str, Any, int]] = [
    ("BOOL", np.bool_, 8),
    ("U8", np.uint8, 8),
    ("I8", np.int8, 8),
    ("U16", np.uint16, 16),
    ("I16", np.int16, 16),
    ("U32", np.uint32, 32),
    ("I32", np.int32, 32),
    ("U64", np.uint64, 64),
    ("I64", np.int64, 64),
    ("F16", np.float16, 16),
    ("BF16", ml_dtypes.bfloat16, 16),
    ("F32", np.float32, 32),
    ("F64", np.float64, 64),
    ("C64", np.complex64, 64),
    ("F8_E5M2", ml_dtypes.float8_e5m2, 8),
    ("F8_E4M3", ml_dtypes.float8_e4m3fn, 8),
    ("F8_E5M2FNUZ", ml_dtypes.float8_e5m2fnuz, 8),
    ("F8_E4M3FNUZ", ml_dtypes.float8_e4m3fnuz, 8),
    ("F8_E8M0", ml_dtypes.float8_e8m0fnu, 8),
    ("F4", ml_dtypes.float4_e2m1fn, 4),
    ("F6_E2M3", ml_dtypes.float6_e2m3fn, 6),
    ("F6_E3M2", ml_dtypes.float6_e3m2fn, 6),
]
OF_FORMAT = {row[0]: row for row in DTYPES}
OF_DTYPE = {np.dtype(row[1]): row for row in DTYPES}


def unpack(data: NDArray[np.uint8], bits: int, count: int) -> NDArray[np.uint8]:
    """Unpack elements of less than a byte, lowest bits first, into one byte each."""
    stream = np.unpackbits(data, bitorder="little")[: count * bits].reshape(count, bits)
    return np.packbits(stream, axis=1, bitorder="little").reshape(count)


def pack(items: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    stream = np.unpackbits(items.reshape(-1, 1), axis=1, bitorder="little")[:, :bits]
    return np.packbits(stream, bitorder="little")


def names_in(path: Path) -> list[str]:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise Failure(f"{path} is a pipe or a device, and safetensors files are mapped: save it as a file first")
    leaving.mapped(str(path))  # by the library, and later by `read`
    try:
        with safe_open(path, framework="np") as file:
            return list(file.keys())
    except SafetensorError as error:
        raise Failure(f"{path} is not a complete safetensors file: {error}") from None


def read(path: Path, name: str) -> NDArray[Any]:
    """Return one tensor as a mapped array, so a slice of a large model reads only selected elements. The library has
    checked the file."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            tensor = json.loads(file.read(length).decode())[name]
            return _mapped(file, 8 + length, tensor["dtype"], tensor["shape"], tensor["data_offsets"])
    except (LookupError, TypeError) as error:
        raise Failure(f"{path} changed while it was read: {type(error).__name__}") from None
    # ranks and extents that NumPy does not support, or a file truncated meanwhile
    except (ValueError, OverflowError) as error:
        raise Failure(f"{path}:{name} cannot be read: {error}") from None


def _mapped(file: IO[bytes], start: int, dtype: str, shape: list[int], data_offsets: list[int]) -> NDArray[Any]:
    if dtype not in OF_FORMAT:
        raise ValueError(f"it has dtype {dtype}, which backslice does not know")
    _, kind, bits = OF_FORMAT[dtype]
    first, last = data_offsets
    if first == last:
        return np.zeros(shape, kind)
    data = np.memmap(file, np.uint8, "r", start + first, (last - first,)).view(np.ndarray)
    items = unpack(data, bits, math.prod(shape)) if bits < 8 else data
    tensor: NDArray[Any] = items.view(np.dtype(kind).newbyteorder("<"))
    return tensor.reshape(shape)


def write(path: Path, name: str, array: NDArray[Any]) -> None:
    """Write into the given file. The library would make another without a lock, and leave it behind when killed."""
    dtype = array.dtype.newbyteorder("=")
    if dtype not in OF_DTYPE:
        raise Failure(f"safetensors files cannot hold {array.dtype}: write a .npy file instead")
    kind, _, bits = OF_DTYPE[dtype]
    shape = list(array.shape)
    if (shape[-1] if shape else 1) * bits % 8:
        raise Failure(
            f"safetensors files hold rows of whole bytes, and {shape} of {dtype} has others: write a .npy file"
        )
    data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)
    data = pack(data, bits) if bits < 8 else data
    tensor = {"dtype": kind, "shape": shape, "data_offsets": [0, data.nbytes]}
    header = json.dumps({name: tensor}).encode()
    header += b" " * (-len(header) % 8)  # so that the data is aligned
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.write(data.data)
