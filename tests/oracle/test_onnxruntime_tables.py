"""Tests the tables that onnxruntime_tables.py prints."""

from typing import Any

import onnxruntime_tables
import pytest

TIMES = {"few": (4.04e-7, 3e-7), "large": (4.8701e-3, 1.6801e-3), "other": (3.4249e-4, 5e-5), "slice": (5e-7, 3e-7)}


def answered(name: str, arguments: str) -> Any:
    """Replace onnxruntime_speed.py; inputs take as long in both."""
    if name == "names":
        return {"few": 100, "large": 1, "other": 1}
    return TIMES[name] if arguments == "constants" else (TIMES[name][0],) * 2


def test_every_gradient_has_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    onnxruntime_tables.main(answered)
    assert capsys.readouterr().out.splitlines() == [
        "| small gradients of | training wheel | backslice | times | with inputs |",
        "|---|---|---|---|---|",
        "| few | 0.40 µs | 0.30 µs | 1.3\u00d7 | 1.00\u00d7 |",
        "",
        "| gradient of | training wheel | backslice | times | with inputs |",
        "|---|---|---|---|---|",
        "| large | 4.87 ms | 1.68 ms | 2.9\u00d7 | 1.00\u00d7 |",
        "| other | 342 µs | 50.0 µs | 6.8\u00d7 | 1.00\u00d7 |",
        "",
        "ONNX Runtime's own `Slice` of (8,8) takes 0.50 µs with constants, 0.50 µs with inputs.",
    ]
