"""The type stubs: type checkers accept a user's program, and the module has everything that the stubs declare.

Parameters, defaults and docstrings cannot differ: the build reads them from the stub.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import backslice as bs
import pytest
from backslice import _core

ROOT = Path(__file__).parents[2]
STUBS = sorted((ROOT / "python" / "backslice" / "_core").glob("*.pyi"))
SAMPLE = "tests/repository/typing_sample.py"
SAMPLES = (SAMPLE, "tests/repository/typing_sample_modules.py")
WRONG = {
    "bs.slice_grad(1.0, (3,), index=1, out='no')": "arg-type",
    "bs.slice_grad(1.0, (3,), index=1, acumulate=True)": "call-arg",
    "bs.GradBuffer((3,))": "call-arg",
    "bs.Selection.from_index((3,), 0).shape = (4,)": "misc",
}


def declarations() -> list[ast.stmt]:
    return [node for stub in STUBS for node in ast.parse(stub.read_text()).body]


def run(*command: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    return subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=cwd, env=environment)


def test_mypy_accepts_the_package_and_a_users_program():
    ran = run(sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *SAMPLES)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_pyright_accepts_a_users_program():
    ran = run(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, *SAMPLES)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_users_program_runs(sample):
    ran = run(sys.executable, "-W", "error", sample)
    assert ran.returncode == 0, ran.stderr


def test_the_users_program_uses_the_whole_api():
    text = (ROOT / SAMPLE).read_text()
    body = declarations()
    found = [node for node in body if isinstance(node, ast.ClassDef) and not node.bases]
    deprecated = {"TensorArrayContainer"}
    classes = [node for node in found if not node.name.startswith("_") and node.name not in deprecated]
    internal = {"parse_index", "probe_memory", "exit_on_bus_error", "environment_problems"}
    internal |= {"pool_stats", "set_pool_limit", "trim_pool"}  # backslice.pool gives these other names
    functions = [node for scope in (body, *(c.body for c in classes)) for node in scope]
    names = {node.name for node in functions if isinstance(node, ast.FunctionDef)} - internal
    missing = [name for name in names if not name.startswith("_") and f".{name}" not in text]
    assert not missing


MODULES = ("arrow", "awkward", "cuda", "dask", "dialects", "jax", "onnx", "onnxruntime", "picture", "ragged", "scipy",
           "tensorflow", "torch")  # fmt: skip


def public_names(module: str) -> set[str]:
    """Return the names in ``__all__``, or else all defined names. They are read from the text, since the framework may
    be missing."""
    path = ROOT / "python" / "backslice" / module
    body = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text()).body
    listed = [node.value for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    defined = {node.name for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
    return set(ast.literal_eval(listed[0])) if listed else defined


@pytest.mark.parametrize("module", MODULES)
def test_the_users_programs_use_every_module(module):
    text = "".join((ROOT / sample).read_text() for sample in SAMPLES)
    names = public_names(module)
    assert names and not [name for name in names if f".{name}" not in text]


def test_the_users_programs_use_every_name_of_the_package():
    text = "".join((ROOT / sample).read_text() for sample in SAMPLES)
    assert [name for name in bs.__all__ if f"bs.{name}" not in text] == []


@pytest.mark.parametrize(("line", "code"), WRONG.items())
def test_mypy_refuses_a_wrong_program(tmp_path, line, code):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(f"import backslice as bs\n{line}\n")
    ran = run(sys.executable, "-m", "mypy", wrong, cwd=tmp_path)
    assert ran.returncode == 1 and f"[{code}]" in ran.stdout, ran.stdout


def members(node: ast.ClassDef) -> set[str]:
    return {member.name for member in node.body if isinstance(member, ast.FunctionDef)}


def test_everything_of_the_module_is_in_the_stub():
    body = declarations()
    classes = {node.name: members(node) for node in body if isinstance(node, ast.ClassDef) and not node.bases}
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    faults = {"_strike_at", "_disarm"}  # only in builds for tests
    others = {name for name, value in vars(_core).items() if not callable(value)}
    assert set(vars(_core)) - others - faults == functions | set(classes)
    for name, declared in classes.items():
        found = vars(getattr(_core, name))
        made_by_python = {"__module__", "__doc__", "__new__", "__init__", "__weakref__", "__dict__", "__hash__"}
        assert set(found) - made_by_python <= declared <= set(found) | {"__hash__"}, name
