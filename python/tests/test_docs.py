"""Every code block of the README and the manual is run, and what it says to be printed is printed."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "HACKING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Commands that set the machine up: checked below instead of run.
SETUP = ("make ", "cmake ", "pip install .")
LANGUAGES = {"python", "console", "cpp", "c", "cmake"}


class Block(NamedTuple):
    language: str
    code: str


def blocks(page: Path) -> list[Block]:
    return [
        Block(*found) for found in re.findall(r"^```([^\n]*)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    ]


def of_language(language: str) -> list[str]:
    return [block.code for page in PAGES for block in blocks(page) if block.language == language]


def commands(console: str) -> list[tuple[str, str]]:
    """Each command of a console block with what it prints."""
    return [tuple(part.split("\n", 1)) for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs(page, tmp_path, monkeypatch):
    """The blocks of a page, from the first to the last, in one folder and one session."""
    monkeypatch.chdir(tmp_path)
    session: dict = {}
    for block in blocks(page):
        assert block.language in LANGUAGES, f"a block that no test runs: {block}"
        if block.language == "python":
            exec(compile(block.code, str(page), "exec"), session)
        elif block.language == "console":
            for command, printed in commands(block.code):
                if not command.startswith(SETUP):
                    run_command(command, printed)


def run_command(command: str, printed: str) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "80", "PYTHONWARNINGS": "error"}
    run = subprocess.run(
        ["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    expected = lines(printed)
    if not expected:
        assert run.returncode == 0, (command, run.stdout)
        return
    pattern = "\n".join(
        "(?:.*\n)*?.*" if line == "..." else re.escape(line).replace(re.escape("..."), ".*") for line in expected
    )
    assert re.fullmatch(pattern, "\n".join(lines(run.stdout))), f"$ {command}\n{run.stdout}\nis not\n{printed}"


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def test_cpp_blocks_stand_in_programs_that_the_tests_build():
    programs = [path.read_text() for folder in ("tests/consumer", "examples") for path in (ROOT / folder).glob("*.cc")]
    assert len(of_language("cpp")) >= 6
    for code in of_language("cpp"):
        assert any(code.strip() in program for program in programs), code


def test_c_blocks_stand_in_a_program_that_the_tests_build():
    program = (ROOT / "tests" / "c_abi" / "guide.c").read_text()
    assert len(of_language("c")) >= 3
    for code in of_language("c"):
        assert code.strip() in program, code


def test_cmake_blocks_stand_in_the_consumer_project():
    project = (ROOT / "tests" / "consumer" / "CMakeLists.txt").read_text()
    for code in of_language("cmake"):
        for line in code.splitlines():
            assert line.strip() in project, line


def test_set_up_commands_exist():
    makefile = (ROOT / "Makefile").read_text()
    texts = "".join(page.read_text() for page in PAGES)
    for target in re.findall(r"(?:`|\$ )(?:\w+=\S+ )?make ([\w-]+)", texts):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    presets = (ROOT / "CMakePresets.json").read_text()
    for preset in re.findall(r"--preset (\w+)", texts):
        assert f'"{preset}"' in presets


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            if not target.startswith("api/"):  # made when the manual is
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_operation_has_a_page_that_answers_the_same_questions():
    pages = sorted((ROOT / "docs" / "operations").glob("*.md"))
    assert len(pages) == 6
    for page in pages:
        text = page.read_text()
        for heading in ("What it computes", "Arguments", "Dtypes", "Errors", "Cost", "Differences from"):
            assert f"\n## {heading}" in text, (page.name, heading)
        assert "../images/" in text


def test_every_command_is_in_the_manual():
    from test_cli import COMMANDS

    text = (ROOT / "docs" / "command_line.md").read_text()
    for command in COMMANDS:
        assert f"backslice {command}" in text, command


def test_the_api_reference_names_everything_public():
    import backslice

    sys.path.insert(0, str(ROOT / "tools"))
    import api_reference

    python = api_reference.python_reference()
    for name in set(backslice.__all__) - {"__version__", "pool", "ragged"}:
        assert f"## {name}\n" in python or f"`{name}(" in python, name
    assert "## backslice.pool" in python and "## backslice.ragged" in python
    assert "object | None" not in python, "signatures come from the stubs"
    cpp = api_reference.cpp_reference()
    for header in (ROOT / "include" / "backslice").glob("*.h"):
        if header.name not in api_reference.NOT_FOR_READERS:
            assert f"## {header.name}" in cpp
    assert "private:" not in cpp and "slice_grad_into(" in cpp


def test_hacking_maps_every_folder():
    hacking = (ROOT / "HACKING.md").read_text()
    folders = [*(ROOT / "src").iterdir(), *(ROOT / "tests").iterdir(), *(ROOT / "python").iterdir()]
    for folder in [*folders, *(ROOT / "python" / "backslice").iterdir()]:
        if folder.is_dir() and folder.name not in ("__pycache__", "kernels"):
            assert f"`{folder.relative_to(ROOT)}/`" in hacking, folder


def test_doctest_of_the_package():
    import doctest

    import backslice

    assert doctest.testmod(backslice).failed == 0
