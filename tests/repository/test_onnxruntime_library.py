"""The library of operators with something that is not the ONNX Runtime that it expects."""

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_size_t, c_uint32, c_void_p
from typing import Any
from unittest.mock import MagicMock

import pytest
from backslice import get_library
from backslice.onnxruntime import library_path, session_options

SLOTS = 300  # more than any version's that it uses
GetApi = CFUNCTYPE(c_void_p, c_uint32)
GetVersion = CFUNCTYPE(c_void_p)  # texts are handed out by their addresses, so that they stay
CreateStatus = CFUNCTYPE(c_void_p, c_int, c_char_p)
CreateDomain = CFUNCTYPE(c_void_p, c_char_p, POINTER(c_void_p))
GetMessage = CFUNCTYPE(c_void_p, c_void_p)
Release = CFUNCTYPE(None, c_void_p)


class ApiBase(ctypes.Structure):
    _fields_ = (("get_api", GetApi), ("get_version_string", GetVersion))


class Runtime:
    """A table of functions that remembers the statuses it was asked to make."""

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
    assert runtime.asked == [1]  # one that lacks version 17 would write to the error output


@pytest.mark.parametrize("version", ["2.0.0", "nightly", "", "1"])
def test_a_version_of_another_form_is_asked_for_the_interface(version):
    runtime = Runtime(version.encode(), newest=16)
    code, message = runtime.register() or (0, b"")
    assert code == INVALID_ARGUMENT and f"but this is {version}".encode() in message
    assert runtime.asked == [17, 1]


def test_a_refusal_of_onnx_runtimes_own_is_handed_back():
    runtime = Runtime(b"1.31.1", newest=31)
    assert runtime.register() == (1, b"no domain today")
    assert runtime.released == [1]  # that of ONNX Runtime; ours is the second
    assert runtime.register() == (1, b"no domain today")  # nothing half-made was kept


@pytest.fixture
def without_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # type: ignore[arg-type]
    yield monkeypatch


def test_without_onnx_runtime_session_options_say_what_to_do(without_onnxruntime):
    with pytest.raises(ImportError, match="`pip install onnxruntime` installs it"):
        session_options()


def options_of(version: str, patch: pytest.MonkeyPatch) -> Any:
    module: Any = type(sys)("onnxruntime")
    module.__version__, module.SessionOptions = version, MagicMock
    patch.setitem(sys.modules, "onnxruntime", module)
    return session_options()


@pytest.mark.parametrize("version", ["1.16.3", "0.5.0", "1.9rc1"])
def test_session_options_of_an_old_version_are_refused(without_onnxruntime, version):
    with pytest.raises(ImportError, match=rf"need ONNX Runtime 1.17 or later, but {version} is installed"):
        options_of(version, without_onnxruntime)


@pytest.mark.parametrize("version", ["1.17.0", "1.100.0", "2.0", "1.18rc1", "nightly"])
def test_session_options_of_other_versions_have_the_operators(without_onnxruntime, version):
    options = options_of(version, without_onnxruntime)
    options.register_custom_ops_library.assert_called_once_with(library_path())


def test_it_exports_one_function_and_shares_the_packages_library():
    symbols = subprocess.run(["nm", "-D", "--defined-only", library_path()], capture_output=True, text=True).stdout
    assert [line.split()[2] for line in symbols.splitlines() if line.split()[1] == "T"] == ["RegisterCustomOps"]
    code = (
        "import ctypes, backslice, backslice.onnxruntime as b; ctypes.CDLL(b.library_path());"
        "assert {l.split()[-1] for l in open('/proc/self/maps') if 'libbackslice.' in l} == {backslice.get_library()}"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


# Sessions unload it when they end; its threads, and what it asked the system to call at exit, are still there.
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
