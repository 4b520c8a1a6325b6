"""backslice bench, as a user runs it, on two small workloads."""

import json

import backslice as bs
from backslice.bench import report, runner, workloads
from test_cli import backslice


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


def test_unknown_peers_and_workloads_are_said():
    assert "unknown peer 'abacus'" in backslice("bench", "--peer", "abacus").stdout
    assert "no workload" in backslice("bench", "--only", "nothing like this").stdout


def test_a_peer_that_dies_is_shown_as_out_of_memory():
    result = runner.Result(workloads.QUICK[0])
    child = runner.Child("numpy", runner.installed_peers()["numpy"], 0)
    child.ask(workloads.QUICK[1].to_dict())
    child.process.kill()
    runner.measure(result, child)
    assert result.failures == {"numpy": "out of memory"}
    runner.measure(runner.Result(workloads.QUICK[1]), child)  # and it starts again
    assert child.process.poll() is None
    child.stop()


def test_workloads_know_their_sizes():
    columns = next(w for w in workloads.DENSE if w.name.endswith("[:,64]"))
    assert columns.result_shape == (512, 512)
    assert columns.output_bytes == 512 * 128 * 512 * 4
    assert columns.selected_bytes == 512 * 512 * 4
    assert report.human_seconds(0.00123) == "1.23 ms"
