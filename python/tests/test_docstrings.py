"""Every example in a docstring runs, and every public Python function has one."""

import doctest
import importlib
import inspect

import backslice
import numpy as np
import pytest

# tests/oracle/test_neighbours.py runs the examples of backslice.awkward and backslice.arrow beside those libraries.
MODULES = ("", ".ragged", ".nested_lists", ".scipy", ".dlpack", ".dialects", ".pool", ".picture")
TAKEN_FOR_GRANTED = {"bs": backslice, "np": np}
SECTIONS = ("Parameters", "Returns", "Examples")


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = importlib.import_module(f"backslice{name}")
    result = doctest.testmod(module, extraglobs=TAKEN_FOR_GRANTED)
    assert result.attempted > 0 and result.failed == 0


@pytest.mark.parametrize("name", [*MODULES, ".awkward", ".arrow"])
def test_examples_fit_80_columns(name):
    module = importlib.import_module(f"backslice{name}")
    examples = [example for test in doctest.DocTestFinder().find(module) for example in test.examples]
    assert examples
    lines = [line for example in examples for line in (example.source + example.want).splitlines()]
    assert [line for line in lines if len(line) > 80 - len(">>> ")] == []


@pytest.mark.parametrize("name", ["ragged", "scipy", "awkward", "arrow", "dlpack", "dialects", "picture"])
def test_public_functions_are_described_in_numpys_format(name):
    module = importlib.import_module(f"backslice.{name}")
    functions = {
        key: value for key, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not key.startswith("_")
    }  # fmt: skip
    assert functions
    for key, function in functions.items():
        text = inspect.getdoc(function)
        missing = [section for section in SECTIONS if f"\n{section}\n{'-' * len(section)}\n" not in text]
        assert not missing, f"{key} lacks {missing}"
        for parameter in inspect.signature(function).parameters.values():
            stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
            assert f"\n{stars}{parameter.name} : " in text, f"{key} does not describe {parameter.name}"
