"""The library of operators with objects that are not the expected ONNX Runtime."""

import ctypes
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_size_t, c_uint32, c_void_p
from typing import Any

import numpy as np
import pytest
from backslice import DTypeError, get_library
from backslice.onnxruntime import Status, checks, library_path, registration, session_options, status

SLOTS = 300  # more than any version's table that it uses
GetApi = CFUNCTYPE(c_void_p, c_uint32)
GetVersion = CFUNCTYPE(c_void_p)  # texts are passed by address, so they must stay alive
CreateStatus = CFUNCTYPE(c_void_p, c_int, c_char_p)
CreateDomain = CFUNCTYPE(c_void_p, c_char_p, POINTER(c_void_p))
GetMessage = CFUNCTYPE(c_void_p, c_void_p)
Release = CFUNCTYPE(None, c_void_p)


class ApiBase(ctypes.Structure):
    _fields_ = (("get_api", GetApi), ("get_version_string", GetVersion))


class Runtime:
    """A table of functions that records the statuses it was asked to make."""

    def __init__(self, version: bytes, newest: int) -> None:
        self.statuses: dict[int, tuple[int, bytes]] = {}
        self.texts: list[Any] = []
        self.asked: list[int] = []
        self.newest = newest
        self.released: list[int] = []
        self.functions = {
            0: CreateStatus(self.create_status),
            2: GetMessage(lambda status: self.address(self.statuses[status][1])),
            26: CreateDomain(lambda name, domain: self.create_status(1, b"no domain today")),
            93: Release(self.released.append),
        }
        pointers = (ctypes.cast(self.functions.get(i, Release(0)), c_void_p).value or 0 for i in range(SLOTS))
        self.table = (c_size_t * SLOTS)(*pointers)
        self.base = ApiBase(GetApi(self.get_api), GetVersion(lambda: self.address(version)))

    def address(self, text: bytes) -> int:
        self.texts.append(ctypes.create_string_buffer(text))
        return ctypes.addressof(self.texts[-1])

    def create_status(self, code: int, message: bytes) -> int:
        self.statuses[len(self.statuses) + 1] = code, message
        return len(self.statuses)

    def get_api(self, version: int) -> int:
        self.asked.append(version)
        return ctypes.addressof(self.table) if version <= self.newest else 0

    def register(self) -> tuple[int, bytes] | None:
        library = ctypes.CDLL(library_path())
        library.RegisterCustomOps.restype = c_void_p
        status = library.RegisterCustomOps(None, ctypes.byref(self.base))
        return None if status is None else self.statuses[status]


INVALID_ARGUMENT = 2


@pytest.mark.parametrize("version", ["1.16.3", "1.9.0", "0.4.0"])
def test_a_version_that_is_too_old_is_told_without_asking_it(version):
    runtime = Runtime(version.encode(), newest=16)
    code, message = runtime.register() or (0, b"")
    assert code == INVALID_ARGUMENT
    assert message.decode() == f"backslice's operators need ONNX Runtime 1.17 or later, but this is {version}"
    assert runtime.asked == [1]  # a runtime without version 17 would write to the error output


@pytest.mark.parametrize("version", ["2.0.0", "nightly", "", "1"])
def test_a_version_of_another_form_is_asked_for_the_interface(version):
    runtime = Runtime(version.encode(), newest=16)
    code, message = runtime.register() or (0, b"")
    assert code == INVALID_ARGUMENT and f"but this is {version}".encode() in message
    assert runtime.asked == [17, 1]


def test_a_refusal_of_onnx_runtimes_own_is_handed_back():
    runtime = Runtime(b"1.31.1", newest=31)
    assert runtime.register() == (1, b"no domain today")
    assert runtime.released == [1]  # the second version of ONNX Runtime; ours was kept
    assert runtime.register() == (1, b"no domain today")  # no incomplete domain was kept


@pytest.fixture
def without_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # type: ignore[arg-type]
    yield monkeypatch


def test_without_onnx_runtime_session_options_say_what_to_do(without_onnxruntime):
    with pytest.raises(ImportError, match="`pip install onnxruntime` installs it"):
        session_options()


class Options:
    """Session options that record what was registered, or refuse it."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}
        self.libraries: list[str] = []
        self.intra_op_num_threads = self.log_severity_level = 0

    def add_session_config_entry(self, key: str, value: str) -> None:
        self.entries[key] = value

    def register_custom_ops_library(self, path: str) -> None:
        self.libraries.append(path)


class Session:
    """Computes the models of the self-test."""

    def __init__(self, model: bytes, options: Options, providers: list[str]) -> None:
        self.is_gradient, self.options = b"SliceGrad" in model, options

    def run(self, outputs: None, feeds: dict[str, Any]) -> list[Any]:
        if not self.is_gradient:
            return [np.maximum(feeds["x"] @ feeds["x"], 0)]
        assert self.options.libraries
        return [np.concatenate([np.zeros((1, 2), np.float32), feeds["dY"], np.zeros((2, 2), np.float32)])]


@pytest.fixture
def runtime(without_onnxruntime: pytest.MonkeyPatch) -> Any:
    """Install a module in place of ONNX Runtime."""
    module: Any = type(sys)("onnxruntime")
    module.__version__, module.SessionOptions, module.InferenceSession = "1.31.1", Options, Session
    without_onnxruntime.setitem(sys.modules, "onnxruntime", module)
    without_onnxruntime.setattr("backslice.onnxruntime.registration.made", Counter())
    without_onnxruntime.setattr("backslice.onnxruntime.report.made", registration.made)
    return module


@pytest.mark.parametrize("version", ["1.16.3", "0.5.0", "1.9rc1"])
def test_session_options_of_an_old_version_are_refused(runtime, version):
    runtime.__version__ = version
    with pytest.raises(ImportError, match=rf"need ONNX Runtime 1.17 or later, but {version} is installed"):
        session_options()


@pytest.mark.parametrize("missing", ["__version__", "InferenceSession", "SessionOptions"])
def test_an_incomplete_onnx_runtime_is_reported(runtime, missing):
    delattr(runtime, missing)
    with pytest.raises(ImportError, match=rf"has no {missing}: its installation is incomplete; `pip install"):
        session_options()


@pytest.mark.parametrize("version", ["1.17.0", "1.100.0", "2.0", "1.18rc1", "nightly"])
def test_session_options_of_other_versions_have_the_operators(runtime, version):
    runtime.__version__ = version
    options = session_options()
    assert options.libraries == [library_path()] and options.entries == {}
    assert status().version == version and status().taken == 1 and status().left == {}
    assert set(status().self_tests.values()) == {"passed"}


def other_library(options: Options, path: str) -> None:
    raise OSError(f"{path}: wrong ELF class")


def damaged(session: Session, outputs: None, feeds: dict[str, Any]) -> list[Any]:
    return [np.zeros((4, 2), np.float32)]


def unloadable(session: Session, model: bytes, options: Options, providers: list[str]) -> None:
    Session.__init__(session, model, options, providers)
    if options.libraries and not session.is_gradient:
        raise RuntimeError("com.microsoft:FusedGemm(-1) is not a registered function/op")


FAILURES = {
    "library": ("Options", "register_custom_ops_library", other_library, "OSError: .*wrong ELF class"),
    "plain model": ("Session", "__init__", unloadable, "RuntimeError: com.microsoft:FusedGemm"),
    "backslice::SliceGrad": ("Session", "run", damaged, r"ArithmeticError: the result is \[\[0.0"),
}


@pytest.mark.parametrize("check", FAILURES)
def test_a_failed_check_is_named_in_one_warning_and_the_operators_are_left_out(runtime, check):
    kind, method, replacement, reason = FAILURES[check]
    name = {"Options": "SessionOptions", "Session": "InferenceSession"}[kind]
    setattr(runtime, name, type(kind, (getattr(runtime, name),), {method: replacement}))
    with pytest.warns(RuntimeWarning, match=f"the self-test '{check}' failed.*own, without.*{reason}") as warned:
        made = [session_options() for _ in range(3)]
    assert len(warned) == 1
    assert [options.libraries for options in made] == [[]] * 3
    assert status().taken == 0 and status().left == {f"'{check}' failed": 3}
    assert f"self-test '{check}'" in str(status()) and "failed: " in str(status())


def test_a_package_without_the_library_falls_back(runtime, monkeypatch):
    monkeypatch.setattr(registration, "__file__", "/nowhere/registration.py")
    with pytest.warns(RuntimeWarning, match="the self-test 'library' failed.*is not part of this build of backslice"):
        assert session_options().libraries == []


def test_before_any_options_status_runs_nothing(runtime):
    assert status() == Status("1.31.1")
    assert "1.31.1" in str(status())


def test_com_microsoft_is_for_models_with_a_slice_grad_that_import_it(runtime, tmp_path):
    entries = {"custom_op.SliceGrad.domain": "com.microsoft"}
    assert session_options(checks.gradient("com.microsoft")).entries == entries
    for model in (checks.gradient("backslice"), checks.PLAIN, b"", b"not a model", b"\xff" * 99, b"\x42\x7f"):
        assert session_options(model).entries == {}
        (tmp_path / "model.onnx").write_bytes(model)
        assert session_options(tmp_path / "model.onnx").entries == {}
    (tmp_path / "model.onnx").write_bytes(checks.gradient("com.microsoft"))
    assert session_options(tmp_path / "model.onnx").entries == session_options(str(tmp_path / "model.onnx")).entries
    assert session_options(tmp_path / "model.onnx").entries == entries


def test_a_model_of_another_type_is_refused(runtime):
    with pytest.raises(DTypeError, match="model is a list, expected a path or bytes, as InferenceSession takes them"):
        session_options([1])
    with pytest.raises(FileNotFoundError):
        session_options("missing.onnx")


def symbols(which: str) -> list[tuple[str, str]]:
    """Return the letter and the name of each dynamic symbol."""
    found = subprocess.run(["nm", "-D", which, library_path()], capture_output=True, text=True, check=True).stdout
    return [(line.split()[-2], line.split()[-1]) for line in found.splitlines()]


def test_only_onnx_runtimes_c_interface_crosses_the_boundary():
    """It exports one C function, and weak symbols from headers. It needs no symbol of ONNX Runtime."""
    assert [name for letter, name in symbols("--defined-only") if letter not in "VWuvw"] == ["RegisterCustomOps"]
    wanted = [name for _, name in symbols("--undefined-only")]
    assert wanted and not [name for name in wanted if name.startswith("Ort") or "11onnxruntime" in name]
    headers = subprocess.run(["objdump", "-p", library_path()], capture_output=True, text=True, check=True).stdout
    assert "NEEDED" in headers and "libonnxruntime" not in headers


def test_it_shares_the_packages_library():
    code = (
        "import ctypes, backslice, backslice.onnxruntime as b; ctypes.CDLL(b.library_path());"
        "assert {l.split()[-1] for l in open('/proc/self/maps') if 'libbackslice.' in l} == {backslice.get_library()}"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


# Sessions unload it when they end. Its threads and exit handlers must still be in memory.
UNLOADED = """
import _ctypes, ctypes, sys
library, shared = sys.argv[1:]
_ctypes.dlclose(ctypes.CDLL(library)._handle)
loaded = open("/proc/self/maps").read()
assert library in loaded and shared in loaded
"""


def test_it_stays_loaded_until_the_process_ends():
    command = [sys.executable, "-c", UNLOADED, library_path(), get_library()]
    assert subprocess.run(command, timeout=60).returncode == 0
