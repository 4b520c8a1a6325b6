"""The type stubs: mypy accepts the package and a user's program, and the stubs match the module."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import backslice as bs
from backslice import _core

ROOT = Path(__file__).parents[2]


def test_mypy_accepts_the_package_and_a_users_program():
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "python/tests/typing_sample.py"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr


def test_mypy_refuses_a_wrong_program(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import backslice as bs\nbs.slice_grad(1.0, (3,), index=1, out='no')\n")
    run = subprocess.run([sys.executable, "-m", "mypy", str(wrong)], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 1 and "arg-type" in run.stdout


def parameters(signature: str) -> list[str]:
    """Names in order, those with a default marked, without types: ['shape', '*', 'out=']."""
    inside = signature[signature.index("(") + 1 : signature.rindex(")")]
    inside = re.sub(r"\[[^][]*\]", "", re.sub(r"\[[^][]*\]", "", inside))
    parts = [
        re.sub(r":[^=]*", "", re.sub(r"\s|=.*", lambda m: "=" * (m.group()[0] == "="), p)) for p in inside.split(",")
    ]
    return [part for part in parts if part not in ("", "self")]


def stub_signature(function: Any) -> str:
    """That of a function, or of a method in its class."""
    body = ast.parse((ROOT / "python" / "backslice" / "_core.pyi").read_text()).body
    *classes, name = function.__qualname__.split(".")
    for outer in classes:
        (body,) = (node.body for node in body if isinstance(node, ast.ClassDef) and node.name == outer)
    (found,) = (node for node in body if isinstance(node, ast.FunctionDef) and node.name == name)
    return f"({ast.unparse(found.args)})"


CLASSES = (
    _core.Selection, _core.PreparedSlice, _core.GradBuffer, _core.TensorArray, _core.TensorArrayContainer,
    _core.RaggedTensor, _core.VariantArray,
)  # fmt: skip


def test_stubs_have_the_signatures_of_the_module():
    functions = [f for f in map(bs.__dict__.get, bs.__all__) if hasattr(f, "__nb_signature__")]
    classes = CLASSES
    methods = [value for c in classes for name, value in vars(c).items() if name[0] != "_" and callable(value)]
    methods += [getattr(_core.Selection, name) for name in ("from_index", "from_tf", "from_onnx", "from_begin_size")]
    assert len(functions) >= 6 and len(methods) >= 10
    for function in functions + methods:
        (module_signature,) = (s[0] for s in function.__nb_signature__)
        assert parameters(stub_signature(function)) == parameters(module_signature), function.__qualname__


def test_everything_public_is_in_the_stub():
    text = (ROOT / "python" / "backslice" / "_core.pyi").read_text()
    for name in (*dir(_core), *(name for c in CLASSES for name in dir(c))):
        if not name.startswith("_"):
            assert re.search(rf"\b(def|class) {name}\b", text), name
