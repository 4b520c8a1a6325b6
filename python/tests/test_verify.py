"""Random programs of slice gradients in frameworks: how they are made, judged, and kept apart from their crashes.

tests/oracle runs them in the frameworks.
"""

import importlib
import random
import sys
from pathlib import Path

import backslice as bs
import numpy as np
import pytest
from backslice.verify import cases, running, verify
from backslice.verify.frameworks import FRAMEWORKS
from backslice.verify.program import program

STEPS = (1, 2, -1, -3)


def test_random_indices_are_valid_and_of_all_kinds():
    rng, seen = random.Random(1), set()
    for _ in range(2000):
        shape, index = cases.random_slice(rng, STEPS)
        selection = bs.Selection.from_index(shape, index)
        assert selection.result_shape == cases.selected_shape(shape, index)
        seen |= {kind for kind in ("None", "...", "::", "-") if kind in index} | {f"rank {len(shape)}"}
    assert seen == {"None", "...", "::", "-", *(f"rank {rank}" for rank in range(6))}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("with_adapter", [False, True])
def test_programs_compile_and_depend_on_the_seed_alone(framework, with_adapter):
    make = importlib.import_module(f"backslice.verify.{framework}").random_program
    made = [[make(random.Random(seed), with_adapter) for seed in range(50)] for _ in range(2)]
    assert made[0] == made[1] and len(set(made[0])) > 40
    for one in made[0]:
        compile(one.code, one.title, "exec")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("found = expected = [1.0, 2.0]", None),
        ("found, expected = [-0.0], [0.0]", None),
        ("found, expected = [[1, 2], [3, 4]], [[1, 2], [5, 4]]", "1 of 4 elements are wrong; [1, 0] is 3, expected 5"),
        ("found, expected = [np.nan], [0.0]", "1 of 1 elements are wrong; [0] is nan, expected 0.0"),
        ("found, expected = [1], [[1]]", "the result has shape (1,), expected (1, 1)"),
        ("raise NotImplementedError('not yet')", None),
        ("raise RuntimeError('not\\nthere')", "RuntimeError: not"),
    ],
)
def test_a_deviation_says_what_is_wrong(code, reason):
    assert program("a test", "import numpy as np", code).deviation() == reason


WORKER = """#!{python}
import json, os, sys
first, seconds = int(sys.argv[6]), float(sys.argv[7])
for number in range(first, 5):
    print(json.dumps({{"number": number, "title": "t", "code": str(number)}}), flush=True)
    if number == 2:
        os.abort()
    print(json.dumps({{"deviation": "wrong" if number == 3 else None}}), flush=True)
print(json.dumps({{"end": True}}))
"""


def worker(tmp_path: Path, text: str) -> str:
    path = tmp_path / "worker"
    path.write_text(text.format(python=sys.executable))
    path.chmod(0o755)
    return str(path)


def test_a_program_that_ends_the_process_is_a_deviation_and_the_others_run(tmp_path, monkeypatch):
    monkeypatch.setattr(running.sys, "executable", worker(tmp_path, WORKER))
    counts = []
    outcome = verify("torch", on_program=lambda outcome: counts.append(outcome.programs))
    assert outcome.programs == 10  # five of each way
    assert [(d.code, d.reason) for d in outcome.deviations] == [
        ("2", "the process ended with code -6"),
        ("3", "wrong"),
    ] * 2
    assert counts == [1, 2, 4, 5, 6, 7, 9, 10]


def test_a_framework_that_ends_the_process_on_import_cannot_be_used(tmp_path, monkeypatch):
    monkeypatch.setattr(running.sys, "executable", worker(tmp_path, "#!{python}\nimport os\nos.abort()\n"))
    with pytest.raises(ImportError, match="torch cannot be used: its import ended the process with code -6"):
        verify("torch")


def test_unknown_frameworks_are_refused():
    with pytest.raises(bs.InvalidArgumentError, match="framework is 'keras', expected one of jax, onnxruntime"):
        verify("keras")


def test_arrays_in_programs_are_small_integers():
    array = eval(cases.elements((3, 4)), {"np": np})
    assert array.shape == (3, 4) and set(array.ravel()) == {-2, -1, 0, 1, 2}
