"""backslice bench --sweep: few cases, small ones if they suffice."""

import itertools
import json
import math

import numpy as np
import pytest
from backslice.bench.sweep import cases, command, peers, report, timing
from backslice.cli import Failure
from command_line import backslice, fails


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(cases, "BYTES", (256, 4096))
    monkeypatch.setattr(timing, "ENOUGH", 1e-4)


def some(count, seed=0, forms=cases.FORMS):
    return list(itertools.islice(cases.cases(seed, forms), count))


def measured(case, ratio=1.0, **more):
    return timing.Measured(case, 1e-6, ratio * 1e-6, **more)


def test_a_short_run_prints_the_table_and_the_worst_cases_and_saves_json(tmp_path):
    run = backslice("bench", "--sweep", "--cases", "10", "--threads", "1", "-o", tmp_path)
    assert run.returncode == 0, run.stderr + run.stdout
    assert all(form.name in run.stdout for form in cases.FORMS) and "64 KB to 1 MB" in run.stdout
    content = json.loads((tmp_path / "sweep.json").read_text())
    assert [c["form"] for c in content["cases"]] == [form.name for form in cases.FORMS]
    assert (content["seed"], content["threads"]) == (0, 1)
    assert all(c["seconds"] > 0 and c["numpy_seconds"] > 0 for c in content["cases"])
    assert (tmp_path / "sweep.png").read_bytes().startswith(b"\x89PNG")
    fails(1, "sweep.json exists; --force overwrites it", "bench", "--sweep", "--cases", "1", "-o", tmp_path)
    worst = next(line for line in run.stdout.splitlines() if line.startswith("    import numpy"))
    exec(worst.strip(), {})


def test_wrong_options_are_one_line(tmp_path):
    fails(2, "--peer is 'dask', expected torch, jax", "bench", "--sweep", "--peer", "dask", cwd=tmp_path)
    fails(2, "which no form's name contains; the forms are", "bench", "--sweep", "--only", "abacus", cwd=tmp_path)
    fails(2, "--cases is -1, expected a positive number", "bench", "--sweep", "--cases", "-1", cwd=tmp_path)
    fails(2, "--sweep compares on the CPU", "bench", "--sweep", "--device", "cuda", cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_cases_depend_on_the_seed_alone():
    assert some(30) == some(30) != some(30, seed=1)


def test_cases_cover_every_form_dtype_layout_and_size():
    found = some(2000)
    assert {c.form for c in found} == {form.name for form in cases.FORMS}
    assert {c.dtype for c in found} == set(cases.DTYPES)
    assert {layout for c in found for layout in c.layouts} == set(cases.ANY)
    assert {report.column_of(c.moved) for c in found} == set(report.COLUMNS)
    assert {len(c.shape) for c in found} == {1, 2, 3, 4}


def test_both_sides_compute_the_same(small):
    for case in some(200):
        names = {"np": np, "bs": timing.bs}
        exec(case.setup, names)
        timing.compare(case, names)


@pytest.mark.parametrize("kind", cases.STATEMENTS)
def test_a_wrong_result_ends_the_sweep(small, monkeypatch, kind):
    ours, numpys = cases.STATEMENTS[kind]
    target = cases.RESULTS.get(kind, ("x", "x"))[1]
    monkeypatch.setitem(cases.STATEMENTS, kind, (ours, f"{numpys}; {target}[...] += 1"))
    case = next(c for c in some(10) if c.kind == kind)
    with pytest.raises(Failure, match="backslice and NumPy disagree: import numpy"):
        timing.measure(case)


def test_slow_cases_are_measured_three_times_again(small):
    r = measured(some(1)[0], ratio=0.1)
    timing.measure_again(r)
    assert len(r.again) == 3 and r.ratio == max(r.again) and r.first == pytest.approx(0.1)


def test_both_sides_run_equally_often_and_follow_themselves_alike():
    order = []

    class Timer:
        def __init__(self, side):
            self.side = side

        def timeit(self, repeat):
            order.append(self.side)
            return 1.0

    assert timing.best_times([Timer(0), Timer(1)]) == (1.0, 1.0)
    timed = order[4:]
    assert timed.count(0) == timed.count(1) >= 4
    follows = [(a, b) for a, b in itertools.pairwise(timed) if a == b]
    assert follows.count((0, 0)) <= follows.count((1, 1)) + 1 and (0, 0) in follows and (1, 1) in follows


def test_the_table_has_geometric_means_and_shares():
    case = next(c for c in some(100) if c.moved < 4096)
    found = report.cells([measured(case, 0.5), measured(case, 2.0)])[case.form]["< 4 KB"]
    assert math.isclose(report.mean(found), 1.0) and report.share_below(found) == 0.5


def test_peers_are_asked_for_contiguous_gradients_and_slices_alone():
    asked = [c for c in some(300) if peers.workload_of(c)]
    assert {c.kind for c in asked} == {"new", "slice"}
    assert {c.layouts for c in asked} == {("contiguous",)}
    request = peers.workload_of(asked[0])
    shape = tuple(i if isinstance(i, int) else slice(*i) for i in request["index"])
    assert shape == cases.parsed(asked[0].index)


def test_peers_have_rows_of_their_own():
    case = some(1)[0]
    rows = report.cells([measured(case, peers={"torch": 3e-6})])
    assert list(rows) == [case.form, f"{case.form}: torch"]
    assert [v for c in rows[f"{case.form}: torch"].values() for v in c] == pytest.approx([3.0])


def test_forms_can_be_chosen():
    sweep = command.Sweep(None, only="GradBuffer")
    assert [form.name for form in command.check(sweep)] == ["GradBuffer.write", "GradBuffer.add"]
