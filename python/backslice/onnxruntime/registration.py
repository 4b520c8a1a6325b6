"""Registers backslice's operators with ONNX Runtime."""

from collections import Counter
from functools import cache, partial
from pathlib import Path
from typing import Any

from ..errors import FailedPreconditionError
from ..frameworks import adapter_library, check_version, imported
from ..self_test import SelfTest
from ..suggestions import checked_keywords
from . import checks
from .model_format import MICROSOFT, Model, needs_microsoft

OLDEST = (1, 17)
made: Counter[bool] = Counter()  # how many session options there were, with the operators and without


@checked_keywords
def library_path() -> str:
    """Return the library with the operators, for ``SessionOptions.register_custom_ops_library``.

    Programs in C and C++ give it to ``RegisterCustomOpsLibrary_V2``. The operators are in domain ``backslice``. If the
    session config entry ``custom_op.SliceGrad.domain`` is ``com.microsoft`` at that time, SliceGrad is in that domain
    as well: for models that import the domain, and no others.

    Returns
    -------
    str
        An absolute path.

    Raises
    ------
    ImportError
        The package was built without its adapters; the message names the command that builds them.

    Examples
    --------
    >>> options = onnxruntime.SessionOptions()
    >>> options.register_custom_ops_library(library_path())
    """
    return str(adapter_library(Path(__file__).resolve().with_name("libbackslice_onnxruntime.so")))


@checked_keywords
def session_options(model: Model | None = None) -> Any:
    """Return session options with backslice's operators registered.

    They serve every model that does not need ``com.microsoft::SliceGrad``, which graphs from onnxruntime-training
    have. Give such a model here as well. The first call tests the operators; if they fail, there is a warning, and the
    options are ONNX Runtime's own.

    Parameters
    ----------
    model : str, os.PathLike or bytes, optional
        The model that the session is for. If it imports domain ``com.microsoft`` and has a SliceGrad, that operator is
        registered, too; the options are then for models that import this domain.

    Returns
    -------
    onnxruntime.SessionOptions
        New ones, to be changed further as needed.

    Raises
    ------
    ImportError
        ONNX Runtime is not installed, is incomplete, or is older than 1.17.
    OSError
        The file of the model cannot be read.
    DTypeError
        `model` is neither a path nor bytes.

    Examples
    --------
    >>> options = session_options("training.onnx")
    >>> options.intra_op_num_threads = 4
    >>> session = onnxruntime.InferenceSession("training.onnx", options)
    """
    runtime = _runtime()
    with_microsoft = model is not None and needs_microsoft(model)
    passed = self_test(runtime).passed()
    made[passed] += 1
    return _registered(runtime, with_microsoft) if passed else runtime.SessionOptions()


@cache
def self_test(runtime: Any) -> SelfTest:
    def with_options(check: Any, *, with_microsoft: bool = False) -> None:
        options = _registered(runtime, with_microsoft)
        options.log_severity_level = 4  # a failure is reported once, by the warning
        check(runtime, options)

    return SelfTest(
        "backslice.onnxruntime",
        "session_options() returns ONNX Runtime's own, without backslice's operators",
        {
            "library": partial(_registered, runtime, with_microsoft=False),
            "plain model": partial(with_options, checks.check_plain),
            "backslice::SliceGrad": partial(with_options, checks.check_gradient),
            "com.microsoft::SliceGrad": partial(with_options, checks.check_microsoft, with_microsoft=True),
        },
    )


def _registered(runtime: Any, with_microsoft: bool) -> Any:
    options = _options_class(runtime)()
    options.with_microsoft = with_microsoft
    if with_microsoft:
        options.add_session_config_entry("custom_op.SliceGrad.domain", MICROSOFT)
    options.register_custom_ops_library(library_path())
    return options


@cache
def _options_class(runtime: Any) -> Any:
    class SessionOptions(runtime.SessionOptions):  # type: ignore[misc]
        """ONNX Runtime's, which refuse a library whose operators ONNX Runtime does not accept beside backslice's.

        ONNX Runtime itself notices that when a session is made, and names neither library.
        """

        with_microsoft = False

        def register_custom_ops_library(self, path: str) -> None:
            if path != library_path():
                _check_beside(runtime, path, self.with_microsoft)
            super().register_custom_ops_library(path)

    return SessionOptions


def _check_beside(runtime: Any, path: str, with_microsoft: bool) -> None:
    both, alone = _registered(runtime, with_microsoft), runtime.SessionOptions()
    for options in (both, alone):
        runtime.SessionOptions.register_custom_ops_library(options, path)
        options.log_severity_level = 4  # the exception says it
    try:
        checks.load(runtime, both, checks.RELU)
    except Exception as error:
        checks.load(runtime, alone, checks.RELU)  # if that fails too, the error is not about backslice
        raise FailedPreconditionError(
            f"ONNX Runtime does not accept {path} beside backslice's operators ({error}): "
            "register it with onnxruntime.SessionOptions() instead"
        ) from error


def _runtime() -> Any:
    need = "backslice.onnxruntime.session_options() needs ONNX Runtime"
    runtime = imported("onnxruntime", need, "__version__", "InferenceSession", "SessionOptions")
    check_version(runtime.__version__, "backslice's operators need ONNX Runtime", OLDEST)
    return runtime
