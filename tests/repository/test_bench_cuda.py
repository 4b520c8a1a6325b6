"""backslice bench --device cuda, without a device: CuPy and PyTorch are fakes that compute with NumPy."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import backslice as bs
import pytest
from backslice import bench
from backslice.bench import command, places, worker, workloads
from command_line import fails, refuses

H200 = {"ordinal": 0, "name": "NVIDIA H200", "capability": (9, 0), "bytes": 150_000_000_000, "multiprocessors": 132}
PEERS = Path(bench.__file__).parent / "peers"

CUPY = """
import time
from types import SimpleNamespace
from numpy import *

class Event:
    def record(self): self.at = time.perf_counter()
    def synchronize(self): pass

cuda = SimpleNamespace(Event=Event, get_elapsed_time=lambda begin, end: 1e3 * (end.at - begin.at))
"""
TORCH = """
import time
from types import SimpleNamespace
import numpy

class Tensor(numpy.ndarray):
    def copy_(self, other): self[...] = other

class Event:
    def __init__(self, enable_timing): assert enable_timing
    def record(self): self.at = time.perf_counter()
    def synchronize(self): pass
    def elapsed_time(self, end): return 1e3 * (end.at - self.at)

uint8, float32 = "uint8", "float32"
cuda = SimpleNamespace(Event=Event)
set_default_device = lambda device: None
ones = lambda shape, dtype: numpy.ones(shape, dtype).view(Tensor)
"""
FAKES = {"cupy": CUPY, "torch": TORCH}


@pytest.fixture
def fake(request, tmp_path, monkeypatch):
    """Pretend that there is a device, and one library with arrays on it."""
    name = request.param
    if any(importlib.util.find_spec(real) for real in FAKES):
        pytest.skip("there is a real one")
    folder = tmp_path / "fakes"
    folder.mkdir()
    (folder / f"{name}.py").write_text(FAKES[name])
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(bs.cuda, "unavailable_reason", lambda: None)
    monkeypatch.setattr(bs.cuda, "devices", lambda: [H200])
    monkeypatch.setattr(bs.cuda, "versions", lambda: {"runtime": (13, 0), "driver": (13, 0)})
    return name


@pytest.mark.skipif(bs.cuda.is_available(), reason="there is a device")
def test_without_a_device_it_ends_with_the_reason_and_writes_nothing(tmp_path):
    fails(1, f"--device cuda: {bs.cuda.unavailable_reason()}", "bench", "--device", "cuda", cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_without_a_library_that_has_arrays_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(bs.cuda, "unavailable_reason", lambda: None)
    monkeypatch.setitem(places.CUDA.peers, "backslice", lambda: None)
    refuses(1, "--device cuda needs PyTorch or CuPy", "bench", "--device", "cuda", "-o", tmp_path / "results")
    assert list(tmp_path.iterdir()) == []


def test_misuse_is_refused():
    refuses(2, "--device is 'tpu', expected cpu or cuda", "bench", "--device", "tpu")
    known = "expected one of backslice, torch, jax, cupy"
    refuses(2, f"--peer is 'numpy', {known}", "bench", "--device", "cuda", "--peer", "numpy")
    refuses(2, "names are such as '(16384,16384)[4096:12288]'", "bench", "--device", "cuda", "--only", "abacus")


@pytest.mark.parametrize("fake", ["cupy"], indirect=True)
def test_a_run_compares_names_what_is_missing_and_draws(fake, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(places.CUDA.peers, "jax", lambda: None)
    command.run(tmp_path / "results", ["cupy", "jax"], "", 1, True, False, "cuda")
    shown = capsys.readouterr().out
    assert "Not installed, left out: jax" in shown and "gather" in shown and "cupy takes" in shown
    content = json.loads((tmp_path / "results" / "bench.json").read_text())
    assert content["machine"]["device"]["name"] == "NVIDIA H200"
    large, small = content["results"]
    assert large["seconds"].keys() >= {"backslice", "cupy"}
    assert large["limit_seconds"] > 0 and small["limit_seconds"] is None
    for peer, share in large["shares_of_limit"].items():
        assert share == pytest.approx(large["limit_seconds"] / large["seconds"][peer])
    assert large["how"]["strategy"] == "gather" and large["how"]["plan"].startswith("kernel chunks_of_16")
    assert (tmp_path / "results" / "bench.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("fake", ["torch"], indirect=True)
def test_a_peer_that_cannot_run_is_named_with_its_error(fake, tmp_path, capsys):
    command.run(tmp_path / "results", ["torch"], "", 1, True, False, "cuda")
    content = json.loads((tmp_path / "results" / "bench.json").read_text())
    for result in content["results"]:
        assert result["seconds"].keys() == {"backslice"}
        assert "AttributeError" in result["failures"]["torch"]  # the fake has no autograd


SAME = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import backslice_on_cuda_peer as ours, cupy_on_cuda_peer as theirs
from slices import index_of, result_shape
for kind in ("gradient", "forward", "many"):
    for dtype in ("float32", "uint8"):
        for index in ([[1, 4, None]], [[None, None, None], 0], [[None, None, -2]]):
            if kind == "many" and index[-1] != 0:
                continue
            case = {"kind": kind, "shape": [6, 5, 4], "index": index, "dtype": dtype, "slices": 5}
            expected = np.zeros((6, 5, 4), dtype)
            expected[index_of(case)] = 1
            if kind == "many":
                expected[...] = 1
            if kind == "forward":
                expected = np.ones(result_shape(case), dtype)
            for peer in (ours, theirs):
                found = peer.prepare(case)()
                assert found.dtype == dtype and np.array_equal(found, expected), (case, peer)
copied = ours.prepare({"kind": "copy", "bytes": 1000})
assert copied() is None and ours.seconds_of(copied, 3) > 0
assert ours.prepare({**case, "kind": "buffer"}) is None and theirs.prepare({**case, "kind": "buffer"}) is None
"""


@pytest.mark.parametrize("fake", ["cupy"], indirect=True)
def test_the_forms_compute_the_same(fake):
    run = subprocess.run([sys.executable, "-c", SAME, PEERS], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr


def test_a_peer_s_own_clock_is_used():
    asked = []

    def seconds_of(call, repeat):
        asked.append(repeat)
        return 1e-5 * repeat

    peer = SimpleNamespace(prepare=lambda workload: lambda: None, seconds_of=seconds_of)
    assert worker.answer(peer, {"kind": "gradient"}) == {"seconds": pytest.approx(1e-5), "how": {}}
    assert asked[:3] == [1, worker.QUEUED, 100]


def test_the_limit_is_a_copy_that_moves_as_many_bytes():
    band = workloads.ON_CUDA[0]
    read, written = 2**29, 2**30
    assert places.copy_of_as_many_bytes(band) == [{"kind": "copy", "bytes": (read + written) // 2}]
    assert places.copy_of_as_many_bytes(workloads.SMALL[0]) == []


def test_workloads_on_cuda_are_large_and_have_their_own_names():
    assert len({w.name for w in workloads.ON_CUDA}) == len(workloads.ON_CUDA)
    for w in workloads.ON_CUDA:
        if w.group in ("dense", "dtypes"):
            assert 2**29 <= w.output_bytes <= 2**30 + 2**28, w.name
            assert 0 < w.selected_bytes <= w.output_bytes, w.name
