"""JAX's own tests, plain and with gradients inside fuse_slices: `make oracle-jax-suites JAX=CHECKOUT`."""

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import beside
import pytest
from backslice.bench.venvs import ensure

PLUGIN = Path(__file__).with_name("in_jax")
CHECKOUT = os.environ.get("BACKSLICE_JAX_CHECKOUT")
SUITES = [
    "api_test", "custom_api_test", "jet_test", "lax_autodiff_test", "lax_control_flow_test", "lax_numpy_indexing_test",
    "nn_test", "ode_test", "pjit_test", "shard_map_test",
]  # fmt: skip
MOST_ABORTS = 5  # of tests that end the process; the next one runs those that are left
NOTHING_LEFT = 5  # pytest's exit code
OF_SEVERAL_DEVICES = {"pjit_test", "shard_map_test"}

pytestmark = pytest.mark.skipif(CHECKOUT is None, reason="make oracle-jax-suites runs it")


def results(suite: str, gradients: str, folder: Path, *tests: str) -> dict[str, dict]:
    assert CHECKOUT is not None
    record = folder / gradients
    environment = beside.environment("absl") | {
        "GRADIENTS": gradients,
        "RECORD": str(record),
        "JAX_PLATFORMS": "cpu",
        "JAX_NUM_GENERATED_CASES": "1",  # as JAX's own tests of changes
        "XLA_FLAGS": "--xla_backend_optimization_level=0",
    }
    environment["PYTHONPATH"] = f"{PLUGIN}:{environment['PYTHONPATH']}"
    if suite in OF_SEVERAL_DEVICES:
        environment["JAX_NUM_CPU_DEVICES"] = "8"
    quiet = ["-q", "-p", "no:cacheprovider", "-p", "suite_plugin", "-W", "ignore"]
    command = [str(ensure("jax")), "-m", "pytest", *quiet, *(tests or [f"{suite}.py"])]
    for _ in range(1 + MOST_ABORTS):
        done = subprocess.run(command, cwd=Path(CHECKOUT) / "tests", env=environment, capture_output=True, text=True)
        if done.returncode in (0, 1, NOTHING_LEFT):
            return {line["test"]: line for line in map(json.loads, record.read_text().splitlines())}
    raise AssertionError(done.stdout[-3000:] + done.stderr[-3000:])


@pytest.mark.parametrize("suite", SUITES)
def test_nothing_fails_that_passes_without_fuse_slices(suite: str, tmp_path: Path) -> None:
    plain, fused = results(suite, "plain", tmp_path), results(suite, "fused", tmp_path)
    bound = sum((Counter(line["bound"]) for line in fused.values()), Counter())
    binding = sum(any("backslice" in name for name in line["bound"]) for line in fused.values())
    print(f"{suite}: {len(fused)} tests, of which {binding} bound primitives: {dict(bound)}")
    assert fused.keys() == plain.keys()
    worse = [test for test, line in fused.items() if line["outcome"] == "failed" != plain[test]["outcome"]]
    traced = results(suite, "traced", tmp_path, *worse) if worse else {}
    print(f"{suite}: {len(worse)} new failures, with jax.grad traced and evaluated by JAX alone: {traced}")
    assert [test for test in worse if traced[test]["outcome"] != "failed"] == []
