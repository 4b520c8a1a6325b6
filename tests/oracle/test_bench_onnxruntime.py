"""backslice bench runs its peers of ONNX Runtime: the training wheel, and the stock wheel with our operators."""

import json
import subprocess
import sys
from pathlib import Path

from backslice.bench.venvs import ensure

PEERS = {"onnxruntime": "onnxruntime-training", "onnxruntime_with_backslice": "onnxruntime"}


def test_both_peers_are_timed(tmp_path: Path) -> None:
    for venv in PEERS.values():
        ensure(venv)
    chosen = [word for peer in PEERS for word in ("--peer", peer)]
    command = [str(Path(sys.executable).with_name("backslice")), "bench", "--quick", *chosen, "-o", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for result in json.loads((tmp_path / "bench.json").read_text())["results"]:
        assert all(result["seconds"][peer] > 0 for peer in ("backslice", *PEERS)), result
