"""SliceGrad inside the training wheel: the speed of backslice's kernel compared with its own."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from backslice.bench.venvs import ensure
from backslice.onnxruntime import library_path

PROGRAM = Path(__file__).with_name("onnxruntime_speed.py")
LEAST = {"crop": 2.0, "inner step": 3.0}  # required speedup by the prefix of the name; 1 for all others

pytestmark = pytest.mark.skipif(
    "BACKSLICE_SPEED_TESTS" not in os.environ, reason="make oracle-speed, on a quiet machine"
)


def measured(name: str, arguments: str) -> Any:
    """Measure in a new process, so that no gradient depends on earlier ones."""
    command = [str(ensure("onnxruntime-training")), str(PROGRAM), library_path(), name, arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("arguments", ["constants", "inputs"])
def test_every_gradient_is_fast(arguments: str) -> None:
    slow = []
    for name in measured("names", arguments):
        theirs, ours = measured(name, arguments)
        print(
            f"{name}, {arguments}: ONNX Runtime {theirs * 1e6:.2f} us, backslice {ours * 1e6:.2f} us, "
            f"{theirs / ours:.2f} times"
        )
        least = next((times for kind, times in LEAST.items() if name.startswith(kind)), 1.0)
        if theirs / ours < least:
            slow.append(f"{name}: {theirs / ours:.2f} times as fast, expected {least}")
    assert not slow, slow


@pytest.mark.parametrize("arguments", ["constants", "inputs"])
def test_a_small_node_is_fast_beside_slice(arguments: str) -> None:
    """It takes at most 5 us longer."""
    slice_node, ours = (seconds * 1e6 for seconds in measured("slice", arguments))
    print(f"one node, {arguments}: Slice {slice_node:.2f} us, SliceGrad of backslice {ours:.2f} us")
    assert ours - slice_node < 5
