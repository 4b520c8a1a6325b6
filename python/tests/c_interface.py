"""The C interface through ctypes: reads structs and functions from the headers, so that they cannot differ.

lib = load() lib.backslice_selection_all(ints([4, 5]), byref(handle)) # raises CError on failure
"""

import ctypes
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parents[2]
HEADERS = ROOT / "include" / "backslice" / "c"
MAX_RANK = 32
FLOAT32, INT64, INT32, STRING = 17, 7, 6, 39
DTYPES = {"float32": FLOAT32, "int64": INT64, "int32": INT32, "complex128": 31}
BASIC = {
    "int64_t": ctypes.c_int64,
    "int32_t": ctypes.c_int32,
    "size_t": ctypes.c_size_t,
    "void": None,
}
# Defaults that are not zero.
DEFAULTS = {
    "view": {"dtype": FLOAT32, "device_type": 1},
    "executor": {"concurrency": 1},
    "context": {"device_type": 1},
    "coo_indices": {"count": 1},
    "variant_types": {"values": -1, "splits": -1},
    "tensor_array_options": {"clear_after_read": 1},
}
# These cannot fail, and do not return a code.
GETTERS = {
    "backslice_version", "backslice_abi_version", "backslice_code_name", "backslice_last_error",
    "backslice_last_error_is_about_dtype", "backslice_last_error_argument", "backslice_last_error_position",
    "backslice_last_error_span", "backslice_last_error_output_written", "backslice_dtype_name",
    "backslice_dtype_from_name", "backslice_dtype_item_size",
    "backslice_num_threads", "backslice_free",
}  # fmt: skip


class Parameter(NamedTuple):
    type: str
    name: str

    @property
    def is_pointer(self) -> bool:
        return "*" in self.type


class Function(NamedTuple):
    returns: str
    name: str
    parameters: list[Parameter]


class CError(Exception):
    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


def declarations() -> str:
    """Return all headers without comments, preprocessor lines and the spaces that only wrap lines."""
    text = "\n".join(path.read_text() for path in sorted(HEADERS.glob("*.h")))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\s+", " ", text)


def parameter(text: str) -> Parameter:
    if found := re.fullmatch(r"(.*)\(\*(\w+)\)(\(.*\))", text):
        return Parameter(f"{found[1]}(*){found[3]}", found[2])
    type_, name, array = re.fullmatch(r"(.*?)(\w+)(\[\w+\])?", text.strip()).groups()
    return Parameter(type_.strip() + ("*" if array else ""), name)


def split_list(text: str) -> list[str]:
    """Split at the commas that are not in parentheses."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip() not in ("", "void")]


@cache
def functions() -> dict[str, Function]:
    found = re.findall(r"BACKSLICE_C_API ([\w ]+?\*?) ?(backslice_\w+)\((.*?)\);", declarations())
    return {name: Function(returns, name, [parameter(p) for p in split_list(args)]) for returns, name, args in found}


def field_types(line: str) -> list[tuple[str, object]]:
    """Split `int64_t lo, hi` into fields."""
    if "(*" in line:
        return [(parameter(line).name, ctypes.c_void_p)]
    type_, names = re.fullmatch(r"((?:const )?\w+(?: ?\*)?) ?(.*)", line).groups()
    fields = []
    for name in names.split(","):
        name, array = re.fullmatch(r"\s*(\w+)(\[BACKSLICE_MAX_RANK\])?", name).groups()
        basic = ctypes.c_void_p if "*" in type_ else BASIC.get(type_) or structs()[type_]
        fields.append((name, basic * MAX_RANK if array else basic))
    return fields


@cache
def struct_bodies() -> dict[str, str]:
    return dict(re.findall(r"typedef struct (backslice_\w+) \{(.*?)\} \1;", declarations()))


class Structs(dict):
    def __missing__(self, name):
        fields = [f for line in struct_bodies()[name].split(";") if line.strip() for f in field_types(line.strip())]
        self[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
        return self[name]


@cache
def structs() -> Structs:
    return Structs()


def new(name: str, **fields):
    """Return a struct initialised by its BACKSLICE_..._INIT."""
    made = structs()["backslice_" + name](**(DEFAULTS.get(name, {}) | fields))
    if hasattr(made, "struct_size"):
        made.struct_size = ctypes.sizeof(made)
    return made


def ints(numbers):
    """Return a backslice_ints; None means no list."""
    if numbers is None:
        return new("ints")
    memory = (ctypes.c_int64 * max(1, len(numbers)))(*numbers)
    made = new("ints", data=ctypes.addressof(memory), size=len(numbers))
    made.memory = memory
    return made


def text(string: str):
    data = ctypes.create_string_buffer(string.encode())
    made = new("string", data=ctypes.addressof(data), size=len(string.encode()))
    made.memory = data
    return made


def view(array: np.ndarray):
    shape, strides = ints(array.shape), ints(array.strides)
    made = new("view", data=array.ctypes.data, dtype=DTYPES[str(array.dtype)], rank=array.ndim, shape=shape.data,
               strides=strides.data, device_type=1)  # fmt: skip
    made.memory = (array, shape, strides)
    return made


def views(arrays: list[np.ndarray]):
    each = [view(array) for array in arrays]
    made = (structs()["backslice_view"] * max(1, len(each)))(*each)
    made.memory = each
    return made


def library_path() -> Path:
    """Return the library to be tested, else that of the development build, which is built if missing."""
    if given := os.environ.get("BACKSLICE_C_LIBRARY"):
        return Path(given)
    tree = ROOT / "build" / "dev"
    commands = [] if (tree / "build.ninja").exists() else [["cmake", "--preset", "dev"]]
    for command in [*commands, ["cmake", "--build", str(tree), "--target", "backslice_shared"]]:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return next(tree.glob("**/libbackslice.so"))


def argument_type(parameter: Parameter):
    if parameter.is_pointer:
        return ctypes.c_void_p
    return BASIC.get(parameter.type) or structs()[parameter.type]


def checked(lib):
    def check(code, *_):
        if code != 0:
            raise CError(code, lib.backslice_last_error().decode())
        return code

    return check


@cache
def load() -> ctypes.CDLL:
    lib = ctypes.CDLL(str(library_path()))
    for function in functions().values():
        entry = getattr(lib, function.name)
        entry.argtypes = [argument_type(p) for p in function.parameters]
        entry.restype = ctypes.c_char_p if "char" in function.returns else BASIC[function.returns]
        if function.name not in GETTERS:
            entry.errcheck = checked(lib)
    return lib


class Handle:
    """A handle that is freed with its last reference. `make(*arguments, out)` makes it."""

    def __init__(self, make, *arguments):
        self._as_parameter_ = ctypes.c_void_p()
        make(*arguments, ctypes.byref(self._as_parameter_))

    def __del__(self):
        load().backslice_free(self._as_parameter_)


def shape_from(function, *arguments, after=()) -> list[int]:
    """Return the result that a function writes into (shape, rank)."""
    shape, rank = (ctypes.c_int64 * MAX_RANK)(), ctypes.c_int32()
    function(*arguments, shape, ctypes.byref(rank), *after)
    return list(shape[: rank.value])
