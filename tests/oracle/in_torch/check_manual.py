"""The manual's page and the example run as they are printed."""

import re
import runpy
from pathlib import Path

import backslice.torch as bt
import pytest

ROOT = Path(__file__).parents[3]


def test_the_page_runs(as_shipped: None) -> None:
    page = (ROOT / "docs" / "torch.md").read_text()
    blocks = re.findall(r"^```\{code-block\} python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 8
    exec(compile("\n".join(blocks), "torch.md", "exec"), {})


@pytest.mark.parametrize("example", sorted((ROOT / "examples" / "torch").glob("*.py")), ids=lambda path: path.stem)
def test_the_example_runs(example: Path, as_shipped: None, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(example))
    assert "backslice's" in capsys.readouterr().out


def test_every_public_name_is_in_the_reference() -> None:
    reference = (ROOT / "docs" / "api" / "python" / "torch.md").read_text()
    assert [name for name in bt.__all__ if not re.search(rf":: {name}\b", reference)] == []
