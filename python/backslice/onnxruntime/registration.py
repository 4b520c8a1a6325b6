"""Registers backslice's operators with ONNX Runtime."""

from pathlib import Path
from typing import Any

from ..errors import FailedPreconditionError

OLDEST = (1, 17)
DOMAIN = "backslice"


def library_path() -> str:
    """Return the library with the operators, for ``SessionOptions.register_custom_ops_library``.

    Programs in C and C++ give it to ``RegisterCustomOpsLibrary_V2``.

    Returns
    -------
    str
        An absolute path.

    Raises
    ------
    FailedPreconditionError
        The package was not installed by pip, and has no such library.

    Examples
    --------
    >>> options = onnxruntime.SessionOptions()
    >>> options.register_custom_ops_library(library_path())
    """
    path = Path(__file__).resolve().with_name("libbackslice_onnxruntime.so")
    if not path.exists():
        raise FailedPreconditionError(
            f"{path} does not exist: this build of backslice has no operators for ONNX Runtime. "
            "Install the package with pip, which builds them"
        )
    return str(path)


def session_options() -> Any:
    """Return session options with backslice's operators registered.

    Registering them again in the same options is an error of ONNX Runtime's when a session is made.

    Returns
    -------
    onnxruntime.SessionOptions
        New ones, to be changed further as needed.

    Raises
    ------
    ImportError
        ONNX Runtime is not installed, or is older than 1.17.

    Examples
    --------
    >>> options = session_options()
    >>> options.intra_op_num_threads = 4
    >>> session = onnxruntime.InferenceSession("training.onnx", options)
    """
    options = _runtime().SessionOptions()
    options.register_custom_ops_library(library_path())
    return options


def _runtime() -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError(
            "backslice.onnxruntime.session_options() needs ONNX Runtime, which cannot be imported here; "
            f"`pip install onnxruntime` installs it ({error})"
        ) from error
    if tuple(int(part) for part in onnxruntime.__version__.split(".")[:2]) < OLDEST:
        raise ImportError(
            f"backslice's operators need ONNX Runtime {OLDEST[0]}.{OLDEST[1]} or later, "
            f"but {onnxruntime.__version__} is installed"
        )
    return onnxruntime
