"""Files for fuzz/files.py: valid .npy, .npz and .safetensors files, and damaged ones that still look valid."""

import io
import json
import random
import re
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

DTYPES = ["<f4", ">f8", "|i1", "|b1", "<u2", "<c8", "<c16", "|S3", "<U2", "|V2", "<f2", "<i8", [("qint8", "|i1")]]
BITS = {"F32": 32, "BF16": 16, "I8": 8, "BOOL": 8, "F8_E4M3": 8, "F4": 4, "F6_E2M3": 6, "C64": 64, "I64": 64}
INTEGERS = [0, 1, 2, 3, 63, 64, 65, 127, 255, *(2**n + d for n in (15, 16, 31, 32, 62, 63, 64) for d in (-1, 0))]
DESCRS = ["'<f4'", "'|O'", "'<f1'", "'|V0'", "'|S0'", "'|V2'", "'<M8[D]'", "('<f4', (2,))", "[('a', '<f4')]",
          "[('a', '|O')]", "[('a', [('b', '<i2')])]",
          "('<f4',)", "'<f16'", "'(2,)f4'", "'f4,f4'", "'>U1'", "4", "None"]  # fmt: skip
ORDERS = ["True", "False", "'no'", "0", "None", "()"]
SHAPES = ["()", "(0,)", "(1,)", "(2, 3)", "(-1,)", "(2.0,)", "[2, 3]", "(True, 2)", "(9223372036854775807, 0)",
          f"({'1, ' * 65})", f"({'1, ' * 33})", f"(0x{'f' * 5000},)", f"({'9' * 5000},)", "2**70", "None"]  # fmt: skip
TOKENS = ["(" * 300, "{", "}", "'", "\\", "\0", "é", "'descr'", "'shape'", "1j", "b'x'", "{1, 2}", "lambda: 0", "..."]
WORDS = [
    "F32",
    "F64",
    "BF16",
    "F4",
    "F6_E3M2",
    "NOPE",
    "dtype",
    "shape",
    "data_offsets",
    "__metadata__",
    "\ud800",
    "a",
    "",
]
JSON = ["[" + "1," * 64 + "1]", "[0, 9223372036854775807]", "[0]", "[]", "-1", "1.5", "null", "[" * 200, '"\\ud800"']
NAMES = ["a", "row_splits", "row_splits_0", "row_splits_1", "dense_values_shape", "piece_0", "piece_1", "piece_٣",
         "piece_007", "piece_" + "9" * 5000, "grad", "start", "size", "input_indices", "backprop_val_grad",
         "output_indices", "input_start", "", "/", "..", "é", "\x1b[2J"]  # fmt: skip


def array(rng: random.Random) -> np.ndarray:
    shape = [rng.randint(0, 4) for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.05:
        shape = [rng.randint(100, 200), 200]  # large enough to be mapped
    values = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape) % 100
    dtype = np.dtype(rng.choice(DTYPES))
    if dtype.kind == "V":
        return np.zeros(shape, dtype)
    return np.asarray(values.astype(dtype), order=rng.choice("CF"))


def npy(rng: random.Random, items: Any = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(
        file, array(rng) if items is None else np.asarray(items), rng.choice([(1, 0), (2, 0), (3, 0)])
    )
    return file.getvalue()


def sparse(rng: random.Random) -> dict[str, Any]:
    values = np.ones(2, rng.choice(["<f4", "|i1", "|V2"]))
    if rng.random() < 0.5:
        return {"grad": values, "input_indices": [[0, 1], [1, 0], [1, 2], [3, 1]], "start": [1, 0], "size": [2, 3]}
    return {"backprop_val_grad": values, "input_indices": [[0, 1], [1, 0], [1, 2], [3, 1]], "input_start": [1, 0],
            "output_indices": [[0, 0], [0, 2]]}  # fmt: skip


def ragged(rng: random.Random) -> dict[str, Any]:
    pieces = {"piece_0": np.ones(2, np.float32), "piece_2": np.ones(3, np.float32)}
    if rng.random() < 0.5:
        return {"row_splits": [0, 2, 2, 5, 6], "dense_values_shape": [6], **pieces}
    return {"row_splits_0": [0, 1, 2], "row_splits_1": [0, 2, 3], "dense_values_shape": [3], "piece_1": [4.0]}


def npz(rng: random.Random) -> bytes:
    arrays = rng.choice([sparse, ragged, lambda rng: {"a": array(rng)}])(rng)
    members = {name: npy(rng, items) for name, items in arrays.items()}
    if rng.random() < 0.4:
        damaged = rng.choice(list(members))
        members[damaged] = damage_npy(rng, members[damaged])
    if rng.random() < 0.2:
        members[rng.choice(NAMES)] = members.pop(rng.choice(list(members)))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def safetensors(rng: random.Random) -> bytes:
    tensors: dict[str, Any] = {}
    data = b""
    for name in rng.sample(["a", "b", "é", "x.y"], rng.randint(1, 2)):
        dtype, bits = rng.choice(list(BITS.items()))
        shape = [rng.randint(0, 3), 4]
        size = shape[0] * shape[1] * bits // 8
        tensors[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + size]}
        data += rng.randbytes(size) if dtype != "BOOL" else bytes(size)
    if rng.random() < 0.2:
        tensors["__metadata__"] = {"format": "np"}
    return with_length(json.dumps(tensors).encode()) + data


def with_length(header: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header


def damage_bytes(rng: random.Random, content: bytes) -> bytes:
    """Damage bytes without knowledge of the format."""
    at = rng.randrange(len(content) + 1)
    size = rng.choice([1, 1, 2, 4, 8, 30])
    piece = {
        "flip": lambda: bytes(b ^ 1 << rng.randrange(8) for b in content[at : at + 1]) + content[at + 1 : at + size],
        "random": lambda: rng.randbytes(size),
        "integer": lambda: struct.pack(rng.choice("<>") + "Q", rng.choice(INTEGERS) % 2**64)[:size],
        "nothing": lambda: b"",
        "twice": lambda: content[at : at + size] * 2,
        "moved": lambda: content[(other := rng.randrange(len(content) + 1)) : other + size],
    }
    if rng.random() < 0.1:
        return content[:at]
    if rng.random() < 0.05:
        return content + rng.randbytes(size)
    return content[:at] + piece[rng.choice(list(piece))]() + content[at + size :]


def damage_npy(rng: random.Random, content: bytes) -> bytes:
    """Replace a value in the header, and correct its length."""
    wide = content[6:7] > b"\1"
    start = 12 if wide else 10
    end = start + int.from_bytes(content[8:start], "little")
    header = damage_text(rng, content[start:end].decode("latin1"))
    text = header.encode("latin1", "replace")
    length = len(text).to_bytes(4, "little") if wide else min(len(text), 65535).to_bytes(2, "little")
    return content[:8] + length + text + content[end:]


def damage_text(rng: random.Random, header: str) -> str:
    """Replace a value of one of the three keys, or a token anywhere."""
    key, values = rng.choice([("descr", DESCRS), ("fortran_order", ORDERS), ("shape", SHAPES)])
    found = re.search(rf"'{key}': ('[^']*'|\([^()]*\)|\w+)", header)
    if found and rng.random() < 0.8:
        return header[: found.start(1)] + rng.choice(values) + header[found.end(1) :]
    at = rng.randrange(len(header) + 1)
    return header[:at] + rng.choice(TOKENS) + header[at + rng.randrange(3) :]


def damage_safetensors(rng: random.Random, content: bytes) -> bytes:
    """Replace a value in the header, and correct its length."""
    length = int.from_bytes(content[:8], "little")
    text = content[8 : 8 + length].decode(errors="replace")
    values = list(re.finditer(r'"[^"]*"|\d+|\[[^][]*\]|[{}:,]', text))
    if not values:
        return content
    chosen = rng.choice(values)
    new = rng.choice([json.dumps(rng.choice(WORDS)), str(rng.choice(INTEGERS)), rng.choice(JSON), chosen[0] * 2])
    header = (text[: chosen.start()] + new + text[chosen.end() :]).encode(errors="surrogatepass")
    return with_length(header) + content[8 + length :]


def damage_npz(rng: random.Random, content: bytes) -> bytes:
    """Change a byte or a number in the directory of the archive, or in the header of a member."""
    places = [m.start() for m in re.finditer(rb"PK(\x01\x02|\x03\x04|\x05\x06|\x06\x06|\x06\x07)", content)]
    if not places:
        return content
    at = rng.choice(places) + rng.randrange(4, 56)
    size = rng.choice([1, 2, 4, 8])
    return content[:at] + struct.pack("<Q", rng.choice(INTEGERS) % 2**64)[:size] + content[at + size :]


Maker = Callable[[random.Random], bytes]
Damage = Callable[[random.Random, bytes], bytes]
FORMATS: dict[str, tuple[Maker, Damage]] = {
    ".npy": (npy, damage_npy),
    ".npz": (npz, damage_npz),
    ".safetensors": (safetensors, damage_safetensors),
}


def some_file(rng: random.Random, suffix: str) -> bytes:
    """Return a file that is intact one time in five, else damaged up to three times."""
    make, damage = FORMATS[suffix]
    content = make(rng)
    for _ in range(0 if rng.random() < 0.2 else rng.choice([1, 1, 1, 1, 2, 3])):
        content = rng.choice([damage, damage_bytes])(rng, content)
    return content
