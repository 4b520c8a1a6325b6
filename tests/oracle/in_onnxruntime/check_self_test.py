"""The self-test in the real ONNX Runtime: it passes quickly, and ONNX Runtime works if it fails."""

import shutil
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import models
import numpy as np
import onnxruntime as ort
import pytest
from backslice.onnxruntime import library_path, registration, session_options, status

X = np.ones((4, 4), np.float32)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    registration.self_test.cache_clear()
    yield
    registration.self_test.cache_clear()


def values(options: Any) -> Any:
    model = models.gemm_and_relu().SerializeToString()
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, {"x": X})[0]


def test_it_passes_without_a_warning_and_in_milliseconds() -> None:
    seconds = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            start = time.process_time()  # others may keep the machine busy
            session_options()
            seconds.append(time.process_time() - start)
    assert seconds[0] < 0.1 and seconds[1] < 0.01  # about 10 ms, then less than one
    assert set(status().self_tests.values()) == {"passed"} and status().version == ort.__version__


@pytest.mark.parametrize("content", [b"", b"\x7fELF for another machine", None])
def test_a_library_that_cannot_be_loaded_leaves_onnx_runtime_as_it_is(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "libbackslice_onnxruntime.so"
    if content is None:
        shutil.copy(shutil.which("cat") or "", path)  # one that loads, and has no operators
    else:
        path.write_bytes(content)
    monkeypatch.setattr(registration, "library_path", lambda: str(path))
    with pytest.warns(RuntimeWarning, match=r"the self-test 'library' failed, so session_options\(\) returns") as told:
        options = session_options()
        session_options()
    assert len(told) == 1 and "\n" not in str(told[0].message)
    assert values(options).tobytes() == values(ort.SessionOptions()).tobytes()
    assert status().self_tests["library"].startswith("failed: ")


def test_another_copy_of_the_library_adds_nothing(tmp_path: Path) -> None:
    copy = tmp_path / "copy" / "lib.so"
    copy.parent.mkdir()
    shutil.copy(library_path(), copy)
    (tmp_path / "lib").symlink_to(Path(library_path()).parents[1] / "lib")
    options = session_options()
    options.register_custom_ops_library(str(copy))
    assert values(options).tobytes() == values(ort.SessionOptions()).tobytes()
