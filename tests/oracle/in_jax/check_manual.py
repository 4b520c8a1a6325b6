"""The manual's page, the example and the docstrings run as they are printed."""

import doctest
import importlib
import re
import runpy
from pathlib import Path

import backslice.jax as bsj
import jax
import jax.numpy as jnp
import pytest

ROOT = Path(__file__).parents[3]


def test_the_page_runs() -> None:
    page = (ROOT / "docs" / "jax.md").read_text()
    blocks = re.findall(r"^```\{code-block\} python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    exec(compile("\n".join(blocks), "jax.md", "exec"), {})


@pytest.mark.parametrize("example", sorted((ROOT / "examples" / "jax").glob("*.py")), ids=lambda path: path.stem)
def test_the_example_runs(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(example))
    assert "fused" in capsys.readouterr().out


@pytest.mark.parametrize("name", bsj.__all__)
def test_docstrings_are_right(name: str) -> None:
    module = importlib.import_module(getattr(bsj, name).__module__)
    with jax.enable_x64(False):
        finder = doctest.DocTestFinder(recurse=False)
        [test] = finder.find(getattr(bsj, name), name, module, extraglobs={"bsj": bsj, "jax": jax, "jnp": jnp})
        assert test.examples
        assert doctest.DocTestRunner().run(test).failed == 0
