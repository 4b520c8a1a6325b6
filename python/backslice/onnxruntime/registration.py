"""Registers backslice's operators with ONNX Runtime."""

from pathlib import Path
from typing import Any

from ..frameworks import check_version, imported
from ..linking import existing
from ..suggestions import checked_keywords

OLDEST = (1, 17)
DOMAIN = "backslice"


@checked_keywords
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
    return existing(path, "has no operators for ONNX Runtime", "them")


@checked_keywords
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
    runtime = imported("onnxruntime", "backslice.onnxruntime.session_options() needs ONNX Runtime")
    check_version(runtime.__version__, "backslice's operators need ONNX Runtime", OLDEST)
    return runtime
