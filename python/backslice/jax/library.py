"""The library with the handlers, registered with XLA. Importing this module imports JAX."""

import ctypes
from pathlib import Path

OLDEST = (0, 10)

try:
    import jax
    import jaxlib
except ImportError as error:
    raise ImportError(
        f"backslice.jax needs JAX, which cannot be imported here; `pip install jax` installs it ({error})"
    ) from error

HANDLERS = (
    "backslice_multi_slice",
    "backslice_multi_slice_grad",
    "backslice_multi_slice_add",
    "backslice_shard_of_gradient",
    "backslice_slices_of_shard",
    "backslice_sparse_slice_grad",
)
PATH = Path(__file__).resolve().with_name("libbackslice_jax.so")


def _check_version() -> None:
    if tuple(int(part) for part in jaxlib.__version__.split(".")[:2]) < OLDEST:
        raise ImportError(
            f"backslice.jax needs jaxlib {OLDEST[0]}.{OLDEST[1]} or later, but {jaxlib.__version__} is installed"
        )


def _register() -> ctypes.CDLL:
    """The library, which stays loaded as long as the process: XLA keeps the addresses of its functions."""
    if not PATH.exists():
        raise ImportError(
            f"{PATH} does not exist: this build of backslice has no handlers for JAX. They are compiled where jaxlib's "
            "headers are: install backslice's wheel, or install jaxlib first and build with `pip install "
            "--no-build-isolation`"
        )
    try:
        library = ctypes.CDLL(str(PATH))
        for name in HANDLERS:
            jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(library, name)), platform="cpu")
    except Exception as error:  # jaxlib's own types of error differ from version to version
        raise ImportError(
            f"backslice's handlers cannot be registered with jaxlib {jaxlib.__version__}; they are known to work with "
            f"jaxlib 0.10 to 0.12 ({error})"
        ) from error
    return library


_check_version()
_library = _register()
