"""Every code block of the README runs, and says what the files say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.splitlines()[0])
def test_readme_python_runs(code):
    exec(compile(code, "README.md", "exec"), {})


def test_readme_cpp_is_the_program_that_the_consumer_test_builds():
    assert blocks("cpp") == [(ROOT / "tests" / "consumer" / "main.cc").read_text()]


def test_readme_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"(?:`|\$ )make (\w+)", README + (ROOT / "HACKING.md").read_text()):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_hacking_maps_every_folder():
    hacking = (ROOT / "HACKING.md").read_text()
    for folder in [*(ROOT / "src").iterdir(), *(ROOT / "tests").iterdir(), *(ROOT / "python").iterdir()]:
        if folder.is_dir() and folder.name not in ("__pycache__", "kernels"):
            assert f"`{folder.relative_to(ROOT)}/`" in hacking, folder


def test_doctest_of_the_package():
    import doctest

    import backslice

    assert doctest.testmod(backslice).failed == 0
