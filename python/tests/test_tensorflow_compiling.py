"""How the kernels for TensorFlow are compiled and kept, with a compiler and a TensorFlow that only look like ones."""

import concurrent.futures
import importlib
import os
import stat
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import backslice as bs
import pytest

COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then echo "fake 1.0"; exit 0; fi
echo compiled >> {log}
{body}
while [ "$1" != -o ]; do shift; done
echo library > "$2"
"""


def fake_tensorflow(folder: Path, version: str = "2.99.0") -> Any:
    header = folder / "include/tensorflow/core/kernels/ragged_tensor_variant.h"
    header.parent.mkdir(parents=True, exist_ok=True)
    header.touch()
    tf: Any = types.ModuleType("tensorflow")
    tf.__version__ = version
    tf.version = types.SimpleNamespace(GIT_VERSION=f"v{version}", COMPILER_VERSION="clang")
    tf.sysconfig = types.SimpleNamespace(
        get_include=lambda: str(folder / "include"),
        get_lib=lambda: str(folder),
        get_compile_flags=lambda: [f"-I{folder}/include", "--std=c++17"],
        get_link_flags=lambda: [f"-L{folder}"],
    )
    return tf


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module, without the package's own __init__, which needs the real TensorFlow."""
    package = types.ModuleType("backslice.tensorflow")
    package.__path__ = [str(Path(bs.__file__).with_name("tensorflow"))]
    for name in [name for name in sys.modules if name.startswith("backslice.tensorflow")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "backslice.tensorflow", package)
    monkeypatch.setitem(sys.modules, "tensorflow", fake_tensorflow(tmp_path / "tf"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "include").mkdir()
    monkeypatch.setattr(bs, "get_include", lambda: str(tmp_path / "include"), raising=False)
    monkeypatch.setattr(bs, "get_library", lambda: str(tmp_path / "libbackslice.so"), raising=False)
    use_compiler(tmp_path, monkeypatch)
    yield importlib.import_module("backslice.tensorflow.compiling")
    for name in ("compiling", "compiler", "private_cache"):
        sys.modules.pop(f"backslice.tensorflow.{name}", None)


def use_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str = "", name: str = "c++") -> None:
    script = folder / "bin" / name
    script.parent.mkdir(exist_ok=True)
    script.write_text(COMPILER.format(log=folder / "log", body=body))
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))


def compilations(folder: Path) -> int:
    log = folder / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_nothing_is_compiled_until_it_is_asked_for(build: Any, tmp_path: Path) -> None:
    path, reason = build.available()
    assert path is None and "not compiled yet" in reason
    assert compilations(tmp_path) == 0 and not (tmp_path / "cache").exists()


def test_what_was_compiled_is_found_again(build: Any, tmp_path: Path) -> None:
    path = build.build(progress=False)
    assert path.read_text() == "library\n"
    assert build.available() == (path, "")
    assert build.build(progress=False) == path and compilations(tmp_path) == 1


def test_the_cache_is_private(build: Any, tmp_path: Path) -> None:
    path = build.build(progress=False)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) & 0o022 == 0


@pytest.mark.parametrize("part", ["folder", "file"])
def test_what_others_may_have_written_is_refused(build: Any, part: str) -> None:
    path = build.build(progress=False)
    (path.parent if part == "folder" else path).chmod(0o777)
    found, reason = build.available()
    assert found is None and "has mode 0777" in reason and "remove it" in reason
    with pytest.raises(build.BuildError, match="has mode 0777"):
        build.build(progress=False)


def test_a_cache_of_somebody_else_is_refused(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    build.build(progress=False)
    uid = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    found, reason = build.available()
    assert found is None and f"belongs to user {uid}" in reason


def test_a_link_in_place_of_the_library_is_refused(build: Any, tmp_path: Path) -> None:
    path = build.build(progress=False)
    path.rename(tmp_path / "elsewhere.so")
    path.symlink_to(tmp_path / "elsewhere.so")
    assert build.available()[0] is None


def test_another_tensorflow_gets_its_own(build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build.build(progress=False)
    monkeypatch.setitem(sys.modules, "tensorflow", fake_tensorflow(tmp_path / "tf", "2.99.1"))
    assert build.available()[0] is None
    second = build.build(progress=False)
    assert second != first and "2.99.1" in second.name and compilations(tmp_path) == 2


def test_another_backslice_gets_its_own(build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build.build(progress=False)
    monkeypatch.setattr(bs, "__version__", "99.0.0")
    assert build.available()[0] is None and build.build(progress=False) != first


def test_changed_headers_are_compiled_again(build: Any, tmp_path: Path) -> None:
    first = build.build(progress=False)
    (tmp_path / "include" / "new.h").write_text("// changed")
    assert build.available()[0] is None and build.build(progress=False) != first


def test_a_compiler_that_fails_is_quoted(build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_compiler(tmp_path, monkeypatch, body="echo 'kernels.cc:1: error: no such header' >&2; exit 7")
    with pytest.raises(build.BuildError, match=r"exit status 7:\nkernels.cc:1: error: no such header"):
        build.build(progress=False)
    assert build.available()[0] is None
    assert [path.suffix for path in (tmp_path / "cache/backslice/tensorflow").iterdir()] == [".lock"]


def test_without_a_compiler_the_reason_says_so(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", "/nonexistent")
    assert build.available() == (None, "there is no C++ compiler: install g++ or clang++, or set CXX")
    with pytest.raises(build.BuildError, match="no C\\+\\+ compiler"):
        build.build(progress=False)


def test_a_compiler_that_does_not_run_is_named(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/nonexistent/c++")
    assert "CXX is '/nonexistent/c++', which does not work" in build.available()[1]


def test_a_command_that_cannot_be_read_is_named(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", 'g++ "')
    assert "CXX is 'g++ \"', which is no command" in build.available()[1]


def test_a_compiler_may_say_its_version_in_any_encoding(
    build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "bin" / "latin"
    script.write_bytes(b"#!/bin/sh\necho 'version \xe9'\n")
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    assert "not compiled yet" in build.available()[1]


def test_without_a_home_the_reason_says_so(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", nowhere)
    assert build.available() == (None, "there is no home folder to keep libraries in: set XDG_CACHE_HOME or HOME")
    with pytest.raises(build.BuildError, match="no home folder"):
        build.build(progress=False)


def test_a_cache_that_cannot_be_made_is_told(build: Any, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(build.BuildError, match=str(tmp_path / "cache")):
        build.build(progress=False)
    path, reason = build.available()
    assert path is None and reason


def test_a_tensorflow_without_headers_is_told(build: Any, tmp_path: Path) -> None:
    (tmp_path / "tf/include/tensorflow/core/kernels/ragged_tensor_variant.h").unlink()
    assert "has no C++ headers" in build.available()[1]


def test_a_package_without_the_shared_library_is_told(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bs.linking, "_PACKAGE", Path("/nonexistent"))
    monkeypatch.setattr(bs, "get_library", bs.linking.get_library)
    assert "has no shared library" in build.available()[1]


def test_progress_goes_to_the_error_output(build: Any, capsys: pytest.CaptureFixture[str]) -> None:
    build.build()
    shown = capsys.readouterr()
    assert "Compiling backslice's kernels for TensorFlow 2.99.0 with c++" in shown.err and "done after" in shown.err
    assert shown.out == ""


def test_two_at_once_compile_once(build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock is a file's, so it is the same for threads as for processes."""
    use_compiler(tmp_path, monkeypatch, body="sleep 0.3")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        paths = set(pool.map(build.build, [False, False]))
    assert len(paths) == 1 and compilations(tmp_path) == 1


def test_what_is_no_library_is_refused(build: Any) -> None:
    with pytest.raises(build.BuildError, match="cannot be loaded"):
        build.load(build.build(progress=False))
