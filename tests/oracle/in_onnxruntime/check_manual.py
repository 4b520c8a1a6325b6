"""The examples of the manual's page on ONNX Runtime, from the first to the last, in one folder and one session."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "onnxruntime.md"


def test_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```\{code-block\} python\n(.*?)^```", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    session: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), session)
