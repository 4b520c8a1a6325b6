"""The library with the handlers, registered with XLA. Importing this module imports JAX."""

import ctypes
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from .. import cuda
from ..errors import Error
from ..frameworks import adapter_library, check_version, imported

OLDEST = (0, 10)
TESTED = "0.10.2 and 0.11.2"

jax = imported("jax", "backslice.jax needs JAX")  # which needs jaxlib
jaxlib = imported("jaxlib", "backslice.jax needs JAX")

HANDLERS = (
    "backslice_multi_slice",
    "backslice_multi_slice_grad",
    "backslice_multi_slice_add",
    "backslice_shard_of_gradient",
    "backslice_slices_of_shard",
    "backslice_sparse_slice_grad",
    "backslice_unwritten",
)
ON_CUDA = (
    "backslice_multi_slice",
    "backslice_multi_slice_grad",
    "backslice_multi_slice_add",
    "backslice_sparse_slice_grad",
)  # a library that is built with CUDA has each of them a second time, as NAME_cuda
PATH = Path(__file__).resolve().with_name("libbackslice_jax.so")


def _register() -> ctypes.CDLL:
    """The library, which stays loaded as long as the process: XLA keeps the addresses of its functions."""
    adapter_library(PATH)
    try:
        library = ctypes.CDLL(str(PATH))
        _check_interface(*divmod(library.backslice_xla_interface(), 1000))
        for name in HANDLERS:
            jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(library, name)), platform="cpu")
        for name in ON_CUDA if has_cuda(library) else ():  # XLA keeps them until it has that platform, if it ever does
            jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(library, f"{name}_cuda")), platform="CUDA")
    except Exception as error:  # jaxlib's own types of error differ from version to version
        raise ImportError(
            f"backslice's handlers cannot be registered with jaxlib {jaxlib.__version__}; they are tested with jaxlib "
            f"{TESTED}, compiled with the headers of the older one ({error})"
        ) from error
    return library


def has_cuda(library: ctypes.CDLL) -> bool:
    return hasattr(library, "backslice_cuda_scratch")


def _check_interface(major: int, minor: int) -> None:
    """Check the version of XLA's interface. XLA itself checks only when it starts, and then nothing of JAX works."""
    header = Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h"
    text = header.read_text() if header.exists() else ""
    found = [int(number) for number in re.findall(r"#define XLA_FFI_API_(?:MAJOR|MINOR) (\d+)", text)]
    if found and (found[0] != major or found[1] < minor):
        raise ValueError(
            f"they are compiled for version {major}.{minor} of XLA's interface, but this jaxlib has "
            f"{found[0]}.{found[1]}"
        )


@contextmanager
def names_of_jax() -> Iterator[None]:
    """Guard imports of modules that use JAX's names: if one is missing, the error lists the supported versions."""
    try:
        yield
    except (ImportError, AttributeError) as error:
        raise ImportError(
            f"backslice.jax is tested with JAX {TESTED}, but {getattr(jax, '__version__', 'an unknown version')} is "
            f"installed, with jaxlib {jaxlib.__version__}, which lacks something that it uses ({error}); install a "
            f"version of JAX that is tested, or a later one of backslice"
        ) from error


check_version(jaxlib.__version__, "backslice.jax needs jaxlib", OLDEST)
_library = _register()
PLATFORMS = frozenset({"cpu", "cuda"} if has_cuda(_library) else {"cpu"})  # for which there are handlers


def cuda_scratch(slices: int, rank: int) -> int:
    """Return the bytes of scratch memory for a gradient of several slices on a CUDA device."""
    function = _library.backslice_cuda_scratch
    function.argtypes, function.restype = [ctypes.c_longlong, ctypes.c_int], ctypes.c_longlong
    return int(function(slices, rank))


@cache
def runs_on_cuda() -> bool:
    """Whether the kernels are compiled for the CUDA devices of this machine. Where there are none, the program is for
    another machine."""
    try:
        found = cuda.devices()
    except Error:
        return True
    oldest = divmod(int(_library.backslice_cuda_oldest()), 10)
    return all(tuple(device["capability"]) >= oldest for device in found)
