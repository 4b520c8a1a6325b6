"""Runs every code block of the README and the manual, and compares its output with the printed one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import backslice as bs
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from manual_pages import PAGES, blocks, images, markers  # noqa: E402

# Commands that set up the machine. They are checked below instead of run, or run by the tests of consumers and wheels.
SETUP = (
    "make ", "cmake ", "conan ", "cpack ", "export PKG_CONFIG_PATH", "g++ ", "pip install ", "rattler-build ",
    "sudo apt install ./", "vcpkg ",
)  # fmt: skip
LANGUAGES = {"python", "console", "cpp", "c", "cmake"}
# The reference, which is generated from docstrings and headers.
WRITTEN = [page for page in PAGES if "api" not in page.parts]


def of_language(language: str) -> list[str]:
    return [block.code for page in PAGES for block in blocks(page.read_text()) if block.language == language]


def commands(console: str) -> list[tuple[str, str]]:
    """Return each command of a console block, including lines that begin with "> ", with its output."""
    found = re.findall(r"^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", console, flags=re.MULTILINE)
    return [(re.sub(r"^> ", "", command, flags=re.MULTILINE).rstrip("\n"), printed) for command, printed in found]


@pytest.fixture
def settings_kept():
    """Restore process settings that pages change."""
    threads, limit = bs.get_num_threads(), bs.pool.stats()["limit"]
    yield
    bs.set_num_threads(threads)
    bs.pool.set_limit(limit)


@pytest.mark.usefixtures("settings_kept")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs(page, tmp_path, monkeypatch):
    """Run the blocks of a page in order, in one folder and one session."""
    monkeypatch.chdir(tmp_path)
    session: dict = {}
    for block in blocks(page.read_text()):
        if block.language.startswith("{"):  # a Sphinx directive, which `make docs` runs
            continue
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


def test_cmake_blocks_stand_in_the_consumer_projects():
    projects = [(ROOT / "tests" / name / "CMakeLists.txt").read_text() for name in ("consumer", "c_consumer")]
    for code in of_language("cmake"):
        for line in code.splitlines():
            assert any(line.strip() in project for project in projects), line


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
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)  # [&](x) is not a link
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_fits_80_columns(page):
    code = [block.code for block in blocks(page.read_text())]
    code += re.findall(
        r"(?<=\n\n)(?:    .*\n)+", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    )
    assert [line for text in code for line in text.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_tables_say_what_their_columns_are(page):
    heads = re.findall(r"^\|(.*)\|\n\|[-|]+\|$", page.read_text(), flags=re.MULTILINE)
    assert [head for head in heads if not all(cell.strip() for cell in head.split("|"))] == []


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_pictures_show_the_code_beside_them(page):
    """Each picture is drawn from the block before it, whose text contains the brackets of its title."""
    found = list(markers(page))
    assert {marker.file for marker in found} == images(page), "a picture without a marker"
    for marker in found:
        title = re.search(r"<title>(.*?)</title>", marker.file.read_text())[1]
        code = re.sub(r"\s+", " ", marker.blocks[-1].code)
        for brackets in re.findall(r"\[(.*?)\]", title):
            assert brackets in code, f"{marker.file.name} shows {title!r}, the code beside it is\n{code}"


def test_every_operation_has_a_page_that_answers_the_same_questions():
    pages = sorted((ROOT / "docs" / "operations").glob("*.md"))
    assert len(pages) == 6
    for page in pages:
        text = page.read_text()
        for heading in ("What it computes", "Arguments", "Dtypes", "Errors", "Cost", "Differences from"):
            assert f"\n## {heading}" in text, (page.name, heading)
        assert images(page)


def test_every_command_is_in_the_manual():
    from test_cli import COMMANDS

    text = (ROOT / "docs" / "command_line.md").read_text()
    for command in COMMANDS:
        assert f"backslice {command}" in text, command


def test_hacking_maps_every_folder():
    hacking = (ROOT / "HACKING.md").read_text()
    folders = [*(ROOT / "src").iterdir(), *(ROOT / "tests").iterdir(), *(ROOT / "python").iterdir()]
    for folder in [*folders, *(ROOT / "python" / "backslice").iterdir()]:
        if folder.is_dir() and folder.name not in ("__pycache__", "kernels"):
            assert f"`{folder.relative_to(ROOT)}/`" in hacking, folder


def test_development_pages_name_files_that_exist():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    paths = {f"/{path}" for name in listed for path in [Path(name), *Path(name).parents]}
    example = re.compile(r"(^|[/_])(x|op)([./]|_test|$)")  # "src/select/from_x.cc" stands for a file to be written
    for page in ("HACKING.md", "docs/design.md", "docs/internals.md", "docs/extending.md", "docs/builds.md"):
        for name in re.findall(r"`([\w./-]+(?:\.(?:cc|cu|h|md|py|pyi|sh)|/))`", (ROOT / page).read_text()):
            found = any(path.endswith(f"/{name.rstrip('/')}") for path in paths)
            assert found or example.search(name) or name == "dist/", f"{page}: {name}"


def test_pages_for_a_first_reading_are_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150
    hacking = (ROOT / "HACKING.md").read_text().splitlines()
    assert len(hacking) <= 200
    assert [line for line in hacking if line.startswith("|") and len(line) > 140] == []  # no paragraphs in cells
