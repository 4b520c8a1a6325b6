"""backslice bench, as a user runs it, on two small workloads."""

import io
import json
import subprocess
import sys
from types import SimpleNamespace

import backslice as bs
import pytest
import rich.console
from backslice.bench import places, report, runner, venvs, worker, workloads
from command_line import backslice, fails


def test_quick_run_writes_a_table_json_and_a_plot(tmp_path):
    run = backslice("bench", "--quick", "--peer", "numpy", "-o", str(tmp_path))
    assert run.returncode == 0, run.stderr + run.stdout
    assert "geometric mean" in run.stdout and "numpy" in run.stdout
    content = json.loads((tmp_path / "bench.json").read_text())
    assert [r["workload"]["name"] for r in content["results"]] == [w.name for w in workloads.QUICK]
    assert all(r["seconds"]["backslice"] > 0 and r["seconds"]["numpy"] > 0 for r in content["results"])
    assert content["results"][0]["limit_seconds"] > 0
    assert "strategy" in run.stdout and "cached" in run.stdout
    for result, workload in zip(content["results"], workloads.QUICK, strict=True):
        cost = bs.Selection.from_index(workload.shape, tuple(slice(*item) for item in workload.index)).cost("float32")
        assert result["how"] == {key: cost[key] for key in ("strategy", "pieces", "plan")}
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")


def test_unknown_peers_and_workloads_are_one_line_with_a_suggestion(tmp_path):
    known = f"expected one of {', '.join(places.CPU.peers)}"
    fails(2, f"--peer is 'abacus', {known}\n", "bench", "--peer", "abacus", cwd=tmp_path)
    fails(
        2, f"--peer is 'tensorflw', {known}; did you mean 'tensorflow'?", "bench", "--peer", "tensorflw", cwd=tmp_path
    )
    fails(2, "which no workload's name contains; names are such as", "bench", "--only", "abacus", cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_results_is_named_and_older_results_are_kept(tmp_path):
    quick = ("bench", "--quick", "--peer", "numpy", "--only", "64")
    run = backslice(*quick, cwd=tmp_path)
    folder = tmp_path.resolve() / "backslice-bench"
    assert f"Results go to {folder}\n" in run.stdout
    assert f"Wrote bench.json and bench.png into {folder}\n" in run.stdout
    assert {path.name for path in folder.iterdir()} == {"bench.json", "bench.png"}
    (folder / "bench.json").write_text("precious")
    fails(1, "bench.json exists; --force overwrites it", *quick, cwd=tmp_path)
    (folder / "bench.png").unlink()
    assert (folder / "bench.json").read_text() == "precious"
    fails(1, "is not a folder; choose another with -o", *quick, "-o", folder / "bench.json", cwd=tmp_path)


def test_variables_that_mean_nothing_end_a_run_before_it_starts(tmp_path):
    bad = {"BACKSLICE_NUM_THREADS": "3x"}
    fails(1, 'BACKSLICE_NUM_THREADS is "3x"', "bench", "--quick", cwd=tmp_path, env=bad)
    assert list(tmp_path.iterdir()) == []


def test_the_legends_of_the_plot_cover_nothing(tmp_path):
    from matplotlib import pyplot

    results = [runner.Result(w, 0.001, {"backslice": 0.002, "numpy": 0.1}) for w in workloads.ALL_WORKLOADS]
    figure = report.plot(results)
    figure.canvas.draw()
    legends = [box.get_window_extent() for box in figure.legends]
    assert len(legends) == 1
    for axes in figure.axes:
        assert axes.get_legend() is None
        assert not any(axes.get_tightbbox().overlaps(legend) for legend in legends)
    assert all(figure.bbox.containsx(legend.x0) and figure.bbox.containsx(legend.x1) for legend in legends)
    pyplot.close(figure)


class Compiling:
    """A peer whose first call takes longer than SLOW, by its own clock."""

    COMPILES = True

    def __init__(self):
        self.calls = 0

    def prepare(self, workload):
        return lambda: None

    def seconds_of(self, call, repeat):
        self.calls += repeat
        return 7.5 if self.calls == 1 else 0.5 * repeat


def test_compiling_is_told_apart_from_the_time_of_a_call():
    workload = workloads.QUICK[0].to_dict()
    assert worker.answer(Compiling(), workload) == {"seconds": 0.5, "compiling": 7.0, "how": {}}
    plain = Compiling()
    plain.COMPILES = False
    assert worker.answer(plain, workload) == {"seconds": 7.5, "how": {}}  # it is not called again
    assert plain.calls == 1


def test_compiling_has_its_own_table(tmp_path):
    results = [runner.Result(w, None, {"backslice": 0.002, "jax": 0.1}) for w in workloads.QUICK]
    assert report.compiling_table(results) is None
    results[0].compiling = {"jax": 1.5}
    console = rich.console.Console(record=True, width=100, file=io.StringIO())
    console.print(report.compiling_table(results))
    text = console.export_text()
    assert "Tracing and compiling" in text and "1.5 s" in text
    assert workloads.QUICK[0].name in text and workloads.QUICK[1].name not in text
    report.save_json(results, tmp_path / "bench.json", {})
    first, *others = json.loads((tmp_path / "bench.json").read_text())["results"]
    assert first["compiling_seconds"] == {"jax": 1.5} and all(r["compiling_seconds"] == {} for r in others)


def test_a_peer_that_dies_is_shown_as_out_of_memory():
    result = runner.Result(workloads.QUICK[0])
    child = runner.Child("numpy", places.CPU.installed_peers()["numpy"])
    child.ask(workloads.QUICK[1].to_dict())
    child.process.kill()
    runner.measure(result, child)
    assert result.failures == {"numpy": "out of memory"}
    runner.measure(runner.Result(workloads.QUICK[1]), child)  # it is restarted
    assert child.process.poll() is None
    child.stop()


DASK_PEERS = ("backslice", "dask_pad", "dask_assignment", "dask_copy")


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask_workloads_are_timed_beside_dask_s_own_forms(scheduler):
    sizes = {"shape": (40, 30), "chunks": (8, 8), "dy_chunks": (8, 8)}
    some = [workloads.chunked("5:-5", ((5, -5, None),), scheduler=scheduler, threads=1, **sizes)]
    some += [workloads.chunked("::2", ((None, None, 2),), scheduler=scheduler, threads=1, **sizes)]
    found = places.CPU.installed_peers()
    results = runner.run(some, {peer: found[peer] for peer in DASK_PEERS}, rounds=1)
    assert [result.failures for result in results] == [{}, {}]
    assert [*results[0].seconds] == [*DASK_PEERS]
    assert [*results[1].seconds] == ["backslice", "dask_assignment", "dask_copy"]  # da.pad has no steps
    assert some[0].output_bytes == 40 * 30 * 4 and results[0].to_dict()["ratios"]["dask_pad"] > 0


def test_the_forms_of_the_dask_workloads_compute_the_same():
    """Return the workload with narrower arrays."""
    code = """
import sys, numpy as np
from pathlib import Path
from backslice import bench
from backslice.bench import workloads
from backslice.dask import slice_grad
sys.path.insert(0, str(Path(bench.__file__).parent / "peers"))
import chunked, dask_pad_peer, dask_assignment_peer
from slices import index_of
shape = (32768, 768)
for workload in workloads.DASK:
    small = workload.to_dict() | {"shape": shape, "dtype": "uint8", "chunks": (4096, 96), "dy_chunks": (4096, 96)}
    dy, index, chunks = chunked.lazy_dy(small), index_of(small), ((4096,) * 8, (96,) * 8)
    expected = np.zeros(shape, "uint8")
    expected[index] = 1
    forms = [slice_grad, dask_assignment_peer.assigned]
    forms += [dask_pad_peer.padded] if dask_pad_peer.prepare_dask(small) else []
    for form in forms:
        found = form(dy, shape, index, chunks)
        assert found.chunks == chunks and np.array_equal(found.compute(), expected), (workload.name, form)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr


def test_without_dask_its_peers_are_left_out(monkeypatch):
    monkeypatch.setattr(places.importlib.util, "find_spec", lambda name: None)
    assert not any(peer.startswith("dask") for peer in places.CPU.installed_peers())


@pytest.mark.parametrize("name", ["torch", "torch-oldest"])
def test_too_little_disk_for_pytorch_is_said_loudly(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(venvs.shutil, "disk_usage", lambda _: SimpleNamespace(free=14.9e9))
    assert venvs.ensure(name) is None and not venvs.find(name)
    assert capsys.readouterr().out == f"*** SKIPPED {name}: it needs 15 GB of disk, 14 GB are free ***\n"


def test_workloads_know_their_sizes():
    columns = next(w for w in workloads.DENSE if w.name.endswith("[:,64]"))
    assert columns.result_shape == (512, 512)
    assert columns.output_bytes == 512 * 128 * 512 * 4
    assert columns.selected_bytes == 512 * 512 * 4
    assert report.human_seconds(0.00123) == "1.23 ms"
